"""Test the front page's picture: all releases together reveal what the most accurate one does."""

import pytest
from tests.web.charts.pictures import (
    around,
    straight,
    texts,
    whiskers,
)

from penstock.web.charts.drawing.svg import NARROW, WIDE
from penstock.web.charts.story import Release, Story, story


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_all_together_know_what_the_best_informed_tier_knows_alone(width: int) -> None:
    releases = (
        Release("public", "pia", around(1342, 62.2), 0.5),
        Release("restricted", "rosa", around(1316, 15.6), 2.0),
        Release("partner", "paul", around(1331, 31.2), 1.0),
    )
    svg = story(Story("t", "people", releases, 2.0, 2.69), "p", width)
    drawn = whiskers(svg)
    expected = [releases[place].interval for place in (1, 2, 0, 1)]
    expected_ends = [end for interval in expected for end in (interval.lower, interval.upper)]
    straight([end for ends in drawn for end in ends], expected_ends)
    assert texts(svg).index("restricted") < texts(svg).index("partner") < texts(svg).index("public")
    assert "as restricted alone" in texts(svg)
