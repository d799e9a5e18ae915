"""The exact errors of trees, against published and enumerated figures."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from penstock.structures import KaryTree, balanced, binary_tree, smooth_binary
from penstock.structures.streams.choice import best_tree, mean_squared_error
from penstock.structures.streams.forest import chain, variance_weight

LENGTHS = [250, 1000, 2**10, 3429, 3430, 2**16, 10**6, 2**20, 10**7]
MEANS = {
    "binary": [
        506.3680, 987.6000, 1210.2363, 1643.9265, 1644.0350, 4624.0088, 7907.9992, 8820.0008,
        13182.8696,
    ],
    "add-only 17": [
        118.7520, 299.8800, 300.6562, 384.4147, 384.5020, 960.9375, 1872.9432, 1880.5161, 3093.1667,
    ],
    "subtracting 19": [
        189.7200, 199.4040, 199.4766, 255.8268, 454.9318, 950.1373, 1142.5309, 1147.4340, 1848.1642,
    ],
}  # fmt: skip
KNOWN_BINARY = [(5, 3.0, 2.1), (19, 10, 5.2632), (250, 28, 15.824), (1024, 55, 27.5054)]
TREES: dict[str, Callable[[int], KaryTree]] = {
    "binary": binary_tree,
    "add-only 17": lambda length: KaryTree(length, 17, subtracting=False),
    "subtracting 19": lambda length: KaryTree(length, 19),
}


@pytest.mark.parametrize("kind", TREES)
def test_mean_squared_errors_are_those_of_the_table(kind: str) -> None:
    for length, mean in zip(LENGTHS, MEANS[kind], strict=True):
        found = mean_squared_error(TREES[kind](length), pure=True)
        assert float(found) == pytest.approx(mean, abs=5.1e-5)


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


@pytest.mark.parametrize(
    ("length", "k", "mean"),
    [
        (250, 22, 89.1520), (1000, 14, 170.2440), (2**10, 13, 170.5078), (3429, 19, 255.8268),
        (3430, 20, 257.2216), (2**16, 20, 607.9609375), (10**6, 18, 1136.5221),
        (10**7, 17, 1776.8288),
    ],
)  # fmt: skip
def test_the_best_tree_is_chosen_by_its_exact_error(length: int, k: int, mean: float) -> None:
    best = best_tree(length, pure=True, largest=30)
    assert (best.k, best.subtracting) == (k, True)
    assert float(mean_squared_error(best, pure=True)) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize(
    ("length", "k", "mean"),
    [(250, 8, 8.886), (2**10, 7, 13.3046875), (2**16, 11, 32.75856), (2**20, 8, 48.75)],
)
def test_gaussian_noise_has_other_best_trees(length: int, k: int, mean: float) -> None:
    best = best_tree(length, pure=False, largest=30)
    assert best.k == k
    assert float(mean_squared_error(best, pure=False)) == pytest.approx(mean, rel=1e-5)


def test_larger_arities_are_never_better_than_the_largest_that_is_tried() -> None:
    for length in (10, 250, 5000):
        best = best_tree(length, pure=True)
        for k in range(201, 2 * length + 2, 97):
            tree = KaryTree(length, k)
            assert mean_squared_error(tree, pure=True) >= mean_squared_error(best, pure=True)


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


def test_binary_trees_have_their_known_errors() -> None:
    for length, most, mean in KNOWN_BINARY:
        tree = binary_tree(length)
        counts = np.array([step.bit_count() for step in range(1, length + 1)])
        assert tree.height * counts.max() / 2 == most == tree.height * tree.most_nodes() / 2
        assert float(mean_squared_error(tree, pure=False)) == pytest.approx(mean, abs=5e-5)
