"""Test that a ranking begins with the largest."""

import re

from tests.web.charts.pictures import (
    level,
    straight,
    texts,
    whiskers,
)

from penstock.web.charts.ranked import Ranking, ranked_list


def test_a_ranking_begins_with_the_largest() -> None:
    released = level("a", [3, -8, 12, 5], 1)
    svg = ranked_list(Ranking("t", ("x", "y", "z", "w"), released), "p")
    expected = sorted(released.intervals, key=lambda interval: -interval.value)
    expected_ends = [end for interval in expected for end in (interval.lower, interval.upper)]
    straight([end for ends in whiskers(svg) for end in ends], expected_ends)
    assert [text for text in texts(svg) if re.match(r"\d\. ", text)] == [
        "1. z",
        "2. w",
        "3. x",
        "4. y",
    ]
