"""Draw the values of a stream's steps above its running totals, at some levels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from ..band import Stream
from ..drawing.messages import last_message
from ..drawing.values import Interval, Level
from ..over_time.two_panels import Panels, rows, values_and_totals
from .drawings import Drawing, Names

MOST_STEPS = 200
"""Number of steps shown of a longer range, at equal distances."""

MOST_NUMBERS = 6
"""Number of charts for elements of more numbers: the first ones."""


@dataclass(frozen=True)
class Numbers:
    """Hold one number for each of some steps, at each level, the most accurate first.

    ``days`` are those of the steps, in UTC, where they are known.
    """

    steps: tuple[int, ...] = ()
    levels: tuple[Level, ...] = ()
    days: tuple[date, ...] = ()


def level_of(tier: str, values: Sequence[float], half_widths: Sequence[float]) -> Level:
    """Return the numbers of a tier, one for each step, with how far each is off."""
    pairs = zip(values, half_widths, strict=True)
    return Level(tier, tuple(Interval(value, value - half, value + half) for value, half in pairs))


def places_of(count: int) -> list[int]:
    """Return which of ``count`` steps are shown, from 0: all, or some at equal distances."""
    shown = min(count, MOST_STEPS)
    if shown == count:
        return list(range(count))
    return sorted({round(place * (count - 1) / (shown - 1)) for place in range(shown)})


def remarks_of(shown: int, count: int, dimension: int) -> list[str]:
    """Return sentences on what is left out of the steps, and of the numbers of an element."""
    remarks = []
    if shown < count:
        remarks.append(f"{shown} of {count:,} steps are shown; choose a shorter range for all.")
    if dimension > MOST_NUMBERS:
        remarks.append(f"The first {MOST_NUMBERS} of {dimension:,} numbers are shown.")
    return remarks


def suffix_of(number: int, dimension: int, labels: Mapping[str, str]) -> str:
    """Return which number of an element a chart shows, by its label if it has one."""
    code = str(number + 1)
    label = labels.get(code)
    if dimension == 1 and label is None:
        return ""
    return f", number {code}" if label is None else f", {label} (number {code})"


def by_step(
    names: Names, values: Numbers, totals: Numbers, confidence: float, remark: str = ""
) -> Drawing:
    """Draw the value of each step, and the running totals below, at levels that both have.

    ``values`` lacks the first step of a range that begins later, and has none where only totals
    are known.
    """
    sums = Stream(
        names.title,
        totals.steps,
        totals.levels,
        _quantity("running total", names.unit),
        confidence=confidence,
        days=totals.days,
    )
    each = replace(
        sums,
        steps=values.steps,
        days=values.days,
        levels=values.levels if values.steps else (),
        quantity=_quantity("value by step", names.unit),
    )
    at = f"total after {sums.name_of(-1)}"
    sentence = last_message(names.subject, at, totals.levels)
    content = Panels(names.title, each, sums)
    return Drawing(
        partial(values_and_totals, replace(content, title=sentence)),
        rows(content),
        sentence,
        remark,
    )


def _quantity(what: str, unit: str) -> str:
    return f"{what} in {unit}" if unit else what
