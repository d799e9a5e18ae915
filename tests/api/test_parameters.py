"""Test the query string.

Every argument known, given once and read strictly, or named in a refusal.
"""

from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug.datastructures import MultiDict

from penstock.api import OPERATIONS
from penstock.api.parameters import CURSOR, LIMIT, read
from penstock.errors import InvalidInput
from penstock.services.pagination import Window

(EVENTS,) = (each for each in OPERATIONS if each.name == "list_events")


def arguments(*given: tuple[str, str]) -> dict[str, Any]:
    return read(EVENTS, MultiDict(given), lambda sealed: sealed.removeprefix("sealed-"))


def refused(*given: tuple[str, str]) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refusal:
        arguments(*given)
    return dict(refusal.value.errors)


def test_arguments_are_read_by_their_types() -> None:
    found = arguments(("kind", "release"), ("since", "2026-11-20T12:00:00+02:00"))
    assert found["kind"] == "release"
    assert found["since"] == datetime(2026, 11, 20, 10, tzinfo=UTC)
    assert found["window"] == Window()


def test_a_list_has_a_limit_and_an_opened_cursor() -> None:
    assert arguments((LIMIT, "7"), (CURSOR, "sealed-41"))["window"] == Window(7, 41)


@pytest.mark.parametrize(
    ("given", "places"),
    [
        ([("nothing", "1")], {"/nothing"}),
        ([("kind", "release"), ("kind", "user")], {"/kind"}),
        ([("kind", "nothing"), ("since", "yesterday")], {"/kind", "/since"}),
        ([("since", "2026-11-20T12:00:00")], {"/since"}),
        ([("a/b~c", "1")], {"/a~1b~0c"}),
        ([(LIMIT, "0")], {"/limit"}),
    ],
)
def test_what_is_wrong_is_named_at_its_place(
    given: list[tuple[str, str]], places: set[str]
) -> None:
    assert set(refused(*given)) == places


def test_an_unknown_argument_is_told_which_are_known() -> None:
    (words,) = refused(("nothing", "1")).values()
    for name in ("kind", "since", LIMIT, CURSOR):
        assert name in words


def test_of_many_faults_the_first_twenty_are_told() -> None:
    assert len(refused(*((f"unknown{number}", "1") for number in range(50)))) <= 21
