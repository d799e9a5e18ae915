"""Test the tree over bins against its matrix, solved by dense least squares."""

from hashlib import sha256

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.randomness import Stream
from penstock.structures.bin_tree import BRANCHES, BinTree

SIZES = [2, 3, 4, 5, 16, 17, 20, 37, 64, 100]


def matrix(tree: BinTree) -> NDArray[np.float64]:
    """Return which bins are in each node, by the spans that keys are made of."""
    rows = np.zeros((tree.size, tree.bins))
    for node, (_, first, end) in enumerate(tree.spans):
        rows[node, first:end] = 1
    return rows


@pytest.mark.parametrize("bins", SIZES)
def test_every_bin_is_in_one_node_of_each_level_and_none_has_all_bins(bins: int) -> None:
    tree = BinTree(bins)
    own = matrix(tree)
    assert (own.sum(axis=0) == tree.levels).all()
    assert own.sum(axis=1).max() < bins
    assert sum(tree.sizes) == tree.size == len(own)
    assert 2 <= tree.sizes[-1] <= BRANCHES


@pytest.mark.parametrize("bins", SIZES)
def test_running_sums_and_their_covariances_are_those_of_least_squares(bins: int) -> None:
    tree = BinTree(bins)
    generator = Stream.from_key(sha256(str(bins).encode()).digest()).generator
    counts = generator.integers(0, 50, (3, bins))
    own = matrix(tree)
    assert (tree.nodes(counts) == counts @ own.T.astype(int)).all()
    noisy = tree.nodes(counts) + generator.normal(0, 5, (3, tree.size))
    best, *_ = np.linalg.lstsq(own, noisy.T, rcond=None)
    running = tree.running(noisy)
    np.testing.assert_allclose(running.sums, np.cumsum(best.T, axis=1), atol=1e-9)
    np.testing.assert_allclose(running.totals, best.sum(axis=0), atol=1e-9)
    prefixes = np.tril(np.ones((bins, bins)))
    covariance = prefixes @ np.linalg.inv(own.T @ own) @ prefixes.T
    np.testing.assert_allclose(tree.spread.sums, np.diag(covariance), atol=1e-9)
    np.testing.assert_allclose(tree.spread.mixed, covariance[-1], atol=1e-9)
    assert tree.spread.total == pytest.approx(covariance[-1, -1])


def test_the_tree_is_nearly_as_accurate_as_the_square_root() -> None:
    """At 1,024 bins and rho 0.05 the deviations of ranks are 10.40 and 10.23 on average."""
    bins, node = 1024, (1 / (2 * 0.05)) ** 0.5
    shares = np.arange(1, bins + 1) / bins
    tree = BinTree(bins)
    own = node * np.sqrt(tree.levels * tree.spread.around(shares))
    column = np.cumprod(np.concatenate([[1.0], 1 - 1 / (2 * np.arange(1, bins))]))
    whole, norm = column[::-1], float(column @ column)
    root = [
        np.linalg.norm(np.concatenate([column[:end][::-1], np.zeros(bins - end)]) - share * whole)
        for end, share in enumerate(shares, 1)
    ]
    roots = node * norm**0.5 * np.array(root)
    assert node * (bins / 4) ** 0.5 == pytest.approx(50.6, abs=0.05)
    assert np.sqrt(np.mean(own**2)) == pytest.approx(10.40, abs=0.01)
    assert np.sqrt(np.mean(roots**2)) == pytest.approx(10.23, abs=0.01)
    assert own[bins // 2 - 1] == pytest.approx(6.12, abs=0.01)
