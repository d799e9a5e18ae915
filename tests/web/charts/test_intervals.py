"""Test that dots and whiskers lie where their intervals are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.web.charts.pictures import (
    SVG,
    corners,
    level,
    parsed,
    size,
    straight,
    texts,
    whiskers,
)

from penstock.web.charts.band import Stream, line_with_band
from penstock.web.charts.drawing.svg import NARROW, WIDE
from penstock.web.charts.drawing.values import Interval, Level
from penstock.web.charts.intervals import MOST_LINES, Groups, dots_with_whiskers
from penstock.web.charts.ranked import Ranking, ranked_list
from penstock.web.charts.story import Release, Story, story

NUMBERS = st.one_of(st.floats(-1e300, 1e300), st.integers(-1000, 1000).map(float))


INTERVALS = st.tuples(NUMBERS, NUMBERS, NUMBERS).map(
    lambda numbers: Interval(sorted(numbers)[1], min(numbers), max(numbers))
)


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_dots_and_whiskers_cover_what_they_say(width: int) -> None:
    first = level("a", [5000, -3000, 1800], 310)
    second = level("b", [4900, -3100, 1750], 30)
    svg = dots_with_whiskers(Groups("t", ("x", "y", "z"), (first, second)), "p", width)
    expected = [pair[n] for n in range(3) for pair in (first.intervals, second.intervals)]
    drawn = whiskers(svg)
    straight(
        [end for ends in drawn for end in ends], [e for i in expected for e in (i.lower, i.upper)]
    )
    dots = [[x for x, _ in corners(e)] for e in parsed(svg).iter() if e.get("class") == "mark"]
    straight([(min(dot) + max(dot)) / 2 for dot in dots], [interval.value for interval in expected])


def test_an_axis_without_zero_says_so_and_no_value_is_a_bar() -> None:
    far = dots_with_whiskers(Groups("t", ("x",), (level("a", [1316], 16),)), "p")
    assert "Zero is not on this axis." in texts(far)
    near = dots_with_whiskers(Groups("t", ("x",), (level("a", [16], 16),)), "p")
    assert "Zero is not on this axis." not in texts(near)
    assert 'class="bar"' not in far + near


@settings(max_examples=60, deadline=None)
@given(st.lists(INTERVALS, min_size=1, max_size=5), st.sampled_from([NARROW, WIDE]))
def test_no_numbers_drive_a_mark_out_of_the_picture(intervals: list[Interval], width: int) -> None:
    keys = tuple(f"key {place}" for place in range(len(intervals)))
    released = Level("a", tuple(intervals))
    releases = tuple(
        Release(key, "r", interval, 1) for key, interval in zip(keys, intervals, strict=True)
    )
    pictures = (
        dots_with_whiskers(Groups("t", keys, (released,)), "p", width),
        ranked_list(Ranking("t", keys, released), "p", width),
        line_with_band(Stream("t", tuple(range(len(intervals))), (released,)), "p", width),
        story(Story("t", "q", releases, 1, 2), "p", width),
    )
    for svg in pictures:
        wide, high = size(svg)
        for element in parsed(svg).iter():
            if element.tag != f"{SVG}text":
                assert all(-1 <= x <= wide + 1 for x, _ in corners(element))
                assert all(-1 <= y <= high + 1 for _, y in corners(element))


def test_a_thousand_groups_are_shortened_and_said_to_be() -> None:
    keys = tuple(f"group {place}" for place in range(1000))
    released = level("a", [float(place) for place in range(1000)], 5)
    svg = dots_with_whiskers(Groups("t", keys, (released,)), "p", WIDE)
    assert len(whiskers(svg)) == MOST_LINES
    assert "940 of 1,000 groups are not shown here; the table has all." in texts(svg)
    four = dots_with_whiskers(
        Groups("t", keys, (released, released, released, released)), "p", WIDE
    )
    assert len(whiskers(four)) == MOST_LINES
    largest = ranked_list(Ranking("t", keys, released), "p", WIDE)
    assert "1. group 999" in texts(largest)
    assert any("960 are not shown here" in line for line in texts(largest))
    first = Groups("t", keys[:5], (level("a", [1, 2, 3, 4, 5], 1),), total=70)
    assert "65 of 70 groups are not shown here; the table has 5 of them." in texts(
        dots_with_whiskers(first, "p", WIDE)
    )
    few = Ranking("t", keys[:5], level("a", [1, 2, 3, 4, 5], 1), total=6)
    note = "The 5 largest of 6 keys; 1 is not shown here, the table has 5 of them."
    assert note in texts(ranked_list(few, "p", WIDE))
