"""Present a range of a stream as charts with their tables: values of steps, and running totals."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypedDict

from penstock.errors import InvalidInput
from penstock.services.noise.derived.elements import Elements, elements
from penstock.services.schemas.streams import RunningTotalsView
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.web.charts.drawing.values import Level
from penstock.web.charts.results.drawings import Names
from penstock.web.charts.results.totals import (
    MOST_NUMBERS,
    Numbers,
    by_step,
    level_of,
    places_of,
    remarks_of,
    suffix_of,
)
from penstock.web.presenters.figure import Picture, pictured
from penstock.web.presenters.release_charts import PLAIN

LONGEST_STEP = 16

Both = tuple[RunningTotalsView, Elements]
"""The totals of a level, and the values of steps that follow from them."""


class StepRange(TypedDict):
    """Hold the requested range of steps; None for the first or the last there is."""

    first: int | None
    last: int | None


def step_range(given: Mapping[str, str]) -> StepRange:
    """Return the range that a form requests.  Raises ``InvalidInput``."""
    return StepRange(first=_step(given, "from"), last=_step(given, "to"))


def tiers(chosen: Iterable[str], visible: Sequence[str]) -> list[str | None]:
    """Return the tiers to read, the most trusted of those ``visible`` first.

    Chosen tiers that are not visible come before all, so that they are refused before anything
    is read.  None stands for the caller's own tier, if nothing was chosen.
    """
    names = list(dict.fromkeys(name for name in chosen if name))
    others = [name for name in names if name not in visible]
    return [*others, *(name for name in reversed(visible) if name in names)] or [None]


def values_of(totals: RunningTotalsView, length: int | None) -> Elements:
    """Return the values of the steps that are shown of a range, without a charge."""
    return elements(totals, length, places_of(len(totals.items)))


@dataclass(frozen=True)
class StreamPicture:
    """Hold the picture of one number of an element, counted from 1, at levels of some tiers."""

    picture: Picture
    number: int
    tiers: tuple[str, ...]


def pictures(
    levels: Sequence[RunningTotalsView],
    values: Sequence[Elements],
    wording: StatisticWordingView = PLAIN,
) -> list[StreamPicture]:
    """Return one picture for each number of an element, up to ``MOST_NUMBERS``.

    ``values`` has the values of steps at each level.  Levels over different ranges of steps have
    separate pictures.  ``wording`` has the stream's title and unit, and labels of the numbers of an
    element, by these from 1.
    """
    together: dict[tuple[int, int], list[Both]] = {}
    for totals, steps in zip(levels, values, strict=True):
        together.setdefault((totals.items[0].t, totals.items[-1].t), []).append((totals, steps))
    return [
        made
        for place, same_range in enumerate(together.values())
        for made in _side_by_side(same_range, wording, f"totals{place}")
    ]


def number_in(text: str, dimension: int) -> int:
    """Return which number of an element an address chose, from 0; it counts them from 1.

    Raises ``InvalidInput`` if there is no chart of that number.
    """
    count = min(dimension, MOST_NUMBERS)
    known = text.isascii() and text.isdigit() and len(text) < LONGEST_STEP
    if text and not (known and 1 <= int(text) <= count):
        raise InvalidInput(f"A chart is a number from 1 to {count:,}.", pointer="/number")
    return int(text or 1) - 1


def _side_by_side(
    levels: Sequence[Both], wording: StatisticWordingView, prefix: str
) -> Iterator[StreamPicture]:
    """Yield the pictures of levels over one range."""
    (first, values), *_ = levels
    dimension, count = first.items[0].values.size, len(first.items)
    places = places_of(count)
    remark = " ".join(remarks_of(len(places), count, dimension))
    steps = tuple(first.items[place].t for place in places)
    own = tuple(item.step for item in values.items)
    for number in range(min(dimension, MOST_NUMBERS)):
        suffix = suffix_of(number, dimension, wording.shown_labels)
        names = Names(
            f"{first.stream}: running totals{suffix}",
            f"{wording.title or first.stream}{suffix}",
            wording.unit,
        )
        drawn = by_step(
            names,
            Numbers(own, tuple(_values(each, number) for _, each in levels), _days(first, own)),
            Numbers(
                steps,
                tuple(_totals(each, places, number) for each, _ in levels),
                _days(first, steps),
            ),
            first.items[0].error.confidence,
            remark,
        )
        tiers = tuple(each.tier for each, _ in levels)
        yield StreamPicture(pictured(drawn, f"{prefix}-{number}"), number + 1, tiers)


def _days(running_totals: RunningTotalsView, steps: Sequence[int]) -> tuple[date, ...]:
    """Return the days of steps, none where they are not known."""
    first, days = running_totals.items[0].t, running_totals.days
    return () if days is None else tuple(days[step - first] for step in steps)


def _values(level: Elements, number: int) -> Level:
    values = [float(item.values[number]) for item in level.items]
    return level_of(level.tier, values, [item.half_width for item in level.items])


def _totals(running_totals: RunningTotalsView, places: Sequence[int], number: int) -> Level:
    items = [running_totals.items[place] for place in places]
    values = [float(item.values[number]) for item in items]
    return level_of(running_totals.tier, values, [item.error.half_width for item in items])


def _step(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < LONGEST_STEP and int(text)):
        raise InvalidInput(f"{name} must be the number of a step, from 1.", pointer=f"/{name}")
    return int(text)
