"""Test smooth binary trees: every output has the same law, and published figures."""

import math

import pytest

from penstock.structures import (
    SmoothBinary,
    balanced,
    smooth_binary,
)
from penstock.structures.streams.forest import chain, variance_weight


@pytest.mark.parametrize("height", [1, 2, 3, 4, 5, 6, 7])
def test_the_smooth_tree_replaces_as_many_nodes_as_its_closed_form(height: int) -> None:
    """``C(2k+1, k+1) - (k+1)`` over all its transitions (Andersson, Pagh 2023, corrected)."""
    k = height
    tree = SmoothBinary(math.comb(2 * k, k) - 1, 2 * k, k)
    node, replaced = tree.node(1), 0
    if tree.length == 1:
        pattern = (1 << k) - 1
        replaced = len(set(chain(tree, node)) - set(chain(tree, pattern)))
    else:
        before = set(chain(tree, (1 << k) - 1))
        for step in range(1, tree.length + 1):
            now = set(chain(tree, tree.node(step)))
            replaced += len(now - before)
            before = now
    assert replaced == [1, 7, 31, 121, 456, 1709, 6427][k - 1]
    assert replaced == math.comb(2 * k + 1, k + 1) - (k + 1)


@pytest.mark.parametrize(
    ("length", "height", "variance"),
    [
        (5, 4, 2.0), (19, 6, 4.5), (20, 8, 8.0), (250, 10, 12.5), (2**10, 14, 24.5),
        (2**16, 20, 50), (10**6, 24, 72), (2**20, 24, 72), (10**7, 26, 84.5),
    ],
)  # fmt: skip
def test_balanced_smooth_trees_have_their_known_variance(
    length: int, height: int, variance: float
) -> None:
    tree = balanced(length)
    assert (tree.height, tree.zeros) == (height, height // 2)
    for step in {1, 2, length // 2, length}:
        assert tree.zeros * variance_weight(tree, step, squared=False) / 2 == variance


def test_smooth_trees_of_any_height_are_better() -> None:
    for length, height, zeros, variance in [
        (2**10, 13, 5, 20), (2**16, 19, 8, 44), (2**20, 23, 10, 65), (2**24, 27, 12, 90),
        (10**7, 26, 13, 84.5),
    ]:  # fmt: skip
        tree = smooth_binary(length, pure=False)
        assert (tree.height, tree.zeros) == (height, zeros)
        assert tree.zeros * tree.ones / 2 == variance
    for length, height, zeros, variance in [
        (250, 23, 2, 168), (2**10, 20, 3, 306), (2**16, 26, 5, 1050), (2**20, 33, 6, 1944),
        (10**7, 37, 7, 2940),
    ]:  # fmt: skip
        tree = smooth_binary(length, pure=True)
        assert (tree.height, tree.zeros) == (height, zeros)
        assert 2 * tree.zeros**2 * tree.ones == variance
