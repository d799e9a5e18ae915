"""Test vectors that are pushed: exact, on their lattice, within their bound, or refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.specs.models import DatasetSpec, PushedVector
from penstock.connectors.vector import prepare_vector, vector_steps
from penstock.errors import InvalidInput
from penstock.privacy import Sensitivity

SITES = DatasetSpec.model_validate(
    {"name": "sites", "source": {"engine": "vector"}, "neighboring": "add_remove"}
)
ONE = Fraction(1)
BOUND = Fraction(2**31)


def _vector(values: object = (120, 7), **changes: object) -> PushedVector:
    body = {"name": "visits", "dataset": "sites", "values": values, "sensitivity": {"l1": 1}}
    return PushedVector.model_validate({**body, **changes})


def _push(vector: PushedVector) -> None:
    prepared = prepare_vector(SITES, vector)
    vector_steps(vector.values, prepared.step, prepared.bound)


def _place(vector: PushedVector) -> str:
    with pytest.raises(InvalidInput) as caught:
        _push(vector)
    return caught.value.errors[0][0]


def test_a_vector_is_prepared_without_sql_or_hashes() -> None:
    prepared = prepare_vector(SITES, _vector(keys=["a", "b"], sensitivity={"l1": 3, "l2": 2}))
    assert prepared == PreparedQuery(
        keys=("a", "b"),
        dimension=2,
        step=ONE,
        bound=BOUND,
        sensitivity=prepared.sensitivity,
    )
    assert prepared.sensitivity == Sensitivity(Fraction(3), Fraction(4), Fraction(2))


def test_what_is_left_out_of_a_sensitivity_is_never_too_small() -> None:
    sensitivity = prepare_vector(SITES, _vector(sensitivity={"l1": 5})).sensitivity
    assert sensitivity == Sensitivity(Fraction(5), Fraction(25), Fraction(5))
    sensitivity = prepare_vector(SITES, _vector(sensitivity={"l1": 5, "linf": 2})).sensitivity
    assert sensitivity == Sensitivity(Fraction(5), Fraction(10), Fraction(2))
    largest = max(a * a + b * b for a in range(3) for b in range(3) if a + b <= 5)
    assert largest <= sensitivity.l2_squared


@pytest.mark.parametrize(
    ("values", "step", "expected"),
    [
        ([0, 7, -7], ONE, [0, 7, -7]),
        ([7.0, -0.0, 1e3], ONE, [7, 0, 1000]),
        ([7, 7.0, True + 1], ONE, [7, 7, 2]),
        ([0.25, -0.5, 3], Fraction(1, 4), [1, -2, 12]),
        ([10, -30.0, 0], Fraction(10), [1, -3, 0]),
        ([2.0**30, -(2**31)], Fraction(1024), [2**20, -(2**21)]),
        (np.array([1, -2]), ONE, [1, -2]),
        (np.array([1.5, -2.0]), Fraction(1, 2), [3, -4]),
    ],
)
def test_values_are_counted_in_steps(values: Any, step: Fraction, expected: list[int]) -> None:
    steps = vector_steps(values, step, BOUND)
    assert steps.dtype == np.int64
    assert steps.tolist() == expected


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([], "/values"),
        ([1, 2, True], "/values/2"),
        ([1, "2"], "/values/1"),
        ([1, None], "/values/1"),
        ([1, [2]], "/values/1"),
        ([1.5, 2], "/values/0"),
        ([1, 2.0, 2.5], "/values/2"),
        ([1.0, float("nan")], "/values/1"),
        ([1, float("inf")], "/values/1"),
        ([float("-inf"), 1.0], "/values/0"),
        ([1, 2**31 + 1], "/values/1"),
        ([1.0, -(2.0**31) - 1], "/values/1"),
        ([1, 10**400], "/values/1"),
        ([1.0, 10**400], "/values/1"),
        ([1.0, 2**63], "/values/1"),
        ([1.0, 1e308], "/values/1"),
        ([5e-324, 1.0], "/values/0"),
    ],
)
def test_the_first_value_that_breaks_step_or_bound_is_named(values: object, place: str) -> None:
    assert _place(_vector(values)) == place


def test_a_refused_value_is_not_repeated() -> None:
    for value in (8675309.5, 8675309e9, "8675309"):
        with pytest.raises(InvalidInput) as caught:
            vector_steps([1, value], ONE, BOUND)  # type: ignore[list-item]  # refused on purpose
        assert "8675309" not in str(caught.value) + caught.value.detail


def test_a_tiny_value_is_no_multiple_of_a_large_step() -> None:
    with pytest.raises(InvalidInput, match="not a multiple of the step, 1024"):
        vector_steps([5e-324], Fraction(1024), BOUND)


def test_large_integers_stay_exact_beside_floats() -> None:
    large = 2**62 - 1
    assert vector_steps([large, 0.0], ONE, Fraction(2**62)).tolist() == [large, 0]
    assert vector_steps([large], ONE, Fraction(2**62)).tolist() == [large]


def test_a_bound_that_no_float_equals_is_kept_exactly() -> None:
    bound = Fraction(2**53 + 1)
    assert vector_steps([2.0**53], ONE, bound).tolist() == [2**53]
    with pytest.raises(InvalidInput):
        vector_steps([2.0**53 + 2], ONE, bound)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"keys": ["a"]}, "/keys"),
        ({"step": 0}, "/step"),
        ({"step": -1}, "/step"),
        ({"step": 0.1}, "/step"),
        ({"step": 2.0**-61}, "/step"),
        ({"bound": 0}, "/bound"),
        ({"bound": -5}, "/bound"),
        ({"bound": 2**63 - 1}, "/bound"),
        ({"step": 2.0**-40}, "/bound"),
        ({"step": 100, "bound": 99}, "/bound"),
        ({"sensitivity": {"l1": 0}}, "/sensitivity/l1"),
        ({"sensitivity": {"l1": 0.5}}, "/sensitivity/l1"),
        ({"sensitivity": {"l1": -1}}, "/sensitivity/l1"),
        ({"sensitivity": {"l1": 1, "l2": 2}}, "/sensitivity/l2"),
        ({"sensitivity": {"l1": 1, "linf": 2}}, "/sensitivity/linf"),
        ({"sensitivity": {"l1": 3, "l2": 1, "linf": 2}}, "/sensitivity/linf"),
        ({"sensitivity": {"l1": 3, "l2": 1, "linf": 0.5}}, "/sensitivity/linf"),
    ],
)
def test_a_vector_that_contradicts_itself_is_refused(changes: dict[str, Any], place: str) -> None:
    assert _place(_vector(**changes)) == place


def test_more_than_ten_million_values_are_refused() -> None:
    with pytest.raises(InvalidInput, match="10000001"):
        vector_steps(np.zeros(10_000_001, dtype=np.int64), ONE, BOUND)


def test_an_array_of_another_kind_is_refused() -> None:
    for array in (np.zeros((2, 2)), np.zeros(2, dtype=np.complex128), np.zeros(2, dtype=bool)):
        with pytest.raises(InvalidInput):
            vector_steps(array, ONE, BOUND)  # type: ignore[arg-type]  # refused on purpose


def test_values_pushed_to_a_file_are_refused() -> None:
    file = DatasetSpec.model_validate(
        {
            "name": "visits",
            "source": {"engine": "duckdb", "uri": "visits.csv"},
            "privacy_unit": {"rows": 1},
            "neighboring": "add_remove",
            "columns": {"a": {"type": "string"}},
        }
    )
    with pytest.raises(InvalidInput, match="itself"):
        prepare_vector(file, _vector())


def test_the_values_of_the_caller_are_left_as_they_are() -> None:
    values = np.array([1, 2, 3])
    steps = vector_steps(values, ONE, BOUND)
    assert steps is not values
    steps[0] = 9
    assert values.tolist() == [1, 2, 3]
