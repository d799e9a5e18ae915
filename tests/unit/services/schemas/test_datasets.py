"""Test changes of a dataset: something is said, and of one kind at a time."""

from typing import Any

import pytest
from pydantic import ValidationError

from penstock.services.schemas.datasets import CorrectionRequest, DatasetChange


def test_what_is_given_is_what_is_corrected() -> None:
    change = DatasetChange.model_validate({"delta": 0.0, "max_units": None})
    assert change.given == {"delta"}
    assert change.correction == CorrectionRequest.model_validate({"delta": 0.0})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Say what is declared otherwise"),
        ({"max_units": None}, "Say what is declared otherwise"),
        ({"budgets": {"public": 1}, "delta": 0.1}, "each by a request of its own"),
        ({"budgets": {"public": 1}, "same_people_as": "x"}, "each by a request of its own"),
        ({"delta": 1.0}, "less than 1"),
    ],
)
def test_changes_that_cannot_be_meant_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        DatasetChange.model_validate(given)
