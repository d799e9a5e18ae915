"""Provide charts with contents like those of pages, and functions that read a picture."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from penstock.web.charts.band import Stream, line_with_band
from penstock.web.charts.band import rows as stream_rows
from penstock.web.charts.crossed.grids import Grid, grid_of
from penstock.web.charts.crossed.heat import heat_map, margin_map
from penstock.web.charts.crossed.panels import panels_of_lines
from penstock.web.charts.crossed.series import lines_over_steps
from penstock.web.charts.crossed.trellis import panels_of_dots
from penstock.web.charts.distribution import Distribution, Quantile, curve_with_band
from penstock.web.charts.distribution import rows as quantile_rows
from penstock.web.charts.drawing.lettering import SIZE, width_of
from penstock.web.charts.drawing.values import Interval, Level, Table
from penstock.web.charts.intervals import Groups, dots_with_whiskers
from penstock.web.charts.intervals import rows as group_rows
from penstock.web.charts.ladder import Ladder, Move, Tier, ladder
from penstock.web.charts.ladder import rows as ladder_rows
from penstock.web.charts.over_time.two_panels import Panels, values_and_totals
from penstock.web.charts.over_time.two_panels import rows as panel_rows
from penstock.web.charts.path import NoisePath, Point, noise_path
from penstock.web.charts.path import rows as path_rows
from penstock.web.charts.ranked import Ranking, ranked_list
from penstock.web.charts.ranked import rows as ranking_rows
from penstock.web.charts.spent.burn_down import BurnDown, Left, burn_down
from penstock.web.charts.spent.burn_down import rows as course_rows
from penstock.web.charts.stacked import Budgets, Part, TierBudget, budget_bars
from penstock.web.charts.stacked import rows as budget_rows
from penstock.web.charts.story import Release, Story, story
from penstock.web.charts.story import rows as story_rows

SVG = "{http://www.w3.org/2000/svg}"
USUAL = ("public", "partner", "internal", "restricted")
LONG = "a name that goes on and on " * 8
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>&amp;",
    "مرحبا بالعالم",
    "\u202egnp.exe",
    "\u2068\x00\u2069",
    "👩‍👩‍👧‍👦 👍🏽",
    LONG,
    "\ud800\ufffe\uffff\x1b[2J",
    " ",
    "",
)

DAYS = tuple(datetime(2026, month, 3, 4, 5, tzinfo=UTC) for month in (1, 2, 6))

Draw = Callable[[str, int], str]


@dataclass(frozen=True)
class Chart:
    """Hold a chart with its content: how to draw it, and its table."""

    draw: Draw
    table: Table


def around(value: float, half: float) -> Interval:
    return Interval(value, value - half, value + half)


def level(name: str, values: list[float], half: float, place: int | None = None) -> Level:
    return Level(name, tuple(around(value, half) for value in values), place)


def cut(whole: Level, first: int) -> Level:
    """Return a level from one of its intervals on."""
    return Level(whole.name, whole.intervals[first:], whole.place)


def groups(content: Groups) -> Chart:
    return Chart(lambda p, w: dots_with_whiskers(content, p, w), group_rows(content))


def ranking(content: Ranking) -> Chart:
    return Chart(lambda p, w: ranked_list(content, p, w), ranking_rows(content))


def stream(content: Stream) -> Chart:
    return Chart(lambda p, w: line_with_band(content, p, w), stream_rows(content))


def panels(content: Panels) -> Chart:
    return Chart(lambda p, w: values_and_totals(content, p, w), panel_rows(content))


def curve(content: Distribution) -> Chart:
    return Chart(lambda p, w: curve_with_band(content, p, w), quantile_rows(content))


def rungs(content: Ladder) -> Chart:
    return Chart(lambda p, w: ladder(content, p, w), ladder_rows(content))


def budgets(content: Budgets) -> Chart:
    return Chart(lambda p, w: budget_bars(content, p, w), budget_rows(content))


def course(content: BurnDown) -> Chart:
    return Chart(lambda p, w: burn_down(content, p, w), course_rows(content))


def path(content: NoisePath) -> Chart:
    return Chart(lambda p, w: noise_path(content, p, w), path_rows(content))


def explained(content: Story) -> Chart:
    return Chart(lambda p, w: story(content, p, w), story_rows(content))


def grid(
    first: tuple[str, ...], second: tuple[str, ...], levels: tuple[Level, ...], title: str = "t"
) -> Grid:
    """Return groups by two keys, those of each first one together."""
    made = grid_of(title, [(one, other) for one in first for other in second], levels)
    assert made is not None
    return made


def crossed(draw: Callable[[Grid, str, int], str], content: Grid) -> Chart:
    """Return a chart of a grid whose groups are all there, with their table."""
    named = {
        place: f"{content.names[name]}, {content.steps[step]}"
        for (name, step), place in content.places.items()
    }
    keys = tuple(named[place] for place in sorted(named))
    table = group_rows(Groups(content.title, keys, content.levels))
    return Chart(lambda p, w: draw(content, p, w), table)


def charts(names: tuple[str, ...]) -> dict[str, Chart]:
    """Return each kind of chart, with four names wherever people and things have names."""
    a, b, c, d = names
    values = [5012.3, -3120.1, 1893.2, 0.0]
    levels = (level(a, values, 310.2, 0), level(b, [1, 2, 3, 4], 48.1, 1))
    tiers = (Tier(a, (b, c), d), Tier(f"{b} two", (d,)), Tier("three"))
    points = (Point(64, 15.6, a, (b,)), Point(113, 20.8, c, (d, "ines")), Point(1000, 62, b, (a,)))
    parts = (Part(c, 0.4), Part(d, 0.2))
    shares, lower, upper = (0.1, 0.5, 0.9, 1.0), (0.0, 0.4, 0.8, 1.0), (0.2, 0.6, 1.0, 1.0)
    ages = (Quantile(a, 0.25, Interval(13, 10, 20)), Quantile(b, 0.9, Interval(30, 20, 40)))
    releases = (Release(a, b, around(1342, 62.2), 0.5), Release(c, d, around(1316, 15.6), 2.0))
    years = ("2019", "2020", "2022")
    twelve = tuple(level(n, [2.0 * v for v in range(12)], h) for n, h in ((a, 3), (b, 30)))
    return {
        "series": crossed(lines_over_steps, grid((a, b, c, d), years, twelve[:1], a)),
        "panels": crossed(panels_of_lines, grid((a, b, c, d), years, twelve, a)),
        "trellis": crossed(panels_of_dots, grid((a, b, c, d), (a, b, c), twelve, a)),
        "heat": crossed(heat_map, grid((a, b, c, d), (a, b, c), twelve[:1], a)),
        "margins": crossed(margin_map, grid((a, b, c, d), (a, b, c), twelve, a)),
        "groups": groups(Groups(a, (a, b, c, d), levels, c)),
        "ranking": ranking(Ranking(a, (a, b, c, d), levels[0], c, d)),
        "stream": stream(Stream(a, (1, 2, 5, 40), levels, c, d)),
        "over time": panels(
            Panels(
                a,
                Stream(a, (2, 5, 40), tuple(cut(each, 1) for each in levels), c, d),
                Stream(a, (1, 2, 5, 40), levels, c, d),
            )
        ),
        "curve": curve(Distribution(a, b, (0, 10, 20, 30, 40), shares, lower, upper, ages)),
        "ladder": rungs(Ladder(a, tiers, Move(b, a, "three"))),
        "budgets": budgets(Budgets(a, (TierBudget(a, 1, parts), TierBudget(b, 2)))),
        "course": course(BurnDown(a, DAYS, (Left(a, (None, 1.0, 0.4)), Left(b, (1.0, 0.5, 0))))),
        "path": path(NoisePath(a, b, points, 2.0, None)),
        "story": explained(Story(a, b, releases, 2.0, 2.69)),
    }


def usual() -> dict[str, Chart]:
    return charts(USUAL)


def empty() -> dict[str, Chart]:
    return {
        "groups": groups(Groups("t", (), ())),
        "ranking": ranking(Ranking("t", (), Level("a", ()))),
        "stream": stream(Stream("t", (), (Level("a", ()),))),
        "over time": panels(Panels("t", Stream("t", (), ()), Stream("t", (), ()))),
        "curve": curve(Distribution("t", "age", (0, 10, 20), (), (), ())),
        "ladder": rungs(Ladder("t", ())),
        "budgets": budgets(Budgets("t", ())),
        "course": course(BurnDown("t", (), ())),
        "path": path(NoisePath("t", "variance", (), None, None)),
        "story": explained(Story("t", "people", (), None, None)),
    }


def parsed(svg: str) -> ET.Element:
    """Return the picture as a tree.  Raises ``ParseError`` if it is not well-formed."""
    return ET.fromstring(svg)  # noqa: S314 -- the charts' own output


def sentences(svg: str) -> list[str]:
    """Return the texts of tooltips and for screen readers: all titles and the description."""
    root = parsed(svg)
    elements = [*root.iter(f"{SVG}title"), *root.iter(f"{SVG}desc")]
    return [element.text or "" for element in elements]


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


def points(way: str) -> Iterator[tuple[float, float]]:
    """Yield the points of a path, for the commands that charts use."""
    x = y = 0.0
    for command, arguments in re.findall(r"([MLHVQZmlhvz])([^MLHVQZmlhvz]*)", way):
        numbers = [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", arguments)]
        if command in "Hh":
            x = numbers[0] + (x if command == "h" else 0)
        elif command in "Vv":
            y = numbers[0] + (y if command == "v" else 0)
        elif command in "MLml":
            relative = command.islower()
            x, y = numbers[0] + (x if relative else 0), numbers[1] + (y if relative else 0)
        elif command == "Q":
            yield numbers[0], numbers[1]
            x, y = numbers[2], numbers[3]
        yield x, y


def corners(element: ET.Element) -> Iterator[tuple[float, float]]:
    """Yield corners that enclose an element; a text's are by its estimated width."""
    at = {name: float(value) for name, value in element.items() if name in COORDINATES}
    if element.tag == f"{SVG}path":
        yield from points(element.get("d", ""))
    elif element.tag == f"{SVG}rect":
        yield at["x"], at["y"]
        yield at["x"] + at["width"], at["y"] + at["height"]
    elif element.tag == f"{SVG}circle":
        yield at["cx"] - at["r"], at["cy"] - at["r"]
        yield at["cx"] + at["r"], at["cy"] + at["r"]
    elif element.tag == f"{SVG}text":
        bold = element.get("class") == "strong"
        wide = width_of(element.text or "", bold=bold)
        part = {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor", "start")]
        left = at["x"] - part * wide
        yield left, at["y"] - SIZE
        yield left + wide, at["y"]


HAIR = 0.11

COORDINATES = frozenset({"x", "y", "cx", "cy", "r", "width", "height"})


def size(svg: str) -> tuple[float, float]:
    box = parsed(svg).get("viewBox", "").split()
    return float(box[2]), float(box[3])


def whiskers(svg: str, across: int = 0) -> list[tuple[float, float]]:
    """Return the ends of each whisker: x if ``across`` is 0, y if it is 1."""
    spans = []
    for element in parsed(svg).iter(f"{SVG}path"):
        if element.get("class") == "whisker":
            ends = [point[across] for point in points(element.get("d", ""))]
            spans.append((min(ends), max(ends)))
    return spans


def straight(drawn: list[float], expected: list[float]) -> None:
    """Require that the places are one linear function of the numbers."""
    low, high = expected.index(min(expected)), expected.index(max(expected))
    slope = (drawn[high] - drawn[low]) / (expected[high] - expected[low])
    for place, number in zip(drawn, expected, strict=True):
        assert place == pytest.approx(drawn[low] + slope * (number - expected[low]), abs=2 * HAIR)
