"""Find which noises two running totals share, from the structure that the server states.

A total's noise is a sum of independent noises of one law, of its *nodes*.  In a tree of arity ``k``
the nodes of a step are the step itself and what remains as units of its lowest digit are taken
off, where digits may be negative if the tree subtracts (Andersson, Pagh, Torkamani 2024).  In a
smooth binary tree they are a bit pattern, and what remains as its lowest ones are taken off
(Andersson, Pagh 2023).  Without an end, epochs of doubling length have a tree each, on top of a
node for each epoch before (Chan, Shi, Song 2011).
"""

import math
from collections.abc import Callable

from penstock_client._http.fields import Fields
from penstock_client.errors import CovarianceUnknown

Way = Callable[[int], frozenset[int]]
"""The nodes of a step."""

EPOCH = 1 << 80
"""The factor of an epoch's number in the numbers of its nodes; 0 within it is its own node."""


def way_of(structure: Fields, length: int | None) -> Way:
    """Return the nodes of each step of a stream.

    Raises ``CovarianceUnknown`` for a structure whose totals share noise otherwise: the square
    root, and those that this version does not know.
    """
    kind = structure.text("kind")
    if length is not None and kind == "kary":
        k, subtracting = structure.integer("k"), structure.whole.get("subtracting") is True
        return lambda step: _tree_nodes(step, k, subtracting)
    if length is not None and kind == "smooth_binary":
        height, zeros = structure.integer("height"), structure.integer("zeros")
        return lambda step: _ancestors(_pattern(step, height, zeros), lambda node: node & node - 1)
    if length is None and kind == "epochs":
        k = structure.integer("k")
        takes_off = k > 2 and structure.whole.get("subtracting") is True
        return lambda step: _in_epochs(step, k, takes_off)
    raise CovarianceUnknown(
        f"The noise of the totals of a stream of structure {kind!r} is correlated, and the server"
        " does not state their covariance; it is known for trees."
    )


def weight_of(structure: Fields) -> Callable[[int], int]:
    """Return the weight of each node: the ratio of its noise's level to that of the tier.

    It multiplies the variance of Gaussian noise and the scale of other noise.  It is 1 but without
    an end: there an epoch's own node has 2, and those of its tree twice the tree's height.
    """
    if structure.text("kind") != "epochs":
        return lambda _: 1
    k = structure.integer("k")
    largest = k // 2 if k > 2 and structure.whole.get("subtracting") is True else k - 1

    def weight(node: int) -> int:
        epoch, inner = divmod(node, EPOCH)
        if inner == 0:
            return 2
        height, capacity, length = 1, largest, (1 << (epoch - 1)) - 1
        while capacity < length:
            capacity = capacity * k + largest
            height += 1
        return 2 * height

    return weight


def _in_epochs(step: int, k: int, subtracting: bool) -> frozenset[int]:
    """Return the nodes of a step: those of its epoch's tree, and of the epochs before it."""
    epoch = step.bit_length()
    within = step - (1 << (epoch - 1)) + 1
    # The last step of an epoch is its own node, which is not in the tree.
    inner = frozenset({0}) if within == 1 << (epoch - 1) else _tree_nodes(within, k, subtracting)
    own = {epoch * EPOCH + node for node in inner}
    return frozenset(own | {before * EPOCH for before in range(1, epoch)})


def _tree_nodes(step: int, k: int, subtracting: bool) -> frozenset[int]:
    return _ancestors(step, lambda node: _parent(node, k, subtracting))


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
