"""Show one run of the demo on the start page, as it was released.

The example is the same on every server and contains no data of the server that shows it,
since the start page is public.  The data are public and the numbers were released: all of them
include noise, and the exact number appears nowhere.
"""

from functools import cache
from typing import Final

from penstock.web.charts import story
from penstock.web.charts.drawing.values import Interval
from penstock.web.presenters.figure import Picture, picture


def _released(
    tier: str, reader: str, value: float, half_width: float, epsilon: float
) -> story.Release:
    interval = Interval(value, value - half_width, value + half_width)
    return story.Release(tier, reader, interval, epsilon)


EXAMPLE: Final = story.Story(
    title="One number, released to four tiers",
    quantity="number of people, of 5,912, who went to hospital",
    releases=(
        _released("public", "pia", 1379.7710418701172, 15.796066284179688, 0.4998838387977197),
        _released("partner", "paul", 1391.259994506836, 8.281539916992188, 0.9998272914852209),
        _released("internal", "ines", 1396.9876098632812, 5.6922454833984375, 1.499887122822142),
        _released("restricted", "rosa", 1397.2617797851562, 4.3716583251953125, 1.9999994807810482),
    ),
    together=2.0013943324367265,
    independent=2.8867578444772395,
)


@cache
def example() -> Picture:
    """Return the picture; it is drawn once per process."""
    return picture(story.story, story.rows, EXAMPLE, "story")
