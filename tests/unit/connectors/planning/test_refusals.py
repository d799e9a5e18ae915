"""Test that refusals name places, and repeat nothing of what was sent."""

import pytest

from penstock.connectors.planning.refusals import (
    LONGEST_PART,
    MOST_ERRORS,
    Refusals,
    checked,
    pointer,
    refusal,
    within,
)
from penstock.errors import InvalidInput, MalformedInput


def test_a_pointer_is_escaped_and_cut() -> None:
    assert pointer() == ""
    assert pointer("a/b", 0, "c~d") == "/a~1b/0/c~0d"
    assert pointer("x" * 100) == "/" + "x" * LONGEST_PART


def test_a_wrong_value_is_not_repeated() -> None:
    with pytest.raises(InvalidInput) as refused:
        checked(dict[str, int], {"ages": "of 4711 people"})
    assert refused.value.errors == (("/ages", "This must be an integer."),)
    assert "4711" not in str(refused.value.detail)
    assert refused.value.__cause__ is None


def test_one_refusal_counts_the_places_that_it_does_not_name() -> None:
    assert refusal([("/a", "Wrong.")]).detail == "/a: Wrong."
    assert refusal([("/a", "Wrong.")], more=1).detail.endswith("(1 more place is not valid.)")
    two = [("/a", "Wrong."), ("/b", "Wrong.")]
    assert refusal(two, more=1).detail.endswith("(2 more places are not valid.)")


def test_what_is_refused_within_a_part_has_its_place() -> None:
    with pytest.raises(InvalidInput) as refused, within("levels", "public"):
        raise InvalidInput("Wrong.", pointer="/epsilon")
    assert refused.value.errors == (("/levels/public/epsilon", "Wrong."),)


def test_all_refusals_are_raised_at_once_each_once() -> None:
    refusals = Refusals()
    for place in [*range(MOST_ERRORS + 1), 0]:
        with refusals:
            raise InvalidInput("Wrong.", pointer=f"/{place}")
    with pytest.raises(InvalidInput) as refused:
        refusals.raise_all()
    assert len(refused.value.errors) == MOST_ERRORS
    assert f"({MOST_ERRORS} more places are not valid.)" in refused.value.detail


@pytest.mark.parametrize("error", [MalformedInput("No JSON."), RuntimeError("a fault")])
def test_other_errors_are_not_collected(error: Exception) -> None:
    refusals = Refusals()
    with pytest.raises(type(error)), refusals:
        raise error
    refusals.raise_all()
