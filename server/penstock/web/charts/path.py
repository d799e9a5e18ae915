"""Draw one query's noise process: the margin of error at each level, and who has which release.

All points lie on one path, so users who pool their releases learn what the one furthest left
knows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from ...errors import NotDrawable
from ...figures import percent
from .drawing.axes import Axis, logarithmic, upright
from .drawing.lettering import fitted, width_of
from .drawing.marks import mark, shaded
from .drawing.numbers import Digits, counted, digits_of
from .drawing.svg import (
    NARROW,
    QUIET,
    STRONG,
    document,
    element,
    group,
    isolated,
    nothing,
    number,
    rule,
    stroked,
    text,
)
from .drawing.values import Interval, Table, finite, positive
from .losses import EACH, INDEPENDENT, TOGETHER, Loss, loss_bars

HEIGHT = 150
LABEL = 36
APART = 12
MOST_NAMES = 3
DIAMOND = 3
FUNNEL = 2
"""Step of the ramp of levels for the path itself, on which the levels stand out."""

MOST_TICKS = 4
NONE = "None of these users has a release of this query."
BEST = "best informed"


@dataclass(frozen=True)
class Point:
    """Represent a release: its noise level, margin of error, tier, and the users who have it."""

    level: float
    half_width: float
    tier: str
    people: tuple[str, ...]

    def __post_init__(self) -> None:
        positive(self.level, f"the noise level at {self.tier}")
        if finite(self.half_width, f"the interval at {self.tier}") < 0:
            raise NotDrawable(
                f"A margin of error must be 0 or more, but that of {self.tier} is"
                f" {self.half_width:g}."
            )


@dataclass(frozen=True)
class NoisePath:
    """Hold a query's releases that some users have, and the privacy loss of these.

    ``parameter`` names the noise level.  ``together`` is the epsilon of all these releases,
    ``independent`` the epsilon if each had been drawn with independent noise.  None means an
    unbounded loss.
    """

    title: str
    parameter: str
    points: tuple[Point, ...]
    together: float | None
    independent: float | None
    confidence: float = 0.95


@dataclass(frozen=True)
class Label:
    """Represent two lines of text beside a leader line, in a row counted from the plot."""

    x: float
    row: int
    lines: tuple[str, str]


def noise_path(path: NoisePath, prefix: str, width: int = NARROW) -> str:
    """Return the chart: the path with the users on it, and the two losses as bars."""
    points = _merged(path.points)
    if not points:
        return nothing(prefix, path.title, NONE, width)
    plot = width * 0.6 if width >= 560 else float(width)
    digits, reach = _digits(points), max(point.half_width for point in points) or 1.0
    axis = _levels(points, reach, plot)
    middle = axis.start + (axis.end - axis.start) / 2
    left = [point for point in points if axis.at(point.level) <= middle]
    above = _labels(left, axis, points[0], digits, plot, 1)
    below = _labels(points[len(left) :], axis, points[0], digits, plot, -1)
    top = 26.0 + LABEL * _rows(above)
    bottom = top + HEIGHT
    y = upright(-reach, reach, bottom, top, MOST_TICKS)
    parts = list(_frame(path, axis, y, bottom + LABEL * _rows(below)))
    parts += _funnel(points, axis, y)
    parts += _leaders(above, top - 6, points, axis, y, 1)
    parts += _leaders(below, bottom + 6, points, axis, y, -1)
    parts += _points(points, axis, y, digits)
    foot = bottom + LABEL * _rows(below) + 48
    losses = _losses(path)
    if plot < width:
        start = plot + 40
        parts += loss_bars(losses, start, top + (HEIGHT - 2 * EACH) / 2, width - start)
    else:
        parts += loss_bars(losses, 0, foot + 14, width)
        foot += 2 * EACH + 14
    return document(prefix, path.title, _described(path, points, losses), (width, foot), parts)


def rows(path: NoisePath) -> Table:
    """Return the same numbers: one row per level, the most accurate first, then the losses."""
    points = _merged(path.points)
    digits = _digits(points)
    head = ("people", "tier", path.parameter, f"± at {percent(path.confidence)}", "")
    body = [
        (
            ", ".join(point.people),
            point.tier,
            _level(point.level),
            digits.write(point.half_width),
            BEST if point is points[0] else "",
        )
        for point in points
    ]
    body.extend((loss.name, "", "", "", loss.written) for loss in _losses(path))
    return Table(path.title, head, tuple(body), frozenset({2, 3}))


def _merged(points: Sequence[Point]) -> list[Point]:
    """Return one point per level, the most accurate first, with all users who share the release."""
    by_level: dict[float, Point] = {}
    for point in sorted(points, key=lambda p: p.level):
        same = by_level.get(point.level)
        if same is None:
            by_level[point.level] = point
            continue
        people = tuple(dict.fromkeys((*same.people, *point.people)))
        tiers = same.tier if point.tier == same.tier else f"{same.tier}, {point.tier}"
        by_level[point.level] = Point(same.level, same.half_width, tiers, people)
    return list(by_level.values())


def _losses(path: NoisePath) -> tuple[Loss, Loss]:
    return Loss(TOGETHER, path.together), Loss(INDEPENDENT, path.independent)


def _digits(points: Sequence[Point]) -> Digits:
    digits = digits_of([Interval(0, -point.half_width, point.half_width) for point in points])
    # The values are all 0, which says nothing about margins.
    return replace(digits, whole=False)


def _level(value: float) -> str:
    return Digits(0, 4).write(value)


def _levels(points: Sequence[Point], reach: float, plot: float) -> Axis:
    labels = upright(-reach, reach, 0, HEIGHT, MOST_TICKS).ticks
    start = max(width_of(f"+{label}") for _, label in labels) + 8
    return logarithmic(points[0].level, points[-1].level, start, plot - 4)


def _labels(
    points: Sequence[Point], axis: Axis, best: Point, digits: Digits, plot: float, way: int
) -> list[Label]:
    """Return the labels above or below the plot, placed so that no leader line crosses one.

    Above the plot (``way`` 1) a label extends to the right of its leader line, and labels of
    points further left move to higher rows if there is no room.  Below (``way`` -1), left and
    right, high and low are swapped.
    """
    placed: list[Label] = []
    taken: list[tuple[int, float]] = []
    for point in reversed(points) if way > 0 else points:
        x = axis.at(point.level)
        room = plot - x - 4 if way > 0 else x - 4
        lines = _label_lines(point, digits, room, best=point is best)
        wide = max(width_of(lines[0], bold=True), width_of(lines[1])) + APART
        row = 0
        while any(other >= row and abs(start - x) < wide for other, start in taken):
            row += 1
        taken.append((row, x))
        placed.append(Label(x, row, lines))
    return placed


def _label_lines(point: Point, digits: Digits, room: float, *, best: bool) -> tuple[str, str]:
    names = ", ".join(point.people[:MOST_NAMES])
    if more := len(point.people) - MOST_NAMES:
        names += f" and {more:,} more" if more > 0 else ""
    first = f"{BEST}: {names}" if best else names
    second = f"±{digits.write(point.half_width)}, {point.tier}"
    return fitted(first, room, bold=True), fitted(second, room)


def _rows(labels: Sequence[Label]) -> int:
    return max((label.row + 1 for label in labels), default=0)


def _frame(path: NoisePath, axis: Axis, y: Axis, bottom: float) -> Iterator[Element]:
    heading = f"Margin of error ({percent(path.confidence)})"
    yield text(0, 12, heading, kind=QUIET)
    for value, label in y.ticks:
        yield rule(axis.start, y.at(value), axis.end, y.at(value))
        signs = f"+{label}" if value > 0 else label
        yield text(axis.start - 8, y.at(value) + 4, signs, anchor="end", kind=QUIET)
    for value, label in axis.ticks:
        yield rule(axis.at(value), bottom + 8, axis.at(value), bottom + 13, "axis")
        yield text(axis.at(value), bottom + 28, label, anchor="middle", kind=QUIET)
    yield rule(axis.start, bottom + 8, axis.end, bottom + 8, "axis")
    name = fitted(f"{path.parameter}, log scale: more noise →", axis.end - axis.start + 40)
    yield text(axis.end, bottom + 44, name, anchor="end", kind=QUIET)


def _funnel(points: Sequence[Point], axis: Axis, y: Axis) -> Iterator[Element]:
    """Yield the band of intervals, which widens with the level, and the path in its middle."""
    over = [f"{number(axis.at(p.level))} {number(y.at(p.half_width))}" for p in points]
    under = [f"{number(axis.at(p.level))} {number(y.at(-p.half_width))}" for p in points]
    way = "L".join((*over, *reversed(under)))
    zero = number(y.at(0))
    ends = f"M{number(axis.start)} {zero}H{number(axis.end)}"
    room = element("path", class_="band", fill="currentColor", fill_opacity="0.14", d=f"M{way}Z")
    edge, line = stroked("edge", f"M{way}Z", "0.75"), stroked("line", ends, "2")
    yield group(shaded(FUNNEL), room, edge, line)


def _leaders(
    labels: Sequence[Label], edge: float, points: Sequence[Point], axis: Axis, y: Axis, way: int
) -> Iterator[Element]:
    wide = {axis.at(point.level): point.half_width for point in points}
    for label in labels:
        inner = edge - way * LABEL * label.row
        yield rule(label.x, y.at(way * wide[label.x]), label.x, inner - way * LABEL + way * 6)
        first = inner - 18 if way > 0 else inner + 12
        anchor, x = ("start", label.x + 4) if way > 0 else ("end", label.x - 4)
        yield text(x, first, label.lines[0], anchor=anchor, kind=STRONG)
        yield text(x, first + 14, label.lines[1], anchor=anchor, kind=QUIET)


def _points(points: Sequence[Point], axis: Axis, y: Axis, digits: Digits) -> Iterator[Element]:
    for place, point in enumerate(points):
        x, best = axis.at(point.level), not place
        low, high = number(y.at(-point.half_width)), number(y.at(point.half_width))
        whisker = stroked("whisker", f"M{number(x - 4)} {high}h8m-4 0V{low}m-4 0h8", "1.5")
        shape = mark(DIAMOND if best else 0, x, y.at(0), 6.0 if best else 4.0)
        sentence = _sentence(point, digits, best=best)
        yield group(shaded(place), whisker, shape, title=sentence)


def _sentence(point: Point, digits: Digits, *, best: bool) -> str:
    people = ", ".join(map(isolated, point.people))
    sentence = f"{people} ({isolated(point.tier)}): level {_level(point.level)},"
    return f"{sentence} ±{digits.write(point.half_width)}" + (f", {BEST}" if best else "")


def _described(path: NoisePath, points: Sequence[Point], losses: Sequence[Loss]) -> str:
    digits = _digits(points)
    people = "; ".join(_sentence(point, digits, best=point is points[0]) for point in points)
    costs = "; ".join(f"{loss.name}: {loss.written}" for loss in losses)
    return f"{counted(len(points), 'level')} of {isolated(path.parameter)}. {people}. {costs}."
