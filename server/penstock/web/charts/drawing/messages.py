"""Write the sentence that a chart shows, from the numbers that it draws.

It says what was released, each number with its margin: never that one is truly larger than
another, which the noise may not allow.
"""

import math
from collections.abc import Sequence

from ....figures import percent
from .lettering import fitted
from .numbers import digits_of
from .svg import isolated, words
from .values import Interval, Level

MOST_LEVELS = 3
ROOM = 240.0
"""Width of the longest name of a group in a sentence."""

UNEQUAL = 1e-6
"""Share of an interval by which its halves differ if it is more than rounding."""


def message(subject: str, keys: Sequence[str], levels: Sequence[Level], total: int = 0) -> str:
    """Return the sentence of values at some levels, the most accurate first.

    Of one group it has the value at each level; of several the smallest and the largest value at
    the first level.  ``total`` is the number of all groups if these are only some.  Without
    values it is the subject.
    """
    if not keys or not levels:
        return words(isolated(subject))
    some = f", {len(keys):,} of {total:,} groups" if total > len(keys) else ""
    if len(keys) > 1 or some:
        return words(f"{isolated(subject)}{at_level(levels[0])}{some}: {extremes(keys, levels[0])}")
    return words(f"{isolated(subject)}: {_at_levels(levels, 0)}")


def last_message(subject: str, step: str, levels: Sequence[Level]) -> str:
    """Return the sentence of a stream: its value at the last step, at each level."""
    if not levels or not levels[0].intervals:
        return words(isolated(subject))
    return words(f"{isolated(subject)}, {step}: {_at_levels(levels, -1)}")


def share_message(subject: str, level: str, share: float, interval: Interval) -> str:
    """Return the sentence of a distribution: a quantile, of which a share of the rows is below."""
    part = "half" if math.isclose(share, 0.5) else percent(share)
    named = Level(level, (interval,))
    return words(f"{isolated(subject)}{at_level(named)}: {part} are below {with_margin(interval)}")


def with_margin(interval: Interval) -> str:
    """Return a value with its margin, or with its interval if that is not symmetric."""
    digits = digits_of([interval])
    below, above = interval.value - interval.lower, interval.upper - interval.value
    if not math.isclose(below, above, rel_tol=UNEQUAL, abs_tol=UNEQUAL * abs(interval.value)):
        return f"{digits.write(interval.value)} ({digits.range(interval)})"
    return f"{digits.write(interval.value)} {margin_of(interval)}"


def margin_of(interval: Interval) -> str:
    """Return half the width of an interval, with its sign."""
    digits = digits_of([interval])
    # Rounded up: a sentence promises no smaller margin than there is.
    margin = interval.half_width
    if not digits.significant:
        unit = 10.0**-digits.decimals
        margin = math.ceil(margin / unit - UNEQUAL) * unit
    return f"± {digits.write(margin)}"


def _at_levels(levels: Sequence[Level], place: int) -> str:
    """Return the value of one place at each level, of many levels at the first ones."""
    written = [
        f"{with_margin(level.intervals[place])}{at_level(level)}" for level in levels[:MOST_LEVELS]
    ]
    left = len(levels) - len(written)
    return f"{', '.join(written)}{f' and {left} more' if left else ''}"


def extremes(keys: Sequence[str], level: Level) -> str:
    """Return the smallest and the largest value of a level, with the names of their groups."""
    places = sorted(range(len(keys)), key=lambda place: level.intervals[place].value)
    low, high = (
        _with_name(with_margin(level.intervals[place]), isolated(fitted(keys[place], ROOM)))
        for place in (places[0], places[-1])
    )
    return f"from {low} to {high}"


def _with_name(written: str, name: str) -> str:
    """Return a number with the name of its group, in brackets unless one of them has its own."""
    if any(bracket in text for text in (written, name) for bracket in "()[]"):
        return f"{written} in {name}"
    return f"{written} ({name})"


def at_level(level: Level) -> str:
    """Return which level numbers are of, after a space; nothing if it has no name."""
    return f" for {isolated(fitted(level.name, ROOM))}" if level.name else ""
