"""Draw a distribution function as a curve with its band, and quantiles as points on it.

It is known at the edges of bins alone.  In between the band is that of both edges, since the
function rises: so it has steps, and what it leaves at a height is a quantile's interval.
"""

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ...errors import NotDrawable
from ...figures import percent, short
from .drawing.axes import APART, Axis, linear
from .drawing.lettering import fitted, width_of, wrapped
from .drawing.marks import colored, mark
from .drawing.numbers import digits_of, scientific, signed, tick
from .drawing.svg import (
    NARROW,
    NOTE,
    QUIET,
    STRONG,
    document,
    element,
    group,
    isolated,
    note,
    nothing,
    number,
    rule,
    stroked,
    text,
)
from .drawing.tables import level_table
from .drawing.values import Interval, Level, Table, finite

TOP = 30
HEIGHT = 240
MOST_POINTS = 240
MOST_LABELS = 5
"""Quantiles whose values are written beside them; of more, all are in tooltips and the table."""

TAIL = 0.01
"""Share of rows at either end that the axis may leave out, if it is half as long without them."""

UNEVEN = 1.5
"""Ratio of widths from which bins have equal widths on the axis, and not the values."""

NONE = "The noise of this level is too large for a distribution function."


@dataclass(frozen=True)
class Quantile:
    """Hold a quantile: its name, the share of rows below it, and its interval."""

    name: str
    share: float
    interval: Interval


@dataclass(frozen=True)
class Distribution:
    """Hold the shares of rows below the upper edge of each bin, and the ends of their band.

    ``edges`` are those of the bins, one more than the others have numbers, which never fall.
    Without ``shares`` the noise is too large for any.
    """

    title: str
    quantity: str
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    quantiles: tuple[Quantile, ...] = ()
    confidence: float = 0.95


@dataclass(frozen=True)
class Plot:
    """Hold both axes, and the edges that are drawn with the shares below them."""

    x: Axis
    y: Axis
    edges: tuple[float, ...]
    even: bool
    drawn: tuple[int, ...]

    def at(self, value: float) -> float:
        """Return the place of a value of the column."""
        if not self.even:
            return self.x.at(value)
        return self.x.at(_place(value, self.edges))


def curve_with_band(distribution: Distribution, prefix: str, width: int = NARROW) -> str:
    """Return the chart.  Raises ``NotDrawable`` for numbers that fall, or too few of them."""
    _checked(distribution)
    if not distribution.shares:
        return nothing(prefix, distribution.title, NONE, width)
    plot = _plot(distribution, width)
    parts = list(_frame(distribution, plot, width))
    parts.append(group(colored(0), *_curve(distribution, plot)))
    parts += _points(distribution, plot, width)
    notes = list(_notes(plot))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    bottom = TOP + HEIGHT + 44
    parts += note(bottom + NOTE, under)
    height = bottom + NOTE * len(under) + 8
    return document(
        prefix, distribution.title, _described(distribution, notes), (width, height), parts
    )


def rows(distribution: Distribution) -> Table:
    """Return the same quantiles: one row for each, with its interval."""
    names = tuple(each.name for each in distribution.quantiles)
    level = Level("", tuple(each.interval for each in distribution.quantiles))
    return level_table(distribution.title, "quantile", names, (level,), distribution.confidence)


def _checked(distribution: Distribution) -> None:
    for name in ("shares", "lower", "upper"):
        own = getattr(distribution, name)
        if len(own) != len(distribution.edges) - 1 and distribution.shares:
            raise NotDrawable(
                f"Between {len(distribution.edges):,} edges are {len(distribution.edges) - 1:,}"
                f" bins, but there are {len(own):,} numbers of {name}."
            )
        if any(after < before for before, after in itertools.pairwise(own)):
            raise NotDrawable(f"A distribution function never falls, but its {name} do.")
    for edge in distribution.edges:
        finite(edge, "an edge")


