"""Test that the parts of a dataset's spec have to agree with each other."""

from fractions import Fraction
from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.specs.schema import check_schema, step_of
from penstock.errors import InvalidInput

PERSON = {"person": {"type": "string"}}


@pytest.mark.parametrize("step", [1, 3, 10, 0.5, 0.25, 2.0**-60, 2.0**40])
def test_a_power_of_two_or_a_whole_number_is_a_step(step: float) -> None:
    assert step_of(step) == Fraction(step)


@pytest.mark.parametrize("step", [0, -1, 0.1, 0.75, 1.5, 2.0**-61, -0.5])
def test_nothing_else_is_a_step(step: float) -> None:
    assert step_of(step) is None


@pytest.mark.parametrize(
    ("columns", "place"),
    [
        ({"person": {"type": "boolean"}}, "/columns/person/type"),
        ({"person": {"type": "string", "missing": "x"}}, "/columns/person/missing"),
        ({"other": {"type": "string"}}, "/privacy_unit/column"),
        ({**PERSON, "Person": {"type": "string"}}, "/columns"),
        ({**PERSON, "age": {"type": "integer", "lower": 2, "upper": 1}}, "/columns/age/upper"),
        ({**PERSON, "age": {"type": "number", "step": 0.1}}, "/columns/age/step"),
        ({**PERSON, "day": {"type": "date", "lower": 1}}, "/columns/day/lower"),
        ({**PERSON, "age": {"type": "integer", "missing": "none"}}, "/columns/age/missing"),
        ({**PERSON, "age": {"type": "integer", "categories": [1, 1]}}, "/columns/age/categories"),
        ({**PERSON, "cost": {"type": "number", "categories": [1]}}, "/columns/cost/categories"),
    ],
)
def test_a_spec_that_contradicts_itself_is_refused_at_its_place(
    columns: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_schema(dataset_of(columns=columns))
    assert [at for at, _ in refused.value.errors] == [place]


def test_bounds_that_meet_are_no_contradiction() -> None:
    check_schema(dataset_of(columns={**PERSON, "age": {"type": "integer", "lower": 1, "upper": 1}}))
