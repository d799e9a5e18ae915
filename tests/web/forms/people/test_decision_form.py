"""Test decisions read from forms: what nobody changed stays as it was requested."""

from typing import Any

import pytest

from penstock.services.schemas.requests.specs import DecisionRequest
from penstock.web.forms.people.decision_form import changed, decision, level_fields

TIERS = ["public", "partner", "internal"]
SPEC: dict[str, Any] = {"name": "stays", "levels": {"Internal": {"epsilon": 0.5}}}
MARGINS: dict[str, Any] = {
    "name": "stays",
    "levels": {"public": {"half_width": 40.0, "confidence": 0.9}, "internal": {"rho": 0.01}},
}
UNTOUCHED = {"name": "stays", "level Internal": "0.5", "level public": "", "level partner": ""}


def test_each_tier_has_a_field_in_the_unit_that_was_requested() -> None:
    fields = level_fields(SPEC, TIERS)
    assert [(field.name, field.value) for field in fields] == [
        ("level public", ""),
        ("level partner", ""),
        ("level Internal", "0.5"),
    ]
    assert {field.label for field in fields} >= {"Epsilon for public", "Epsilon for Internal"}
    assert [field.label for field in level_fields(MARGINS, TIERS)] == [
        "Margin of error for public",
        "Margin of error for partner",
        "Rho for internal",
    ]


def test_a_tier_without_a_budget_of_its_own_has_a_field_if_a_level_was_requested() -> None:
    assert [field.tier for field in level_fields(SPEC, ["public"])] == ["public", "Internal"]


@pytest.mark.parametrize("given", [UNTOUCHED, {}])
@pytest.mark.parametrize("spec", [SPEC, {"name": "stays", "share": 0.1}])
def test_a_form_that_nobody_changed_replaces_nothing(
    given: dict[str, str], spec: dict[str, Any]
) -> None:
    typed = given if "levels" in spec else {}
    assert decision(typed, "approve", spec, TIERS) == {"decision": "approve"}
    assert changed(typed, spec, TIERS) == {}


def test_a_level_that_was_typed_replaces_all_levels_with_those_that_are_shown() -> None:
    given = {**UNTOUCHED, "level public": "0.1", "comment": " Less. "}
    body = decision(given, "approve", SPEC, TIERS)
    assert body == {
        "decision": "approve",
        "comment": "Less.",
        "levels": {"public": {"epsilon": 0.1}, "Internal": {"epsilon": 0.5}},
    }
    assert DecisionRequest.model_validate(body).name is None
    assert changed(given, SPEC, TIERS) == {"level public": "0.1"}


def test_a_margin_of_error_keeps_its_confidence() -> None:
    body = decision({"level public": "50"}, "approve", MARGINS, TIERS)
    assert body["levels"] == {
        "public": {"half_width": 50, "confidence": 0.9},
        "internal": {"rho": 0.01},
    }


def test_a_level_or_a_name_that_was_emptied_is_sent_and_so_refused_or_left_out() -> None:
    assert decision({"level Internal": ""}, "approve", SPEC, TIERS)["levels"] == {}
    assert decision({"name": " "}, "approve", SPEC, TIERS)["name"] == ""
    assert decision({"name": "visits"}, "approve", SPEC, TIERS)["name"] == "visits"


def test_a_refusal_has_no_levels() -> None:
    given = {**UNTOUCHED, "level public": "0.1", "name": "visits", "comment": "No."}
    body = decision(given, "decline", SPEC, TIERS)
    assert body == {"decision": "decline", "comment": "No."}
