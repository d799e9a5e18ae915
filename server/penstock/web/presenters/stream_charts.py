"""A range of a stream's running totals, as charts and tables take it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.services.schemas.streams import RunningTotalsView
from penstock.web.charts import band
from penstock.web.charts.drawing.values import Interval, Level
from penstock.web.presenters.figure import Picture, picture

MOST_STEPS = 200
"""Of longer ranges so many steps are shown, at equal distances."""

MOST_NUMBERS = 6
"""Of elements of more numbers the first ones are shown."""


class Wanted(TypedDict):
    """Which range is asked for."""

    first: int | None
    last: int | None


def wanted(given: Mapping[str, str]) -> Wanted:
    """The range that a form asks for.  Raises ``InvalidInput``."""
    return Wanted(first=_step(given, "from"), last=_step(given, "to"))


def tiers(chosen: Iterable[str], offered: Sequence[str]) -> list[str | None]:
    """The tiers whose levels are read, of those ``offered``, the most trusted last.

    What is not offered comes first, to be refused before anything is read; of nobody's
    choice it is the caller's own.
    """
    names = list(dict.fromkeys(name for name in chosen if name))
    others = [name for name in names if name not in offered]
    return [*others, *(name for name in reversed(offered) if name in names)] or [None]


def pictures(running_totalses: Sequence[RunningTotalsView]) -> list[Picture]:
    """One picture for each number that is counted, up to ``MOST_NUMBERS``.

    Levels that begin at other steps have pictures of their own.
    """
    together: dict[tuple[int, int], list[RunningTotalsView]] = {}
    for totalse in running_totalses:
        together.setdefault((totalse.items[0].t, totalse.items[-1].t), []).append(totalse)
    return [
        made
        for place, levels in enumerate(together.values())
        for made in _side_by_side(levels, f"totals{place}")
    ]


def _side_by_side(running_totalses: Sequence[RunningTotalsView], prefix: str) -> Iterator[Picture]:
    """The levels of one range."""
    first, dimension = running_totalses[0], running_totalses[0].items[0].values.size
    count = len(first.items)
    places = np.unique(np.linspace(0, count - 1, min(count, MOST_STEPS)).round().astype(int))
    remarks = []
    if len(places) < count:
        remarks.append(f"{len(places)} of {count:,} steps; ask for a shorter range to see each.")
    if dimension > MOST_NUMBERS:
        remarks.append(f"The first {MOST_NUMBERS} of {dimension:,} numbers.")
    for number in range(min(dimension, MOST_NUMBERS)):
        suffix = f", number {number + 1}" if dimension > 1 else ""
        content = band.Stream(
            f"{first.stream}: running totals{suffix}",
            tuple(first.items[int(place)].t for place in places),
            tuple(_level(totalse, places, number) for totalse in running_totalses),
            confidence=first.items[0].error.confidence,
        )
        yield picture(
            band.line_with_band, band.rows, content, f"{prefix}-{number}", " ".join(remarks)
        )


def _level(running_totals: RunningTotalsView, places: NDArray[np.int_], number: int) -> Level:
    items = (running_totals.items[int(place)] for place in places)
    totals = ((float(item.values[number]), item.error.half_width) for item in items)
    return Level(
        running_totals.tier,
        tuple(Interval(total, total - half, total + half) for total, half in totals),
    )


def _step(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):
        raise InvalidInput(f"{name} is the number of a step, from 1.", pointer=f"/{name}")
    return int(text)
