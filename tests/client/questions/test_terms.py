"""Test the terms of a question."""

from typing import Any

import pytest

from penstock_client import InvalidArgument, Me
from penstock_client.questions.terms import Terms

ANN = Me("ann", ("analyst",), "partner", None, {})
ROOT = Me("root", ("admin",), None, None, {})


def test_a_level_is_sent_as_the_server_takes_it() -> None:
    assert Terms(epsilon=0.5).body(ANN) == {
        "mechanism": "gaussian",
        "levels": {"partner": {"epsilon": 0.5}},
    }
    assert Terms(share=0.1, mechanism="laplace").body(ROOT) == {
        "mechanism": "laplace",
        "share": 0.1,
    }
    levels = {"public": 0.1, "partner": {"rho": 0.02}}
    assert Terms(levels=levels, contribution={"max_groups": 2}).body(ROOT) == {
        "mechanism": "gaussian",
        "levels": {"public": {"epsilon": 0.1}, "partner": {"rho": 0.02}},
        "contribution": {"max_groups": 2},
    }


def test_another_level_replaces_the_one_before() -> None:
    terms = Terms(epsilon=0.5, name="mine", mechanism="laplace").changed(share=0.1)
    assert terms == Terms(share=0.1, name="mine", mechanism="laplace")
    assert terms.changed(name="yours") == Terms(share=0.1, name="yours", mechanism="laplace")


def test_an_epsilon_needs_a_clearance_and_a_question_a_level() -> None:
    with pytest.raises(InvalidArgument, match=r'levels=\{"public": 0.5\}'):
        Terms(epsilon=0.5).body(ROOT)
    with pytest.raises(InvalidArgument, match="no level yet"):
        Terms().body(ANN)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"epsilon": 0.5, "share": 0.1}, "epsilon or share"),
        ({"epsilon": 0}, "above 0"),
        ({"share": float("nan")}, "above 0"),
        ({"share": 2}, "at most 1"),
        ({"levels": {}}, "by tier"),
        ({"contribution": {"most": 3}}, "not most"),
    ],
)
def test_terms_that_cannot_be_are_refused(terms: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Terms(**terms).require_valid()
    with pytest.raises(InvalidArgument, match=message):
        Terms().changed(**terms)
