"""Draw the running totals of a stream, or the values of its steps, at some levels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..band import Stream, line_with_band, rows
from ..drawing.messages import last_message
from ..drawing.values import Interval, Level
from .drawings import Drawing, Names

MOST_STEPS = 200
"""Number of steps shown of a longer range, at equal distances."""

MOST_NUMBERS = 6
"""Number of charts for elements of more numbers: the first ones."""

TOTALS, VALUES = "total after step", "value at step"
"""What a sentence calls the number of the last step."""


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
    names: Names,
    steps: tuple[int, ...],
    levels: tuple[Level, ...],
    confidence: float,
    what: str = TOTALS,
    remark: str = "",
) -> Drawing:
    """Draw one number for each step at each level, the most accurate first."""
    content = Stream(names.title, steps, levels, confidence=confidence)
    sentence = last_message(names.subject, f"{what} {steps[-1]:,}", levels)
    return Drawing(
        partial(line_with_band, replace(content, title=sentence)), rows(content), sentence, remark
    )
