"""Test k-ary trees: nodes counted by digits, and their closed forms."""

from fractions import Fraction

import numpy as np
import pytest

from penstock.structures import KaryTree, binary_tree
from penstock.structures.streams.choice import mean_squared_error
from penstock.structures.streams.forest import chain

LENGTHS = [250, 1000, 2**10, 3429, 3430, 2**16, 10**6, 2**20, 10**7]
KNOWN_BINARY = [(5, 3.0, 2.1), (19, 10, 5.2632), (250, 28, 15.824), (1024, 55, 27.5054)]


def test_the_largest_variances_are_those_of_the_table() -> None:
    known = [342, 378, 378, 486, 896, 1850, 2200, 2200, 3528]
    for length, most in zip(LENGTHS, known, strict=True):
        tree = KaryTree(length, 19)
        assert 2 * tree.height**2 * tree.most_nodes() == most


@pytest.mark.parametrize(
    ("tree", "mean"),
    [
        (KaryTree(40, 3), 86.4),
        (KaryTree(62, 5), 65.3225806452),
        (KaryTree(24, 7), 28.0),
        (KaryTree(180, 19), 76.0),
        (KaryTree(3429, 19), 255.8267716535),
        (KaryTree(181, 19), 171.9448),
        (KaryTree(42, 4), 57.857142857),
        (KaryTree(4210, 20), 274.2969121140),
        (binary_tree(1023), 1000.9775171065),
        (KaryTree(288, 17, subtracting=False), 128.4444444444),
        (KaryTree(1, 19), 2.0),
    ],
    ids=str,
)
def test_full_trees_have_their_closed_forms(tree: KaryTree, mean: float) -> None:
    assert float(mean_squared_error(tree, pure=True)) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("subtracting", [False, True])
@pytest.mark.parametrize("k", [3, 4, 5, 8, 19])
@pytest.mark.parametrize("length", [1, 2, 7, 50, 361])
def test_counted_nodes_are_those_of_the_ways(length: int, k: int, *, subtracting: bool) -> None:
    tree = KaryTree(length, k, subtracting=subtracting)
    counted = [len(list(chain(tree, step))) for step in range(1, length + 1)]
    assert tree.mean_nodes() == Fraction(sum(counted), length)
    assert tree.most_nodes() == max(counted)
    digits = [sum(map(abs, tree.digits(step))) for step in range(1, length + 1)]
    assert digits == counted


def test_a_parent_that_is_off_by_one_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, parent = binary_tree(40), KaryTree.parent
    monkeypatch.setattr(KaryTree, "parent", lambda tree, node: max(parent(tree, node) - 1, 0))
    counted = [len(list(chain(tree, step))) for step in range(1, 41)]
    assert counted != [sum(tree.digits(step)) for step in range(1, 41)]


def test_binary_trees_have_their_known_errors() -> None:
    for length, most, mean in KNOWN_BINARY:
        tree = binary_tree(length)
        counts = np.array([step.bit_count() for step in range(1, length + 1)])
        assert tree.height * counts.max() / 2 == most == tree.height * tree.most_nodes() / 2
        assert float(mean_squared_error(tree, pure=False)) == pytest.approx(mean, abs=5e-5)
