"""Test that public numbers cross to another process as they are, and nothing else does."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.connectors.cases import dataset_of, prepared, query_of

from penstock.mechanisms import Gaussian, GeneralizedGaussian, Laplace
from penstock.privacy import Sensitivity
from penstock.services.computations import wire
from penstock.services.computations.computations import public

PLAIN = st.none() | st.booleans() | st.integers() | st.text() | st.fractions()
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
)


def crossed(value: Any) -> Any:
    return wire.read(json.loads(json.dumps(wire.written(value))))


@given(value=VALUES)
def test_values_come_back_as_they_were(value: Any) -> None:
    assert crossed(value) == value


@pytest.mark.parametrize(
    "noise",
    [Gaussian(Fraction(1, 4)), Laplace(Fraction(2)), GeneralizedGaussian.of(4)(Fraction(1))],
)
def test_a_mechanism_keeps_its_law_and_granularity(noise: Any) -> None:
    again = crossed(noise)
    assert (type(again), again.granularity) == (type(noise), noise.granularity)


def test_a_prepared_query_crosses_without_its_statement_and_keys() -> None:
    settled = prepared(dataset_of(), query_of())
    with pytest.raises(TypeError, match="Statement may not cross"):
        wire.written(replace(settled, keys=None))
    again = crossed(public(settled))
    assert again == public(settled)
    assert (again.statement, again.keys, again.canonical_hash) == (None, None, None)
    assert again.sensitivity == settled.sensitivity
    assert isinstance(again.sensitivity, Sensitivity)


@pytest.mark.parametrize(
    "aggregate",
    [
        {"type": "moments", "columns": ["cost"]},
        {"type": "regression", "outcome": "cost", "predictors": ["age"], "grid": 64},
    ],
)
def test_moments_cross_with_the_bounds_and_the_grid_that_were_planned(
    aggregate: dict[str, object],
) -> None:
    settled = public(prepared(dataset_of(), query_of(aggregate)))
    again = crossed(settled)
    assert again == settled
    assert again.moments == settled.moments
    assert again.moments.grid


def test_quantiles_cross_with_the_bins_that_were_planned() -> None:
    settled = public(prepared(dataset_of(), query_of({"type": "quantiles", "column": "age"})))
    again = crossed(settled)
    assert again == settled
    assert (again.quantiles.bins, again.quantiles.whole) == (121, True)


def test_marginals_cross_with_the_tables_that_are_protected() -> None:
    settled = public(prepared(dataset_of(), query_of({"type": "marginals", "columns": ["ward"]})))
    assert crossed(settled) == settled
    assert settled.marginals is not None


def test_workloads_cross_with_their_matrices() -> None:
    aggregate = {
        "type": "workload",
        "columns": ["ward", "urgent"],
        "queries": "identity",
        "strategy": ["tree", [[1, 1], [1, -1]]],
    }
    settled = public(prepared(dataset_of(), query_of(aggregate)))
    assert crossed(settled) == settled
    assert settled.workload is not None
    assert hash(crossed(settled).workload) == hash(settled.workload)


@pytest.mark.parametrize("value", [object(), b"key", {1, 2}])
def test_what_is_not_on_the_list_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        wire.written(value)
