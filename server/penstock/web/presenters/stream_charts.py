"""Present a range of a stream's running totals as charts with their tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.services.noise.derived.elements import Elements
from penstock.services.schemas.streams import RunningTotalsView
from penstock.web.charts import band
from penstock.web.charts.drawing.messages import last_message
from penstock.web.charts.drawing.values import Interval, Level
from penstock.web.presenters.figure import Picture, picture

MOST_STEPS = 200
"""Number of steps shown of a longer range, at equal distances."""

MOST_NUMBERS = 6
"""Number of charts for elements of more numbers: the first ones."""


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
    count, remarks = steps[-1] - steps[0] + 1, []
    if len(steps) < count:
        remarks.append(
            f"{len(steps)} of {count:,} steps are shown; choose a shorter range for all."
        )
    if dimension > MOST_NUMBERS:
        remarks.append(f"The first {MOST_NUMBERS} of {dimension:,} numbers are shown.")
    for number in range(min(dimension, MOST_NUMBERS)):
        suffix = _numbered(number, dimension, labels)
        content = band.Stream(
            f"{stream}: value of each step{suffix}",
            steps,
            tuple(_values_of(level, number) for level in levels),
            confidence=levels[0].confidence,
        )
        yield _titled(content, f"{stream}{suffix}", "value at step", f"{prefix}-{number}", remarks)


def _numbered(number: int, dimension: int, labels: Mapping[str, str]) -> str:
    """Return which number of an element a picture shows, by its label if it has one."""
    code = str(number + 1)
    label = labels.get(code)
    if dimension == 1 and label is None:
        return ""
    return f", number {code}" if label is None else f", {label} (number {code})"


def _values_of(level: Elements, number: int) -> Level:
    pairs = ((float(item.values[number]), item.half_width) for item in level.items)
    return Level(
        level.tier, tuple(Interval(value, value - half, value + half) for value, half in pairs)
    )


def _side_by_side(
    levels: Sequence[RunningTotalsView], title: str, labels: Mapping[str, str], prefix: str
) -> Iterator[Picture]:
    """Yield the pictures of levels over one range."""
    first, dimension = levels[0], levels[0].items[0].values.size
    count = len(first.items)
    places = np.unique(np.linspace(0, count - 1, min(count, MOST_STEPS)).round().astype(int))
    remarks = []
    if len(places) < count:
        remarks.append(
            f"{len(places)} of {count:,} steps are shown; choose a shorter range for all."
        )
    if dimension > MOST_NUMBERS:
        remarks.append(f"The first {MOST_NUMBERS} of {dimension:,} numbers are shown.")
    for number in range(min(dimension, MOST_NUMBERS)):
        suffix = _numbered(number, dimension, labels)
        content = band.Stream(
            f"{first.stream}: running totals{suffix}",
            tuple(first.items[int(place)].t for place in places),
            tuple(_level(totals, places, number) for totals in levels),
            confidence=first.items[0].error.confidence,
        )
        subject = f"{title or first.stream}{suffix}"
        yield _titled(content, subject, "total after step", f"{prefix}-{number}", remarks)


def _titled(
    content: band.Stream, subject: str, step: str, prefix: str, remarks: Sequence[str]
) -> Picture:
    """Return the picture under the sentence of its last step."""
    sentence = last_message(subject, f"{step} {content.steps[-1]:,}", content.levels)
    titled = replace(content, title=sentence)
    drawn = picture(band.line_with_band, band.rows, titled, prefix, " ".join(remarks), sentence)
    return replace(drawn, table=replace(drawn.table, caption=content.title))


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
        raise InvalidInput(f"{name} must be the number of a step, from 1.", pointer=f"/{name}")
    return int(text)
