"""Test the exact errors of trees, against published and enumerated figures."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from penstock.structures import KaryTree, binary_tree, smooth_binary
from penstock.structures.streams.choice import best_structure, best_tree, mean_squared_error
from penstock.structures.streams.forest import variance_weight

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


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("length", [1, 7, 100, 5000])
def test_the_best_structure_is_no_worse_than_either(length: int, pure: bool) -> None:
    best = best_structure(length, pure=pure)
    tree, smooth = best_tree(length, pure=pure), smooth_binary(length, pure=pure)
    errors = mean_squared_error(tree, pure=pure), mean_squared_error(smooth, pure=pure)
    assert best == (tree if errors[0] <= errors[1] else smooth)
    exact = sum(variance_weight(smooth, step, squared=pure) for step in range(1, length + 1))
    node = 2 * smooth.zeros**2 if pure else Fraction(smooth.zeros, 2)
    assert errors[1] == node * exact / length
