"""Compute running sums by a forest of nodes: what every tree over time has in common.

In the common form ``y = L (R x + z)`` each node ``s`` represents a prefix of the stream,
``position(s)`` elements long, and row ``s`` of ``R`` is the elements by which that prefix is
longer than the one of ``parent(s)`` (or shorter, with a minus).  So an output is a prefix sum
and the noise of all nodes on the way from its own node to the root:

    y_t = x_1 + ... + x_t + z_s + z_parent(s) + z_parent(parent(s)) + ...

A node's sign does not matter, as noise is symmetric.  Its noise is drawn once, when an output
first uses it; the node serves one contiguous time and is never used again.  (Honaker
2015 and Andersson, Pagh, Torkamani 2024 write the binary and the k-ary tree with digits;
here ``parent`` takes the place of the digits.)
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.privacy.sensitivity import Sensitivity

ROOT = 0
"""The node of the empty prefix, which has no noise."""


class Forest(Protocol):
    """Describe nodes over the steps of a stream.

    ``R`` and ``L`` follow from ``parent`` and ``position``.
    """

    @property
    def length(self) -> int | None:
        """Return how many elements there may be, or ``None`` if there is no end."""
        ...

    @property
    def lossless(self) -> bool:
        """Return True if the outputs determine all noises (``L`` has a left inverse).

        If not, tiers are weakly lossless: a coalition's privacy loss is still that of its best
        member, but a noisier output cannot be derived from a more accurate one with randomness
        alone.
        """
        ...

    @property
    def past_only(self) -> bool:
        """Return True if it is known that no output needs a node that counts later elements.

        Then the stream is a sequence of releases, each of the elements up to then, and every
        composition theorem holds even if elements are chosen after reading outputs.
        """
        ...

    @property
    def column_l1(self) -> Fraction:
        """Return the largest sum of ``|R[s, t]| / weight(s)`` over the nodes ``s`` of one step."""
        ...

    @property
    def column_l2_squared(self) -> Fraction:
        """Return the largest sum of ``R[s, t]^2 / weight(s)`` over the nodes ``s`` of one step."""
        ...

    @property
    def nodes_a_step(self) -> int:
        """Return the most nodes to which one element adds."""
        ...

    def columns(self, count: int) -> Sensitivity:
        """Return bounds on the norms of a sum of ``count`` columns of ``R``, over weights.

        Each column is taken once, times a number from -1 to 1.  The bounds also hold for what
        vectors move, each column times one of norm 1 at most.
        """
        ...

    def node(self, step: int) -> int:
        """Return the node of output ``step``, counted from 1."""
        ...

    def following(self, step: int, node: int) -> int:
        """Return the node of output ``step + 1``, given that of output ``step``."""
        ...

    def parent(self, node: int) -> int:
        """Return the next node on the way to ``ROOT``."""
        ...

    def position(self, node: int) -> int:
        """Return how many elements the prefix of ``node`` has; 0 for ``ROOT``."""
        ...

    def weight(self, node: int) -> Fraction:
        """Return the ratio of the level of this node's noise to the level of the tier."""
        ...


def check_length(length: int) -> None:
    """Raise ``InvalidInput`` unless ``length`` is at least 1."""
    if length < 1:
        raise InvalidInput(f"A stream has at least one step, not {length}.", pointer="/length")


def check_step(forest: Forest, step: int) -> None:
    """Raise ``InvalidInput`` for a step before the first or beyond the length."""
    if step < 1 or (forest.length is not None and step > forest.length):
        raise InvalidInput(
            f"Step {step} is outside of the stream, whose steps are"
            f" {'1 and above' if forest.length is None else f'1 to {forest.length}'}."
        )


def chain(forest: Forest, node: int) -> Iterator[int]:
    """Yield ``node`` and its ancestors, without ``ROOT``."""
    while node != ROOT:
        yield node
        node = forest.parent(node)


def variance_weight(forest: Forest, step: int, *, squared: bool) -> Fraction:
    """Return the variance of output ``step`` over that of a node of weight 1.

    With ``squared`` a weight multiplies a scale (Laplace), else a variance (Gaussian).
    """
    weights = (forest.weight(node) for node in chain(forest, forest.node(step)))
    return sum((weight**2 if squared else weight for weight in weights), Fraction(0))


def matrices(forest: Forest, steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ``L`` and ``R`` over the first ``steps`` elements.

    Shapes are (steps, nodes) and (nodes, steps).  They serve inspection and tests
    only.  Elements beyond ``steps``, which a node that is subtracted may count, are
    left out of ``R``.
    """
    ways = [list(chain(forest, forest.node(step))) for step in range(1, steps + 1)]
    nodes = sorted({node for way in ways for node in way})
    row = {node: number for number, node in enumerate(nodes)}
    strategy = np.zeros((len(nodes), steps), dtype=np.int64)
    decoder = np.zeros((steps, len(nodes)), dtype=np.int64)
    for node in nodes:
        start, end = forest.position(forest.parent(node)), forest.position(node)
        strategy[row[node], min(start, end) : max(start, end)] = 1 if end > start else -1
    for number, way in enumerate(ways):
        decoder[number, [row[node] for node in way]] = 1
    return decoder, strategy
