"""Test matrix pairs: what they protect is exact, what they decode is right."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import ArrayLike

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, Laplace, MultipleRelease
from penstock.structures.factorization.matrices import Factorization, factorization, rounded
from penstock.structures.factorization.square_root import (
    square_root,
)
from penstock.structures.streams.forest import matrices as tree_matrices
from penstock.structures.streams.kary import KaryTree


def _prefixes(length: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.tril(np.ones((length, length)))


def test_sensitivities_are_those_of_the_rounded_matrix() -> None:
    found = factorization(np.eye(2), [[1 / 3, 0], [0.2, 0.7]], digits=3)
    assert found.strategy.tolist() == [[3, 0], [2, 6]]
    assert found.sensitivity.l1 == Fraction(6, 8)
    assert found.sensitivity.l2_squared == Fraction(36, 64)
    assert found.sensitivity.linf == Fraction(6, 8)
    assert found.decode(np.array([3 / 8, 8 / 8])) == pytest.approx([1, 1])


def test_strategies_with_more_rows_than_values_are_decoded_by_least_squares() -> None:
    strategy = [[1, 0], [0, 1], [1, 1]]
    found = factorization([[1, 1]], strategy)
    assert found.decoder == pytest.approx(np.array([[1 / 3, 1 / 3, 2 / 3]]))
    assert not found.lossless
    assert found.sensitivity.l2_squared == 2


@pytest.mark.parametrize("mechanism", [Gaussian, Laplace])
def test_nodes_are_released_at_any_levels_and_decoded(
    mechanism: type[Gaussian] | type[Laplace],
) -> None:
    found = square_root(32, digits=10)
    stream = np.arange(32, dtype=np.int64) % 3
    noise, ladder = mechanism.plan(Fraction(4), Fraction(1, 1 << 10), Fraction(1 << 10))
    exact = np.ldexp(found.nodes(stream).astype(np.float64), -found.digits)
    released = MultipleRelease(noise, ladder, exact, 4)
    for level in (64, 4, 16):
        noisy = found.decode(released.at(level))
        assert np.abs(noisy - np.cumsum(stream)).max() < 40 * level


def test_a_tree_is_a_factorization_as_well() -> None:
    decoder, strategy = tree_matrices(KaryTree(40, 3), 40)
    found = factorization(_prefixes(40), strategy, digits=0)
    tree = Factorization(strategy, 0, decoder.astype(float), found.sensitivity)
    assert found.sensitivity.l1 == found.sensitivity.l2_squared == 4
    assert found.variances(1.0) == pytest.approx(tree.variances(1.0))


def test_impossible_pairs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="are not combinations"):
        factorization(np.eye(2), [[1, 1]])
    with pytest.raises(InvalidInput, match="as many columns as there are values"):
        factorization(np.eye(2), [[1, 1, 1]])
    matrices: list[ArrayLike] = [[1, 2], [[float("nan")]], [[]], [[2.0**40]]]
    for strategy in matrices:
        with pytest.raises(InvalidInput):
            rounded(strategy)
    with pytest.raises(InvalidInput):
        square_root(0)
    found = square_root(3)
    with pytest.raises(InvalidInput, match="takes 3 values"):
        found.nodes(np.zeros(4, dtype=np.int64))
    with pytest.raises(InvalidInput, match="too large"):
        found.nodes(np.full(3, 1 << 40, dtype=np.int64))
