"""Test requests for queries and releases: each thing is said in one way, or refused."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.unit.sites import VISITS

from penstock.privacy import Target, TargetKind
from penstock.services.schemas.queries import (
    HistogramRequest,
    PushedVectorRequest,
    QueryRequest,
    ReleaseRequest,
)

REQUEST: TypeAdapter[Any] = TypeAdapter(QueryRequest)


@pytest.mark.parametrize("kind", ["epsilon", "rho", "level"])
def test_a_release_is_asked_for_at_one_level(kind: str) -> None:
    request = ReleaseRequest.model_validate({kind: 2})
    assert request.target() == Target(TargetKind(kind), 2.0)


def test_nothing_given_and_a_tier_are_no_target() -> None:
    assert ReleaseRequest().target() is None
    assert ReleaseRequest(tier="public").target() is None


def test_two_wishes_are_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="given: epsilon, tier"):
        ReleaseRequest.model_validate({"tier": "public", "epsilon": 1})
    assert ReleaseRequest.model_validate({"tier": "public", "epsilon": None}).tier == "public"


def test_the_kind_of_a_request_is_told_by_its_fields() -> None:
    assert isinstance(REQUEST.validate_python(VISITS), PushedVectorRequest)
    books = {
        "name": "books",
        "dataset": "loans",
        "structure": "sparse_histogram",
        "domain": {"type": "uint64"},
        "false_keys": 1,
        "group_by": [{"column": "book"}],
        "aggregate": {"type": "count_units"},
        "contribution": {"max_groups": 2},
        "mechanism": "gaussian",
        "share": 0.1,
    }
    assert isinstance(REQUEST.validate_python(books), HistogramRequest)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"share": 0.5}, "either share or levels, not both"),
        ({"levels": None}, "Enter either the noise level"),
        ({"granularity": 1}, "Only laplace noise has a granularity"),
        ({"mechanism": "generalized_gaussian"}, "p, the power of generalized_gaussian"),
        ({"levels": {"public": 1, "PUBLIC": 2}}, "A tier is listed twice"),
    ],
)
def test_terms_that_cannot_be_meant_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        PushedVectorRequest.model_validate({**VISITS, **changes})


def test_exact_values_are_in_no_copy_and_no_text_of_a_request() -> None:
    request = PushedVectorRequest.model_validate({**VISITS, "values": [120, 7, 987654]})
    assert "987654" not in repr(request)
