"""Find which noises two running totals share, from the structure that the server states.

A total's noise is a sum of independent noises of one law, of its *nodes*.  In a tree of arity ``k``
the nodes of a step are the step itself and what remains as units of its lowest digit are taken
off, where digits may be negative if the tree subtracts (Andersson, Pagh, Torkamani 2024).  In a
smooth binary tree they are a bit pattern, and what remains as its lowest ones are taken off
(Andersson, Pagh 2023).
"""

import math
from collections.abc import Callable

from penstock_client._http.fields import Fields
from penstock_client.errors import CovarianceUnknown

Way = Callable[[int], frozenset[int]]
"""The nodes of a step."""


def way_of(structure: Fields, length: int | None) -> Way:
    """Return the nodes of each step of a stream.

    Raises ``CovarianceUnknown`` for a structure whose totals share noise otherwise: the square
    root, streams without an end, and those that this version does not know.
    """
    kind = structure.text("kind")
    if length is not None and kind == "kary":
        k, subtracting = structure.integer("k"), structure.whole.get("subtracting") is True
        return lambda step: _ancestors(step, lambda node: _parent(node, k, subtracting))
    if length is not None and kind == "smooth_binary":
        height, zeros = structure.integer("height"), structure.integer("zeros")
        return lambda step: _ancestors(_pattern(step, height, zeros), lambda node: node & node - 1)
    raise CovarianceUnknown(
        f"The noise of the totals of a stream of structure {kind!r} is correlated, and the server"
        " does not state their covariance; it is known for trees with a length."
    )


def _ancestors(node: int, parent: Callable[[int], int]) -> frozenset[int]:
    nodes = set()
    while node:
        nodes.add(node)
        node = parent(node)
    return frozenset(nodes)


def _parent(node: int, k: int, subtracting: bool) -> int:
    """Return a node without one unit of its lowest digit that is not 0."""
    unit = 1
    while node % (unit * k) == 0:
        unit *= k
    digit = node // unit % k
    largest = k // 2 if subtracting else k - 1
    return node - unit if digit <= largest else node + unit


def _pattern(index: int, height: int, zeros: int) -> int:
    """Return the pattern of ``height`` bits and ``zeros`` zeros with ``index`` smaller ones."""
    pattern, ones = 0, height - zeros
    for bit in range(height - 1, -1, -1):
        without = math.comb(bit, ones)
        if index >= without:
            index -= without
            pattern |= 1 << bit
            ones -= 1
    return pattern
