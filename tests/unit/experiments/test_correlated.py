"""Test the variances of many counts over one population: against matrices, and known values."""

import pytest
from tests.oracles.correlated import disjoint

from penstock.experiments import correlated
from penstock.privacy import NeighboringRelation


@pytest.mark.parametrize("trade_off", [1.5, 2, 3, 4, 9])
@pytest.mark.parametrize("columns", [1, 16, 30])
def test_correlated_variances_are_those_of_the_matrices(columns: int, trade_off: float) -> None:
    pair = disjoint(columns, 1, NeighboringRelation.ADD_REMOVE, trade_off=trade_off)
    found = pair.variances(float(pair.sensitivity.l2_squared))
    assert found[:-1] == pytest.approx(correlated.count_variance(columns, trade_off), rel=1e-3)
    assert found[-1] == pytest.approx(correlated.size_variance(columns, trade_off), rel=1e-3)


@pytest.mark.parametrize(
    ("entries", "variance"),
    [(10, 9.95), (100, 91.8), (250, 194.2), (500, 265.8), (1000, 266.06)],
)
def test_sparse_variances_have_their_known_values(entries: int, variance: float) -> None:
    assert correlated.sparse_variance(1000, entries) == pytest.approx(variance, rel=5e-4)
