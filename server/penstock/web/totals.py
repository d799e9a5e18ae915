"""A range of a stream's running totals, as charts and tables take it."""

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from penstock.errors import InvalidInput
from penstock.services.stream_views import RunningTotalsView
from penstock.web.charts import band
from penstock.web.charts.values import Interval, Level
from penstock.web.pictures import Picture, picture

MOST_STEPS = 200
"""Of longer ranges so many steps are shown, at equal distances."""

MOST_NUMBERS = 6
"""Of elements of more numbers the first ones are shown."""


class Wanted(TypedDict):
    """Which range is asked for."""

    first: int | None
    last: int | None
    tier: str | None


def wanted(given: Mapping[str, str]) -> Wanted:
    """The range and tier that a form asks for.  Raises ``InvalidInput``."""
    return Wanted(
        first=_step(given, "from"), last=_step(given, "to"), tier=given.get("tier") or None
    )


def pictures(found: RunningTotalsView) -> list[Picture]:
    """One picture for each number that is counted, up to ``MOST_NUMBERS``."""
    count = len(found.items)
    places = np.unique(np.linspace(0, count - 1, min(count, MOST_STEPS)).round().astype(int))
    items = [found.items[int(place)] for place in places]
    dimension = items[0].values.size
    remarks = []
    if len(items) < count:
        remarks.append(f"{len(items)} of {count:,} steps; ask for a shorter range to see each.")
    if dimension > MOST_NUMBERS:
        remarks.append(f"The first {MOST_NUMBERS} of {dimension:,} numbers.")
    made = []
    for number in range(min(dimension, MOST_NUMBERS)):
        behind = f", number {number + 1}" if dimension > 1 else ""
        totals = [(float(item.values[number]), item.error.half_width) for item in items]
        level = Level(
            found.tier, tuple(Interval(one, one - half, one + half) for one, half in totals)
        )
        content = band.Stream(
            f"{found.stream}: running totals{behind}",
            tuple(item.t for item in items),
            (level,),
            confidence=items[0].error.confidence,
        )
        made.append(
            picture(band.line_with_band, band.rows, content, f"totals{number}", " ".join(remarks))
        )
    return made


def _step(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):
        raise InvalidInput(f"{name} is the number of a step, from 1.", pointer=f"/{name}")
    return int(text)
