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
        _released("public", "pia", 1395.7218475341797, 15.796066284179688, 0.4998839662036666),
        _released("partner", "paul", 1397.4601745605469, 8.281539916992188, 0.999827548097511),
        _released("internal", "ines", 1396.2065124511719, 5.6922454833984375, 1.499887510760658),
        _released("restricted", "rosa", 1394.0516815185547, 4.3737945556640625, 1.9989302754666802),
    ),
    together=2.000324470555338,
    independent=2.88595463703732,
)


@cache
def example() -> Picture:
    """Return the picture; it is drawn once per process."""
    return picture(story.story, story.rows, EXAMPLE, "story")