def _plot(distribution: Distribution, width: int) -> Plot:
    edges = distribution.edges
    widths = [after - before for before, after in itertools.pairwise(edges)]
    even = max(widths) > UNEVEN * min(widths)
    first, last = _ends(distribution)
    ticks = tuple((part / 4, percent(part / 4)) for part in range(5))
    y = Axis(0, 1, TOP + HEIGHT, TOP, ticks)
    left = max(width_of(label) for _, label in ticks) + 8
    if even:
        x = _stepped(edges, first, last, left, width - 24.0)
    else:
        low, high = edges[first], edges[last]
        x = linear(low, high, left, width - 24.0, 8 if width > NARROW else 4)
        inner = tuple((value, label) for value, label in x.ticks if low <= value <= high)
        x = Axis(low, high, x.start, x.end, inner)
    skip = -(-(last - first) // MOST_POINTS)
    drawn = sorted({*range(first, last, skip), last})
    return Plot(x, y, edges, even, tuple(drawn))


def _ends(distribution: Distribution) -> tuple[int, int]:
    """Return the first and the last edge that are drawn."""
    below = [0.0, *distribution.shares]
    bins = len(below) - 1
    ends = [
        end for each in distribution.quantiles for end in (each.interval.lower, each.interval.upper)
    ]
    known = [bisect_left(distribution.edges, end) for end in ends]
    first = max(min([sum(share <= TAIL for share in below) - 1, *known]) - 1, 0)
    last = min(max([sum(share < 1 - TAIL for share in below), *known]) + 1, bins)
    return (first, last) if 2 * (last - first) <= bins else (0, bins)


def _place(value: float, edges: Sequence[float]) -> float:
    """Return the place of a value between edges at equal distances, from 0; within their ends."""
    after = bisect_left(edges, value)
    if after in (0, len(edges)):
        return float(min(after, len(edges) - 1))
    before = after - 1
    return before + (value - edges[before]) / (edges[after] - edges[before])


def _stepped(edges: Sequence[float], first: int, last: int, start: float, end: float) -> Axis:
    """Return an axis on which edges are at equal distances, labeled where there is room."""
    labels = [(float(place), _label(edges[place])) for place in range(first, last + 1)]
    widest = max(width_of(label) for _, label in labels) + APART
    skip = math.ceil(widest * (last - first) / (end - start))
    return Axis(float(first), float(last), start, end, tuple(labels[::skip]))


def _label(edge: float) -> str:
    if not edge:
        return "0"
    power = math.floor(math.log10(abs(edge)) + 1e-12)
    if -3 <= power <= 6:
        return tick(edge, 10.0 ** min(power, 0))
    return scientific(edge, abs(edge) / 10)


def _frame(distribution: Distribution, plot: Plot, width: int) -> Iterator[Element]:
    caption = f"Share of rows below, with a {percent(distribution.confidence)} band at each value"
    yield text(0, 12, fitted(caption, width), kind=QUIET)
    for value, label in plot.y.ticks:
        y = plot.y.at(value)
        yield rule(plot.x.start, y, plot.x.end, y, "grid" if value else "axis")
        yield text(plot.x.start - 8, y + 4, label, anchor="end", kind=QUIET)
    bottom = TOP + HEIGHT
    for value, label in plot.x.ticks:
        x = plot.x.at(value)
        yield rule(x, bottom, x, bottom + 5, "axis")
        yield text(x, bottom + 20, label, anchor="middle", kind=QUIET)
    middle = (plot.x.start + plot.x.end) / 2
    name = fitted(distribution.quantity, plot.x.end - plot.x.start)
    yield text(middle, bottom + 38, name, anchor="middle", kind=QUIET)


def _curve(distribution: Distribution, plot: Plot) -> Iterator[Element]:
    def point(place: int, share: float) -> str:
        return f"{number(plot.at(plot.edges[place]))} {number(plot.y.at(share))}"

    shares, lower, upper = (
        (0.0, *part) for part in (distribution.shares, distribution.lower, distribution.upper)
    )
    spans = list(itertools.pairwise(plot.drawn))
    above = [point(place, upper[end]) for start, end in spans for place in (start, end)]
    below = [point(place, lower[start]) for start, end in spans for place in (start, end)]
    yield element(
        "path",
        class_="band",
        fill="currentColor",
        fill_opacity="0.18",
        d=f"M{'L'.join(above)}L{'L'.join(reversed(below))}Z",
    )
    yield stroked("edge", f"M{'L'.join(above)}M{'L'.join(below)}", "0.75")
    way = "L".join(point(place, shares[place]) for place in plot.drawn)
    yield stroked("line", f"M{way}", "2", stroke_linejoin="round")


def _points(distribution: Distribution, plot: Plot, width: int) -> Iterator[Element]:
    """Yield quantiles with their intervals, and their values if there are few."""
    quantiles = distribution.quantiles
    for each in quantiles:
        own, y = each.interval, plot.y.at(each.share)
        left, x, right = (plot.at(value) for value in (own.lower, own.value, own.upper))
        way = (
            f"M{number(left)} {number(y)}H{number(right)}"
            f"M{number(left)} {number(y - 4)}v8M{number(right)} {number(y - 4)}v8"
        )
        shapes = (stroked("whisker", way, "1.5"), mark(0, x, y))
        yield group(colored(1), *shapes, title=_sentence(distribution, each))
        label = signed(short(own.value))
        if len(quantiles) <= MOST_LABELS:
            place = right + 8
            if place + width_of(label, bold=True) > width:
                yield text(left - 8, y + 4, label, anchor="end", kind=STRONG)
            else:
                yield text(place, y + 16, label, kind=STRONG)


def _sentence(distribution: Distribution, quantile: Quantile) -> str:
    digits = digits_of([each.interval for each in distribution.quantiles])
    own = quantile.interval
    return f"{isolated(quantile.name)}: {digits.write(own.value)} ({digits.range(own)})"


def _notes(plot: Plot) -> Iterator[str]:
    if plot.even:
        yield "Bins have equal widths on this axis, and their edges have not."
    first, last = plot.drawn[0], plot.drawn[-1]
    if (first, last) != (0, len(plot.edges) - 1):
        low, high = _label(plot.edges[0]), _label(plot.edges[-1])
        yield f"The axis leaves out ends with few rows; the bounds are {low} and {high}."
    if len(plot.drawn) <= last - first:
        yield (
            f"Of {last - first:,} bins, {plot.drawn[1] - first:,} each are drawn as one, whose band"
            " is somewhat wider; the downloaded JSON has all."
        )


def _described(distribution: Distribution, notes: Sequence[str]) -> str:
    count = f"{len(distribution.shares):,} bins"
    listed = "; ".join(_sentence(distribution, each) for each in distribution.quantiles)
    written = f" {listed}." if listed else ""
    return " ".join((f"Share of rows below each edge of {count}.{written}", *notes))
