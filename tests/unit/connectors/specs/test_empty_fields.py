"""Test what to enter where nothing was entered."""

import pytest

from penstock.connectors.specs.empty_fields import TO_ENTER, is_empty, to_enter


@pytest.mark.parametrize("entered", [None, "", "  ", [], {}, (), [""], [[None]]])
def test_what_holds_nothing_is_empty(entered: object) -> None:
    assert is_empty(entered)


@pytest.mark.parametrize("entered", [0, False, "a", ["", ""], [0], {"a": None}])
def test_what_holds_anything_is_not(entered: object) -> None:
    assert not is_empty(entered)


def test_the_field_around_decides_before_the_name_alone() -> None:
    assert to_enter(["where", "column"]) == TO_ENTER["where/column"]
    assert to_enter(["aggregate", "column"]) == TO_ENTER["column"]
    assert to_enter(["group_by", "where", "column"]) == TO_ENTER["where/column"]


@pytest.mark.parametrize("names", [[], ["nothing_of_ours"], ["name", "nothing_of_ours"]])
def test_of_an_unknown_field_nothing_is_said(names: list[str]) -> None:
    assert to_enter(names) is None
