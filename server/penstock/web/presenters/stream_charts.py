"""Present a range of a stream's running totals as charts with their tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict

from penstock.errors import InvalidInput
from penstock.services.noise.derived.elements import Elements
from penstock.services.schemas.streams import RunningTotalsView
from penstock.web.charts.drawing.values import Level
from penstock.web.charts.results.drawings import Names
from penstock.web.charts.results.totals import (
    MOST_NUMBERS,
    VALUES,
    by_step,
    level_of,
    places_of,
    remarks_of,
    suffix_of,
)
from penstock.web.presenters.figure import Picture, pictured

NO_LABELS: Mapping[str, str] = {}


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


def pictures(
    levels: Sequence[RunningTotalsView], title: str = "", labels: Mapping[str, str] = NO_LABELS
) -> list[Picture]:
    """Return one picture for each number of an element, up to ``MOST_NUMBERS``.

    Levels over different ranges of steps have separate pictures.  ``title`` stands in place of the
    stream's name, if it has one, and ``labels`` beside the numbers of an element, by these from 1.
    """
    together: dict[tuple[int, int], list[RunningTotalsView]] = {}
    for totals in levels:
        together.setdefault((totals.items[0].t, totals.items[-1].t), []).append(totals)
    return [
        made
        for place, same_range in enumerate(together.values())
        for made in _side_by_side(same_range, title, labels, f"totals{place}")
    ]


def element_pictures(
    stream: str, levels: Sequence[Elements], labels: Mapping[str, str] = NO_LABELS
) -> list[Picture]:
    """Return one picture for each number of an element, up to ``MOST_NUMBERS``, without totals.

    Levels over different steps have separate pictures.
    """
    together: dict[tuple[int, ...], list[Elements]] = {}
    for level in levels:
        if level.items:
            together.setdefault(tuple(item.step for item in level.items), []).append(level)
    return [
        made
        for place, (steps, same) in enumerate(together.items())
        for made in _of_elements(stream, steps, same, labels, f"elements{place}")
    ]


def _of_elements(
    stream: str,
    steps: tuple[int, ...],
    levels: Sequence[Elements],
    labels: Mapping[str, str],
    prefix: str,
) -> Iterator[Picture]:
    """Yield the pictures of levels over the same steps."""
    dimension = levels[0].items[0].values.size
    remark = " ".join(remarks_of(len(steps), steps[-1] - steps[0] + 1, dimension))
    for number in range(min(dimension, MOST_NUMBERS)):
        suffix = suffix_of(number, dimension, labels)
        names = Names(f"{stream}: value of each step{suffix}", f"{stream}{suffix}")
        numbers = tuple(_values_of(level, number) for level in levels)
        drawn = by_step(names, steps, numbers, levels[0].confidence, VALUES, remark)
        yield pictured(drawn, f"{prefix}-{number}")


def _values_of(level: Elements, number: int) -> Level:
    values = [float(item.values[number]) for item in level.items]
    return level_of(level.tier, values, [item.half_width for item in level.items])


def _side_by_side(
    levels: Sequence[RunningTotalsView], title: str, labels: Mapping[str, str], prefix: str
) -> Iterator[Picture]:
    """Yield the pictures of levels over one range."""
    first, dimension = levels[0], levels[0].items[0].values.size
    count = len(first.items)
    places = places_of(count)
    remark = " ".join(remarks_of(len(places), count, dimension))
    for number in range(min(dimension, MOST_NUMBERS)):
        suffix = suffix_of(number, dimension, labels)
        names = Names(f"{first.stream}: running totals{suffix}", f"{title or first.stream}{suffix}")
        steps = tuple(first.items[place].t for place in places)
        numbers = tuple(_level(totals, places, number) for totals in levels)
        confidence = first.items[0].error.confidence
        drawn = by_step(names, steps, numbers, confidence, remark=remark)
        yield pictured(drawn, f"{prefix}-{number}")


def _level(running_totals: RunningTotalsView, places: Sequence[int], number: int) -> Level:
    items = [running_totals.items[place] for place in places]
    values = [float(item.values[number]) for item in items]
    return level_of(running_totals.tier, values, [item.error.half_width for item in items])


def _step(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):
        raise InvalidInput(f"{name} must be the number of a step, from 1.", pointer=f"/{name}")
    return int(text)
