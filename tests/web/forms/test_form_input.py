"""Forms: sent from our own pages, by the session that they were made for, or not at all."""

import re

import pytest
from tests.api.world import World
from tests.web.world import Open, text_of


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
    """Somebody is moved up while they read what a request would mean."""
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
