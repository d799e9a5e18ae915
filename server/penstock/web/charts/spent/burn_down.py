"""Draw what was left of each tier's budget over time: one line a tier, a step at each charge."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from xml.etree.ElementTree import Element

from ....errors import NotDrawable
from ..drawing.axes import Axis
from ..drawing.lettering import fitted, spread, width_of
from ..drawing.marks import dashes, mark, shaded
from ..drawing.numbers import counted, share
from ..drawing.svg import (
    NARROW,
    QUIET,
    document,
    group,
    isolated,
    nothing,
    number,
    rule,
    stroked,
    text,
)
from ..drawing.values import Table, finite

TOP = 30
HEIGHT = 180
GAP = 10
NAMES_APART = 16
MOST_DATES = 6
DATE = "0000-00-00"
DATES_APART = 24
NONE = "No tier has a budget here yet."
CAPTION = "Share of the budget that is left"
SLACK = 1e-9


@dataclass(frozen=True)
class Left:
    """Hold the shares that were left of a tier's budget, from 0 to 1; None before it had one."""

    tier: str
    shares: tuple[float | None, ...]


@dataclass(frozen=True)
class BurnDown:
    """Hold times (UTC, rising, the last one is the present) and tiers, the least trusted first."""

    title: str
    times: tuple[datetime, ...]
    tiers: tuple[Left, ...]


@dataclass(frozen=True)
class Plot:
    """Hold both axes; places across are those of seconds since the first time."""

    x: Axis
    y: Axis
    first: datetime

    def across(self, at: datetime) -> float:
        """Return the place of a time."""
        return self.x.at((at - self.first).total_seconds())


def burn_down(content: BurnDown, prefix: str, width: int = NARROW) -> str:
    """Return the chart.  Raises ``NotDrawable`` unless there is a share from 0 to 1 for each time.

    A tier may have none at first, before it had a budget.
    """
    _checked(content)
    if not content.times or not content.tiers:
        return nothing(prefix, content.title, NONE, width)
    plot = _plot(content, width)
    parts = list(_frame(content, plot))
    # The most trusted tier has the strongest color, and its line lies on top.
    styled = [(tier, len(content.tiers) - 1 - at) for at, tier in enumerate(content.tiers)]
    parts += [_line(tier, style, content, plot) for tier, style in styled]
    parts += _names(styled, plot, width)
    size = (width, TOP + HEIGHT + 30)
    return document(prefix, content.title, _described(content), size, parts)


def rows(content: BurnDown) -> Table:
    """Return the same numbers: one row per time, one column per tier, the most trusted first."""
    _checked(content)
    tiers = tuple(reversed(content.tiers))
    head = ("time (UTC)", *(f"{tier.tier}, left" for tier in tiers))
    body = [
        (_moment(at), *(_share(tier.shares[place]) for tier in tiers))
        for place, at in enumerate(content.times)
    ]
    return Table(content.title, head, tuple(body), frozenset(range(1, len(head))))


def _checked(content: BurnDown) -> None:
    if list(content.times) != sorted(set(content.times)):
        raise NotDrawable("The times of a budget must rise.")
    for tier in content.tiers:
        known = [part for part in tier.shares if part is not None]
        if len(tier.shares) != len(content.times) or tier.shares[-1:] == (None,):
            raise NotDrawable(f"The budget of {tier.tier} needs a share at each time.")
        for part in known:
            if not -SLACK <= finite(part, f"what is left of {tier.tier}") <= 1 + SLACK:
                raise NotDrawable(f"What is left of {tier.tier} is no share of 1: {part:g}.")


def _plot(content: BurnDown, width: int) -> Plot:
    ticks = tuple((part / 4, f"{25 * part}%") for part in range(5))
    y = Axis(0.0, 1.0, TOP + HEIGHT, TOP, ticks)
    left = max(width_of(label) for _, label in ticks) + 10
    names = max(width_of(tier.tier) for tier in content.tiers) + GAP + 16
    right = width - min(names, width * 0.3)
    first, last = content.times[0], content.times[-1]
    span = max((last - first).total_seconds(), 1.0)
    dates = _dates(first, last, right - left)
    return Plot(Axis(0.0, span, left, right, dates), y, first)


def _dates(first: datetime, last: datetime, room: float) -> tuple[tuple[float, str], ...]:
    """Return midnights in UTC as seconds since the first time, as many as there is room for."""
    midnight = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    most = min(max(int(room / (width_of(DATE) + DATES_APART)), 1), MOST_DATES)
    days = (last - midnight).days
    apart = max(-(-days // most), 1)
    midnights = [midnight + timedelta(days=day) for day in range(apart, days + 1, apart)]
    return tuple(((day - first).total_seconds(), f"{day:%Y-%m-%d}") for day in midnights)


def _frame(content: BurnDown, plot: Plot) -> Iterator[Element]:
    yield text(0, 12, CAPTION, kind=QUIET)
    for value, label in plot.y.ticks:
        y = plot.y.at(value)
        yield rule(plot.x.start, y, plot.x.end, y, "grid" if value else "axis")
        yield text(plot.x.start - 8, y + 4, label, anchor="end", kind=QUIET)
    bottom = TOP + HEIGHT
    for value, label in plot.x.ticks:
        x = plot.x.at(value)
        yield rule(x, bottom, x, bottom + 5, "axis")
        half = width_of(label) / 2
        yield text(min(x, plot.x.end - half), bottom + 20, label, anchor="middle", kind=QUIET)
    if not plot.x.ticks:
        both = f"{_moment(content.times[0])} to {_moment(content.times[-1])}"
        yield text(plot.x.start, bottom + 20, both, kind=QUIET)


def _line(tier: Left, style: int, content: BurnDown, plot: Plot) -> Element:
    known = [
        (plot.across(at), plot.y.at(part))
        for at, part in zip(content.times, tier.shares, strict=True)
        if part is not None
    ]
    x, y = known[0]
    way = f"M{number(x)} {number(y)}"
    for x, height in known[1:]:
        way += f"H{number(x)}"
        if number(height) != number(y):
            way += f"V{number(height)}"
            y = height
    shape = stroked("line", way, "2", stroke_linejoin="round", **dashes(style))
    return group(shaded(style), shape, title=_sentence(tier))


def _names(styled: Sequence[tuple[Left, int]], plot: Plot, width: int) -> Iterator[Element]:
    """Yield each tier's mark and name, near the height at which its line ends."""
    ends = [plot.y.at(tier.shares[-1] or 0.0) for tier, _ in styled]
    x = plot.x.end + GAP + 6
    heights = spread(ends, NAMES_APART, TOP + HEIGHT)
    for (tier, style), height in zip(styled, heights, strict=True):
        yield group(shaded(style), mark(style, x, height))
        yield text(x + 9, height + 4, fitted(tier.tier, width - x - 9))


def _sentence(tier: Left) -> str:
    return f"{isolated(tier.tier)}: {_share(tier.shares[-1])} left"


def _described(content: BurnDown) -> str:
    since, until = (_moment(at) for at in (content.times[0], content.times[-1]))
    tiers = "; ".join(_sentence(tier) for tier in reversed(content.tiers))
    count = counted(len(content.times), "time")
    return f"What was left of each tier's budget at {count}, from {since} to {until}. {tiers}."


def _share(left: float | None) -> str:
    return "no budget" if left is None else share(left)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"
