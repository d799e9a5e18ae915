"""Provide what lines over steps have in common: axes, a frame, lines and their bands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from xml.etree.ElementTree import Element

from ..drawing.axes import Axis
from ..drawing.lettering import fitted, width_of
from ..drawing.svg import QUIET, element, number, rule, stroked, text
from ..drawing.values import Interval
from .grids import Grid

GREY: Final = "#767676"
"""Color of lines without one of their own, with a contrast of 3 or more to white and near black."""

APART = 10.0


@dataclass(frozen=True)
class Steps:
    """Hold the place of each step, and of the labels of some, by the indices of their steps."""

    places: tuple[float, ...]
    labels: tuple[tuple[int, float], ...]

    def at(self, step: int) -> float:
        """Return the place of a step."""
        return self.places[step]


@dataclass(frozen=True)
class Plot:
    """Hold both axes, and where the plot begins and ends; the x axis maps indices of steps."""

    x: Steps
    y: Axis
    left: float
    right: float


def steps_axis(grid: Grid, left: float, right: float, edge: float) -> Steps:
    """Return where steps are, ``edge`` from the ends of a plot, with the labels there is room for.

    No label begins before the plot or ends behind it.
    """
    first, last = grid.positions[0], grid.positions[-1]
    scale = (right - left - 2 * edge) / (last - first)
    places = tuple(left + edge + scale * (position - first) for position in grid.positions)
    halves = [min(width_of(step), right - left) / 2 for step in grid.steps]
    seats = [
        min(max(place, left + half), right - half)
        for place, half in zip(places, halves, strict=True)
    ]
    for skip in range(1, len(places)):
        labeled = range(0, len(places), skip)
        if all(
            seats[after] - seats[before] >= halves[before] + halves[after] + APART
            for before, after in pairwise(labeled)
        ):
            break
    else:
        labeled = range(1)
    return Steps(places, tuple((step, seats[step]) for step in labeled))


def frame(plot: Plot, grid: Grid) -> Iterator[Element]:
    """Yield the grid, the labels of both axes, and a tick for each step."""
    bottom = plot.y.start
    for value, label in plot.y.ticks:
        y = plot.y.at(value)
        yield rule(plot.left, y, plot.right, y, "grid" if value else "axis")
        yield text(plot.left - 8, y + 4, label, anchor="end", kind=QUIET)
    for step, seat in plot.x.labels:
        x = plot.x.at(step)
        yield rule(x, bottom, x, bottom + 5, "axis")
        label = fitted(grid.steps[step], plot.right - plot.left)
        yield text(seat, bottom + 20, label, anchor="middle", kind=QUIET)


def way(points: Sequence[tuple[float, float]]) -> str:
    """Return the path through some points."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def band(x: Sequence[float], intervals: Sequence[Interval], y: Axis) -> list[Element]:
    """Return the area between the ends of intervals, with its edges."""
    upper = [(at, y.at(own.upper)) for at, own in zip(x, intervals, strict=True)]
    lower = [(at, y.at(own.lower)) for at, own in zip(x, intervals, strict=True)]
    around = f"{way([*upper, *reversed(lower)])}Z"
    area = element("path", class_="band", fill="currentColor", fill_opacity="0.14", d=around)
    return [area, stroked("edge", f"{way(upper)}{way(lower)}", "0.75")]
