"""Choose the tree with the least error for a known length.

The asymptotic choices (an arity of 19 for Laplace noise, 7 for Gaussian) are poor at
most lengths, since the height is a whole number: the exact mean squared error decides.
"""

from collections.abc import Iterator
from fractions import Fraction

from penstock.structures.streams.kary import KaryTree, binary_tree
from penstock.structures.streams.smooth_binary import SmoothBinary, smooth_binary

LARGEST_ARITY = 200
"""The largest arity tried: beyond it, trees of the same height have more digits to add."""

Tree = KaryTree | SmoothBinary


def mean_squared_error(tree: Tree, *, pure: bool) -> Fraction:
    """Return the mean squared error over all outputs.

    In units of ``1 / epsilon^2`` (Laplace) it is ``2 h^2`` times the mean number of nodes, and in
    units of ``1 / rho`` (Gaussian) ``h / 2`` times that, with ``h`` the number of nodes to which an
    element adds.
    """
    return _of_a_node(tree, pure=pure) * tree.mean_nodes()


def largest_squared_error(tree: Tree, *, pure: bool) -> Fraction:
    """Return the squared error of the noisiest output, in the same units."""
    return _of_a_node(tree, pure=pure) * tree.most_nodes()


def best_tree(
    length: int, *, pure: bool, largest: int = LARGEST_ARITY, past_only: bool = False
) -> KaryTree:
    """Return the tree of least mean squared error, of all arities up to ``largest``.

    Trees with and without subtraction, of odd and even arity, are compared; of equals the one with
    the smallest arity is returned.  With ``past_only`` no tree subtracts.  Raises ``InvalidInput``
    for a length below 1.
    """
    return min(
        _candidates(length, largest, past_only),
        key=lambda tree: mean_squared_error(tree, pure=pure),
    )


def steadiest_tree(length: int, *, pure: bool, past_only: bool = False) -> KaryTree:
    """Return the tree whose noisiest output has the least error; otherwise like ``best_tree``."""
    return min(
        _candidates(length, LARGEST_ARITY, past_only),
        key=lambda tree: largest_squared_error(tree, pure=pure),
    )


def trees(length: int, *, pure: bool, past_only: bool = False) -> list[Tree]:
    """Return one tree of every kind for ``length`` steps, and the steadiest; no two are the same.

    Raises ``InvalidInput`` for a length below 1.
    """
    candidates: list[Tree] = [
        best_tree(length, pure=pure, past_only=past_only),
        steadiest_tree(length, pure=pure, past_only=past_only),
        binary_tree(length),
        smooth_binary(length, pure=pure),
    ]
    return list(dict.fromkeys(candidates))


def best_structure(length: int, *, pure: bool, past_only: bool = False) -> Tree:
    """Return the tree for ``length`` steps with the least mean squared error."""
    return min(
        trees(length, pure=pure, past_only=past_only),
        key=lambda tree: mean_squared_error(tree, pure=pure),
    )


def _of_a_node(tree: Tree, *, pure: bool) -> Fraction:
    """Return a node's variance, at epsilon or rho 1."""
    return 2 * tree.column_l1**2 if pure else tree.column_l2_squared / 2


def _candidates(length: int, largest: int, past_only: bool) -> Iterator[KaryTree]:
    # From an arity of 2 length + 1 on, a tree is a list of its steps.
    for k in range(2, min(largest, 2 * length + 1) + 1):
        yield KaryTree(length, k, subtracting=False)
        if k > 2 and not past_only:
            yield KaryTree(length, k)
