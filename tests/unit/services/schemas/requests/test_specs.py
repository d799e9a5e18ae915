"""Test what may be sent about a request."""

from typing import Any

import pytest
from tests.unit.services.datasets.stays import BY_TOWN

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput
from penstock.services.schemas.requests.specs import (
    AskRequest,
    CommentRequest,
    CorrelatedAsk,
    DecisionRequest,
    HistogramAsk,
)


def test_a_purpose_is_needed_and_has_lines() -> None:
    request = checked(AskRequest, {**BY_TOWN, "purpose": " One.\r\nTwo. "})
    assert request.purpose == "One.\nTwo."
    with pytest.raises(InvalidInput, match="/purpose"):
        checked(AskRequest, BY_TOWN)


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "a\x1b[0m", "x" * 2001, 7, None])
def test_a_text_is_plain_and_short(text: Any) -> None:
    with pytest.raises(InvalidInput):
        checked(CommentRequest, {"comment": text})


def test_each_structure_has_its_model() -> None:
    counts = {
        **BY_TOWN,
        "structure": "correlated",
        "aggregate": {"type": "count"},
        "contribution": {"max_groups": 1, "max_rows_per_group": 1},
        "mechanism": "gaussian",
        "purpose": "a report",
    }
    assert isinstance(checked(AskRequest, counts), CorrelatedAsk)
    keys = {
        **BY_TOWN,
        "structure": "sparse_histogram",
        "group_by": [{"column": "person"}],
        "domain": {"type": "uint64"},
        "mechanism": "gaussian",
        "purpose": "a report",
    }
    assert isinstance(checked(AskRequest, keys), HistogramAsk)


@pytest.mark.parametrize("field", ["levels", "name"])
def test_only_an_approval_changes_what_was_requested(field: str) -> None:
    value: Any = {"internal": {"epsilon": 0.5}} if field == "levels" else "other"
    assert checked(DecisionRequest, {"decision": "approve", field: value})
    with pytest.raises(InvalidInput, match=f"/{field}"):
        checked(DecisionRequest, {"decision": "decline", field: value})
