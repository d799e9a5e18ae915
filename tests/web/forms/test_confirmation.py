"""Test that destructive actions ask the user to type the name."""

import pytest

from penstock.errors import InvalidInput
from penstock.web.forms.confirmation import FIELD, require_named


@pytest.mark.parametrize("typed", ["Visits", "visits", " VISITS "])
def test_the_name_in_any_case_is_enough(typed: str) -> None:
    require_named({FIELD: typed}, "Visits")


@pytest.mark.parametrize("given", [{}, {FIELD: ""}, {FIELD: "  "}])
def test_nothing_typed_is_told_as_that(given: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="'Visits'") as refusal:
        require_named(given, "Visits")
    assert refusal.value.errors[0][0] == f"/{FIELD}"


def test_another_name_is_told_with_what_was_typed() -> None:
    with pytest.raises(InvalidInput, match=r"'visit'.*'visits'"):
        require_named({FIELD: "visit"}, "visits")
