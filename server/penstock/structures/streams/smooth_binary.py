"""Release running sums by the smooth binary mechanism: all outputs have equally many nodes.

So all outputs have one law.  Andersson, Pagh 2023 (*A Smooth Binary Mechanism for Efficient
Private Continual Observation*), Theorem 1.1, with bit patterns in place of leaf numbers.  Of
the numbers of ``height`` bits only those with exactly ``zeros`` zeros are used; the ``t``-th
element has the ``t``-th of them, and output ``t`` is read at the next one, over one node for
each of its ones.  An element adds to one node for each of its zeros.

The paper has as many ones as zeros.  Any pair with enough patterns works: slightly fewer
zeros give less Gaussian noise, many fewer give less Laplace noise.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from penstock.errors import InvalidInput
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.shared_nodes import (
    MOST_CHOSEN,
    NONE,
    SINGLE,
    Best,
    beside,
    counted,
)
from penstock.structures.streams.forest import check_length, check_step


@dataclass(frozen=True)
class SmoothBinary:
    """Represent patterns of ``height`` bits with ``zeros`` zeros, over ``length`` steps.

    Raises ``InvalidInput`` if there are not ``length + 1`` such patterns.
    """

    length: int
    height: int
    zeros: int

    def __post_init__(self) -> None:
        check_length(self.length)
        patterns = math.comb(self.height, self.zeros) if 0 < self.zeros < self.height else 0
        if patterns <= self.length:
            raise InvalidInput(
                f"There are {patterns} patterns of {self.height} bits with {self.zeros} zeros;"
                f" {self.length} steps need {self.length + 1}. Take more bits."
            )

    @property
    def lossless(self) -> bool:
        """Return True for one step only: beyond it there are about two nodes an output."""
        return self.length == 1

    @property
    def past_only(self) -> bool:
        """Return True: a pattern without some of its ones is smaller."""
        return True

    @property
    def column_l1(self) -> Fraction:
        """Return ``k``, the zeros of a pattern."""
        return Fraction(self.zeros)

    @property
    def column_l2_squared(self) -> Fraction:
        """Return ``k``, as every entry is 0 or 1."""
        return Fraction(self.zeros)

    @property
    def nodes_a_step(self) -> int:
        """Return ``k``."""
        return self.zeros

    def columns(self, count: int) -> Sensitivity:
        """Return the norms of the worst ``count`` columns, exactly up to 512; see ``Forest``.

        Beyond, nodes whose bit is as many zeros from the lowest one are apart, and move by at most
        ``count`` together.
        """
        return _columns(self, min(count, self.length))

    @property
    def ones(self) -> int:
        """Return the number of nodes of every output."""
        return self.height - self.zeros

    def mean_nodes(self) -> Fraction:
        """Return the number of nodes of every output."""
        return Fraction(self.ones)

    def most_nodes(self) -> int:
        """Return the number of nodes of every output."""
        return self.ones

    @property
    def noisiest_step(self) -> int:
        """Return the last step, as all have the same variance."""
        return self.length

    def node(self, step: int) -> int:
        """Return the pattern after that of element ``step``.

        Raises ``InvalidInput`` for a step outside of the stream.
        """
        check_step(self, step)
        return self._pattern(step)

    def following(self, step: int, node: int) -> int:
        """Return the next larger pattern: its lowest ones moved, in a few machine words."""
        check_step(self, step + 1)
        lowest = node & -node
        carried = node + lowest
        return carried | (((node ^ carried) // lowest) >> 2)

    def parent(self, node: int) -> int:
        """Return ``node`` without its lowest one."""
        return node & (node - 1)

    def position(self, node: int) -> int:
        """Return how many patterns are smaller than ``node``, which may have fewer ones."""
        position, left = 0, self.ones
        for bit in range(self.height - 1, -1, -1):
            if node >> bit & 1:
                position += math.comb(bit, left)
                left -= 1
        return position

    def weight(self, node: int) -> Fraction:  # noqa: ARG002 - the protocol passes it
        """Return 1: all nodes have the same noise."""
        return Fraction(1)

    def _pattern(self, rank: int) -> int:
        """Return the pattern that has ``rank`` smaller ones."""
        pattern, left = 0, self.ones
        for bit in range(self.height - 1, -1, -1):
            without = math.comb(bit, left)
            if rank >= without:
                pattern |= 1 << bit
                rank -= without
                left -= 1
        return pattern


@lru_cache(maxsize=256)
def _columns(tree: SmoothBinary, count: int) -> Sensitivity:
    if count <= MOST_CHOSEN:
        l1, l2_squared = (int(_best(tree, count, power)[count]) for power in (1, 2))
    else:
        widest = (math.comb(tree.ones + n, n) for n in range(tree.zeros))
        l1 = count * tree.zeros
        l2_squared = count * sum(min(count, size) for size in widest)
    return Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(min(count, _widest(tree))))


def _best(tree: SmoothBinary, most: int, power: int) -> Best:
    """Return the best of all elements; see ``shared_nodes``.

    Elements are sorted by their patterns.  Those that begin alike are a stretch, whose elements
    with the next bit 0 have a node if there are ones left to end it with.
    """

    @cache
    def whole(bits: int, zeros: int) -> Best:
        """Return the best of all elements that begin alike, by what is left of their patterns."""
        if zeros in (0, bits):
            return SINGLE
        return beside(counted(whole(bits - 1, zeros - 1), power), whole(bits - 1, zeros), most)

    def first(elements: int, bits: int, zeros: int) -> Best:
        """Return the best of the first of them."""
        if elements == 0 or zeros in (0, bits):
            return SINGLE if elements else NONE
        nodes = math.comb(bits - 1, zeros - 1)
        if elements < nodes:
            return first(elements, bits - 1, zeros - 1)
        rest = first(elements - nodes, bits - 1, zeros)
        return beside(counted(whole(bits - 1, zeros - 1), power), rest, most)

    return first(tree.length, tree.height, tree.zeros)


def _widest(tree: SmoothBinary) -> int:
    """Return the most elements that one node counts."""
    bits, zeros = tree.height, tree.zeros
    while math.comb(bits - 1, zeros - 1) > tree.length:
        bits, zeros = bits - 1, zeros - 1
    return math.comb(bits - 1, zeros - 1)


def smooth_binary(length: int, *, pure: bool) -> SmoothBinary:
    """Return the tree of least variance: of ``k^2 (h - k)`` for pure noise, else of ``k (h - k)``.

    Pure noise is Laplace with scale ``k / epsilon``, the other Gaussian with variance
    ``k / (2 rho)``; of equal ones the lowest tree.
    """
    check_length(length)
    power = 2 if pure else 1
    candidates = (
        (zeros**power * (height - zeros), height, zeros)
        for height, zeros in _smallest_heights(length)
    )
    _, height, zeros = min(candidates)
    return SmoothBinary(length, height, zeros)


def balanced(length: int) -> SmoothBinary:
    """Return the paper's tree: the least even height, half of it zeros, that holds ``length``."""
    check_length(length)
    zeros = 1
    while math.comb(2 * zeros, zeros) <= length:
        zeros += 1
    return SmoothBinary(length, 2 * zeros, zeros)


def _smallest_heights(length: int) -> Iterator[tuple[int, int]]:
    """Yield for each number of zeros the least height that holds ``length``."""
    for zeros in range(1, max(length.bit_length(), 1) + 3):
        height = zeros + 1
        while math.comb(height, zeros) <= length:
            # A single zero needs as many bits as there are steps, and is never the best.
            if height > 64 * (length.bit_length() + 2):
                break
            height += 1
        else:
            yield height, zeros
