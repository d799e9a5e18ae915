"""Test the sentence above what was left of budgets over time."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.web.service_views import AT

from penstock.services.overviews.burn_downs import BurnDownView, TierCourseView
from penstock.web.presenters.pages.burn_downs import about, burned, message

TIMES = [AT, AT + timedelta(days=20)]
PUBLIC = TierCourseView("public", [1.0, 0.63], None, AT, hides=False)
INSIDE = TierCourseView("internal", [1.0, 0.8], None, AT, hides=False)
VIEW = BurnDownView("hospital", TIMES, [PUBLIC, INSIDE])


def said(**changes: Any) -> str:
    return message(replace(VIEW, tiers=[replace(PUBLIC, **changes), INSIDE]))


def test_without_a_pace_it_says_what_is_left_and_since_when_nothing_was_charged() -> None:
    left = "63% of the public budget of hospital is left"
    assert message(VIEW) == f"{left}, and nothing was charged to it since 2026-01-02"
    assert said(charged_at=TIMES[1]) == f"{left}, after charges within the last day"
    assert said(charged_at=None) == f"{left}, and nothing was charged to it yet"


def test_it_does_not_say_when_something_out_of_sight_was_charged() -> None:
    assert said(hides=True) == "63% of the public budget of hospital is left"


def test_with_a_pace_it_says_which_budget_ends_first() -> None:
    sooner = replace(INSIDE, ends_in=timedelta(days=84))
    later = replace(PUBLIC, ends_in=timedelta(days=200))
    assert message(replace(VIEW, tiers=[later, sooner])) == (
        "At the pace of the last 30 days the internal budget of hospital ends in about 12 weeks"
    )


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0.2, "less than a day"),
        (1.2, "about 1 day"),
        (13, "about 13 days"),
        (14, "about 2 weeks"),
        (180, "about 6 months"),
        (700, "about 23 months"),
    ],
)
def test_times_are_told_in_units_of_their_size(days: float, text: str) -> None:
    assert about(timedelta(days=days)) == text


def test_the_picture_has_the_sentence_and_ids_of_its_own() -> None:
    drawn = burned(VIEW, 3)
    assert drawn is not None
    assert drawn.message == message(VIEW)
    assert 'id="course3-wide-title"' in drawn.drawn
    assert drawn.table.rows[-1] == ("2026-01-22 03:04", "80%", "63%")
    assert burned(replace(VIEW, tiers=[]), 3) is None
