"""Test that what was left of a budget is drawn as steps, at its times and at its share."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.web.charts.pictures import SVG, parsed, points, straight, texts

from penstock.errors import NotDrawable
from penstock.web.charts.drawing.svg import WIDE
from penstock.web.charts.spent.burn_down import BurnDown, Left, burn_down, rows

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = tuple(FIRST + timedelta(days=days) for days in (0, 10, 40))
PUBLIC = Left("public", (1.0, 0.75, 0.25))
INSIDE = Left("internal", (None, 1.0, 0.5))
COURSE = BurnDown("t", TIMES, (PUBLIC, INSIDE))


def ways(content: BurnDown) -> list[list[tuple[float, float]]]:
    drawn = parsed(burn_down(content, "p", WIDE)).iter(f"{SVG}path")
    return [list(points(way.get("d", ""))) for way in drawn if way.get("class") == "line"]


def test_a_share_holds_until_the_next_charge() -> None:
    public, internal = ways(COURSE)
    straight([x for x, _ in public], [0, 10, 10, 40, 40])
    straight([-y for _, y in public], [1.0, 1.0, 0.75, 0.75, 0.25])
    assert internal[0] == (public[1][0], public[0][1])


def test_the_table_has_the_same_numbers_with_the_most_trusted_tier_first() -> None:
    table = rows(COURSE)
    assert table.head == ("time (UTC)", "internal, left", "public, left")
    assert table.rows[0] == ("2026-01-01 00:00", "no budget", "100%")
    assert table.rows[-1] == ("2026-02-10 00:00", "50%", "25%")


def test_days_are_written_below_and_a_shorter_span_by_its_ends() -> None:
    days = [text for text in texts(burn_down(COURSE, "p", WIDE)) if text.startswith("2026-0")]
    assert 3 <= len(days) <= 6
    short = replace(COURSE, times=tuple(FIRST + timedelta(minutes=at) for at in (0, 1, 9)))
    assert "2026-01-01 00:00 to 2026-01-01 00:09" in texts(burn_down(short, "p", WIDE))


@pytest.mark.parametrize(
    "wrong",
    [
        replace(COURSE, times=TIMES[::-1]),
        replace(COURSE, tiers=(Left("public", (1.0, 0.5)),)),
        replace(COURSE, tiers=(Left("public", (1.0, 0.5, None)),)),
        replace(COURSE, tiers=(Left("public", (1.0, 0.5, 1.5)),)),
        replace(COURSE, tiers=(Left("public", (1.0, 0.5, float("nan"))),)),
    ],
)
def test_what_is_no_course_of_a_budget_is_refused(wrong: BurnDown) -> None:
    with pytest.raises(NotDrawable):
        burn_down(wrong, "p")
