"""The first page's picture: together people know what the best informed knows."""

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
    found = (
        Release("public", "pia", around(1342, 62.2), 0.5),
        Release("restricted", "rosa", around(1316, 15.6), 2.0),
        Release("partner", "paul", around(1331, 31.2), 1.0),
    )
    svg = story(Story("t", "people", found, 2.0, 2.69), "p", width)
    drawn = whiskers(svg)
    meant = [found[place].interval for place in (1, 2, 0, 1)]
    said = [end for one in meant for end in (one.lower, one.upper)]
    straight([end for ends in drawn for end in ends], said)
    assert texts(svg).index("restricted") < texts(svg).index("partner") < texts(svg).index("public")
    assert "as restricted alone" in texts(svg)
