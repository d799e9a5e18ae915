"""Test that forms are read strictly, and that a refused form keeps what was typed."""

import re

import pytest
from tests.api.world import World
from tests.web.world import Open, text_of
from werkzeug.datastructures import MultiDict

from penstock.errors import Busy, Conflict, Forbidden, InvalidInput, PenstockError, TooManyRequests
from penstock.web.forms.form_input import (
    LONGEST_NUMBER,
    Form,
    filled,
    kept,
    number,
    refused,
    scalar,
)
from penstock.web.http.idempotent_forms import SentBefore


def events(world: World) -> object:
    return world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga")


def test_a_form_that_is_too_large_is_not_read(browse: Open) -> None:
    browser = browse("ian")
    answer = browser.submit("/queries/visits/releases", more="x" * 70_000)
    assert answer.status_code == 413
    assert "<h1>" in answer.text


@pytest.mark.parametrize("epsilon", ["x", "-1", "0", "nan", "inf", "1e999", "9" * 5000, "\u0660"])
def test_a_number_that_cannot_be_meant_is_refused_in_words(browse: Open, epsilon: str) -> None:
    browser = browse("ian")
    answer = browser.get("/queries/visits/request?epsilon=" + epsilon)
    assert answer.status_code == 422
    assert "number above 0" in text_of(answer)
    assert browser.submit("/queries/visits/releases", epsilon=epsilon).status_code == 422


SHOWN = re.compile(r'name="shown" value="([^"]+)"')


@pytest.mark.parametrize("path", ["/queries/visits", "/queries/visits/request?tier="])
def test_a_level_that_was_not_shown_is_not_handed_out(
    browse: Open, world: World, path: str
) -> None:
    """A user is moved to a higher tier while reading the preview of a request."""
    browser = browse("ann")
    shown = SHOWN.search(browser.get(path).text)
    assert shown is not None
    world.answer("PATCH", "/api/v1/users/ann", {"clearance": "internal"}, by="root")
    before = events(world)
    answer = browser.submit("/queries/visits/releases", shown=shown.group(1))
    assert answer.status_code == 409
    assert "after the preview was shown" in text_of(answer)
    assert "within what tier internal may see" in text_of(answer)
    assert events(world) == before
    anew = SHOWN.search(answer.text)
    assert anew is not None
    assert browser.submit("/queries/visits/releases", shown=anew.group(1)).status_code == 303


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", None),
        ("  ", None),
        (" 7 ", 7),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        ("1_000", "1_000"),
        ("\u0661", "\u0661"),
        ("much", "much"),
        ("9" * LONGEST_NUMBER, int("9" * LONGEST_NUMBER)),
        ("9" * (LONGEST_NUMBER + 1), "9" * (LONGEST_NUMBER + 1)),
    ],
)
def test_a_number_is_read_only_if_it_is_short_and_plain(
    text: str, read: float | str | None
) -> None:
    assert number(text) == read
    assert isinstance(number(text), type(read))


def test_a_value_is_read_by_the_type_of_its_column() -> None:
    assert [scalar("7", kind) for kind in ("integer", "number", "string", "date")] == [
        7,
        7,
        "7",
        "7",
    ]
    assert [scalar(text, "boolean") for text in ("true", "false", "yes")] == [True, False, "yes"]


def test_empty_fields_are_left_out_and_zero_is_not_empty() -> None:
    assert filled(a=None, b="", c=0, d=False) == {"c": 0, "d": False}


def test_an_error_is_shown_at_its_field_and_not_at_one_that_begins_alike() -> None:
    problem = InvalidInput(
        "Refused.", errors=[("/levels/a", "Too low."), ("/levels", "None given.")]
    )
    form = Form({}, problem)
    assert form.wrong("/levels") == "Too low. None given."
    assert form.wrong("/levels", apart=["/levels/a"]) == form.at("/levels") == "None given."
    assert form.wrong("/level") == form.wrong("") == ""
    assert form.reasons == ["Too low.", "None given."]


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (None, 200),
        (InvalidInput("x"), 422),
        (Forbidden("x"), 403),
        (TooManyRequests("x"), 429),
        (Busy("x"), 503),
        (Conflict("x"), 409),
    ],
)
def test_a_form_that_is_shown_again_has_the_status_of_its_problem(
    problem: PenstockError | None, status: int
) -> None:
    assert Form({}, problem).status == status


@pytest.mark.parametrize(
    ("problem", "wait", "part"),
    [
        (None, 0, 200),
        (InvalidInput("x"), 0, 422),
        (TooManyRequests("x", retry_after=7), 7, 200),
        (Busy("x"), 2, 200),
    ],
)
def test_a_part_that_has_to_wait_is_no_error_and_says_how_long(
    problem: PenstockError | None, wait: int, part: int
) -> None:
    form = Form({}, problem)
    assert (form.wait, form.status_for(part=True)) == (wait, part)
    assert form.status_for(part=False) == form.status


def test_a_refused_form_keeps_its_key_unless_the_key_was_used_before() -> None:
    sent = MultiDict({"once": "k" * 32, "name": "a"})
    assert kept(sent).key == refused(sent, InvalidInput("x")).key == "k" * 32
    assert refused(sent, SentBefore("x")).key != "k" * 32
    assert Form().key != Form().key
