"""Test lines over steps: their whiskers, their colors, and what is grey."""

import re

import pytest
from tests.web.charts.pictures import (
    corners,
    grid,
    level,
    parsed,
    points,
    sentences,
    straight,
    texts,
    whiskers,
)

from penstock.web.charts.crossed.series import MOST_GREY, MOST_WHISKERS, lines_over_steps
from penstock.web.charts.drawing.marks import SERIES
from penstock.web.charts.drawing.svg import NARROW, WIDE

YEARS = ("2019", "2020", "2022")


def lines(svg: str, classes: str) -> list[str]:
    """Return the lines of groups whose class matches a pattern."""
    return [
        part.get("d", "")
        for each in parsed(svg).iter()
        if re.fullmatch(classes, each.get("class", ""))
        for part in each
        if part.get("class") == "line"
    ]


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_whiskers_cover_what_they_say_and_years_are_as_far_apart_as_they_are(width: int) -> None:
    own = level("a", [300, 310, 390, -20, 5, 10], 25)
    svg = lines_over_steps(grid(("x", "y"), YEARS, (own,)), "p", width)
    drawn = [end for ends in whiskers(svg, across=1) for end in reversed(ends)]
    # The line with the smaller values is drawn first.
    expected = [end for i in (*own.intervals[3:], *own.intervals[:3]) for end in (i.lower, i.upper)]
    straight(drawn, expected)
    for line in lines(svg, r"s\d"):
        straight([x for x, _ in points(line)], [2019, 2020, 2022])
    marks = [e for e in parsed(svg).iter() if e.get("class") == "mark"]
    assert all(len(list(corners(mark))) for mark in marks)
    assert {"x", "y", *YEARS} <= set(texts(svg))


def test_at_most_eight_lines_have_colors_and_the_others_are_grey_and_not_added_up() -> None:
    names = tuple(f"plan {place}" for place in range(30))
    values = [float(100 * place + year) for place in range(30) for year in range(3)]
    svg = lines_over_steps(grid(names, YEARS, (level("a", values, 7),)), "p", WIDE)
    assert len(lines(svg, r"s\d")) == SERIES == 8
    assert len(lines(svg, "rest")) == 22
    assert {f"plan {place}" for place in range(22, 30)} <= set(texts(svg))
    assert not {f"plan {place}" for place in range(22)} & set(texts(svg))
    assert "22 others" in texts(svg)
    said = " ".join(texts(svg))
    assert "The 8 with the largest values are in color; the 22 others are grey," in said
    assert "within ± 7 at most" in said
    total = sum(values[: 3 * 22 : 3])
    assert f"{total:,.0f}" not in " ".join((said, *sentences(svg)))


def test_eight_lines_have_no_others() -> None:
    names = tuple(f"plan {place}" for place in range(8))
    values = [float(place) for place in range(24)]
    svg = lines_over_steps(grid(names, YEARS, (level("a", values, 7.5),)), "p", WIDE)
    assert len({line for n in range(8) for line in lines(svg, f"s{n}")}) == 8
    assert not lines(svg, "rest")
    assert "other" not in " ".join(texts(svg))


def test_of_very_many_lines_some_are_in_the_table_alone() -> None:
    count = SERIES + MOST_GREY + 5
    names = tuple(f"plan {place}" for place in range(count))
    own = level("a", [float(place) for place in range(3 * count)], 7.5)
    svg = lines_over_steps(grid(names, YEARS, (own,)), "p", WIDE)
    said = " ".join(texts(svg))
    assert len(lines(svg, "rest")) == MOST_GREY
    assert f"{MOST_GREY} of the {MOST_GREY + 5} others are grey" in said
    assert f"15 of {3 * count} groups are not shown here" in said


def test_many_steps_have_bands_in_place_of_whiskers() -> None:
    ages = tuple(str(age) for age in range(MOST_WHISKERS + 1))
    values = [float(place) for place in range(2 * len(ages))]
    svg = lines_over_steps(grid(("x", "y"), ages, (level("a", values, 4),)), "p", NARROW)
    bands = [e.get("d", "") for e in parsed(svg).iter() if e.get("class") == "band"]
    assert (len(bands), whiskers(svg)) == (2, [])
    # The line with the smaller values is drawn first.
    ends = [y for _, y in points(bands[0])]
    drawn = [*ends[: len(ages)], *reversed(ends[len(ages) : 2 * len(ages)])]
    straight(drawn, [own + half for half in (4, -4) for own in values[: len(ages)]])
