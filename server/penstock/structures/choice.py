"""The tree with the least error for a known length.

The asymptotic choices (an arity of 19 for Laplace noise, 7 for Gaussian) are poor ones at
most lengths, since the height is a whole number: the exact mean squared error decides.
"""

from collections.abc import Iterator
from fractions import Fraction

from penstock.structures.kary import KaryTree
from penstock.structures.smooth_binary import SmoothBinary, smooth_binary

LARGEST_ARITY = 200
"""Beyond it, trees of the height that these reach have more digits to add."""


def mean_squared_error(tree: KaryTree, *, pure: bool) -> Fraction:
    """Over all outputs: times ``1 / epsilon^2`` (Laplace), or times ``1 / rho`` (Gaussian).

    ``2 h^2`` times the mean number of nodes, or ``h / 2`` times that.
    """
    node = Fraction(2 * tree.height**2) if pure else Fraction(tree.height, 2)
    return node * tree.mean_nodes()


def best_tree(
    length: int, *, pure: bool, largest: int = LARGEST_ARITY, past_only: bool = False
) -> KaryTree:
    """The tree of least mean squared error, of all arities up to ``largest``.

    With and without subtraction, odd and even; of equals the one with the smallest arity.
    With ``past_only`` none that subtracts.  Raises ``InvalidInput`` for a length below 1.
    """
    trees = (tree for tree in _candidates(length, largest) if tree.past_only or not past_only)
    return min(trees, key=lambda tree: mean_squared_error(tree, pure=pure))


def smooth_squared_error(tree: SmoothBinary, *, pure: bool) -> Fraction:
    """The same for a smooth tree, whose outputs all have one variance."""
    return Fraction(2 * tree.zeros**2 if pure else tree.zeros, 1 if pure else 2) * tree.ones


def best_structure(length: int, *, pure: bool, past_only: bool = False) -> KaryTree | SmoothBinary:
    """Of all trees for ``length`` steps the one with the least mean squared error."""
    tree = best_tree(length, pure=pure, past_only=past_only)
    smooth = smooth_binary(length, pure=pure)
    if mean_squared_error(tree, pure=pure) <= smooth_squared_error(smooth, pure=pure):
        return tree
    return smooth


def _candidates(length: int, largest: int) -> Iterator[KaryTree]:
    # From an arity of 2 length + 1 on, a tree is a list of its steps.
    for k in range(2, min(largest, 2 * length + 1) + 1):
        yield KaryTree(length, k, subtracting=False)
        if k > 2:
            yield KaryTree(length, k)
