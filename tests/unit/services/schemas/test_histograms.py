"""Test that false keys are one number for all tiers, or one for each."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from penstock.services.schemas.histograms import MOST_FALSE_KEYS, FalseKeys

EXPECTED: TypeAdapter[Any] = TypeAdapter(FalseKeys)


def test_both_forms_are_read() -> None:
    assert EXPECTED.validate_python(0.5) == 0.5
    by_tier = {"public": 0.5, "internal": 2.0}
    assert EXPECTED.validate_python(by_tier) == by_tier
    assert EXPECTED.validate_python(MOST_FALSE_KEYS) == MOST_FALSE_KEYS


@pytest.mark.parametrize(
    "given",
    [0, -1, MOST_FALSE_KEYS + 1, {}, {"public": 0}, {"public": 1, "Public": 2}],
    ids=str,
)
def test_other_numbers_and_names_given_twice_are_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        EXPECTED.validate_python(given)
