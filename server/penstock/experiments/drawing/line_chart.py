"""Draw panels of lines as one SVG, readable on light and on dark ground and without colors.

The same numbers always give the same bytes, so that a committed drawing can be compared.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from penstock.web.charts.drawing.lettering import spread

LEFT, RIGHT, TOP, HEIGHT, BOTTOM = 84, 164, 96, 270, 70
INNER = 380
A_LABEL = 16
"""How far apart the names at the ends of lines have to be, to be read."""

LIGHT = {"ground": "#ffffff", "ink": "#1b1f24", "quiet": "#57606a", "grid": "#d8dee4"}
DARK = {"ground": "#0d1117", "ink": "#e6edf3", "quiet": "#9aa4af", "grid": "#30363d"}
COLORS = (
    ("#0072b2", "#56b4e9", ""),
    ("#a65e00", "#e6a23c", "7 4"),
    ("#c0392b", "#ff8066", "2 3.5"),
    ("#3f7d20", "#7bc96f", "11 4 2 4"),
    ("#7b4aa0", "#c49bea", "4 2"),
)
"""Of each line of a panel in turn: on light, on dark ground, and its dashes."""

SHAPES = """
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.title { font-size: 17px; font-weight: 600; }
.panel { font-size: 14px; font-weight: 600; }
.grid { stroke-width: 1; }
.line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.end { font-weight: 600; }
"""


@dataclass(frozen=True)
class Line:
    """Hold points (x, y) and a name, which is written at the last of them."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Panel:
    """Hold lines over axes; a logarithmic axis has ticks at powers of its ``base``, 0 is linear."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    x_base: int = 0
    y_base: int = 0

    def reach(self, axis: int) -> tuple[float, float]:
        """Return from where to where an axis goes: whole powers of the base, or whole ticks."""
        values = [point[axis] for line in self.lines for point in line.points]
        base = (self.x_base, self.y_base)[axis]
        low, high = min(values), max(values)
        if base and axis:
            return (
                float(base ** math.floor(math.log(low, base) + 1e-9)),
                float(base ** math.ceil(math.log(high, base) - 1e-9)),
            )
        if base or not axis:
            return low, high
        unit = _unit(high)
        return 0.0, unit * math.ceil(high / unit)

    def ticks(self, axis: int) -> list[float]:
        """Return the values that are written beside an axis."""
        low, high = self.reach(axis)
        base = (self.x_base, self.y_base)[axis]
        if not base:
            unit = _unit(high)
            return [unit * place for place in range(math.ceil(low / unit), int(high / unit) + 1)]
        first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
        skip = -(-(last - first + 1) // 7)
        return [float(base) ** power for power in range(first, last + 1, skip)]


def drawing(heading: str, caption: str, described: str, panels: Sequence[Panel]) -> str:
    """Return the whole SVG document, panels side by side."""
    each = LEFT + INNER + RIGHT
    width, height = each * len(panels), TOP + HEIGHT + BOTTOM
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
        f'<title id="title">{heading}</title>',
        f'<desc id="desc">{described}</desc>',
        f"<style>{_style()}</style>",
        f'<rect class="ground" width="{width}" height="{height}"/>',
        f'<text class="title" x="{LEFT}" y="30">{heading}</text>',
        f'<text class="quiet" x="{LEFT}" y="51">{caption}</text>',
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, each * place + LEFT)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _style() -> str:
    def colors(palette: Mapping[str, str], side: int) -> str:
        lines = "\n".join(f".l{n} {{ color: {color[side]}; }}" for n, color in enumerate(COLORS))
        return (
            f"text {{ fill: {palette['ink']}; }}\n.quiet {{ fill: {palette['quiet']}; }}\n"
            f".grid {{ stroke: {palette['grid']}; }}\n.ground {{ fill: {palette['ground']}; }}\n"
            f".end {{ fill: currentColor; }}\n{lines}\n"
        )

    dashes = "\n".join(
        f".l{number} .line {{ stroke-dasharray: {color[2]}; }}"
        for number, color in enumerate(COLORS)
        if color[2]
    )
    dark = f"@media (prefers-color-scheme: dark) {{\n{colors(DARK, 1)}}}\n"
    return f"{SHAPES}{dashes}\n{colors(LIGHT, 0)}{dark}"


def _panel(panel: Panel, left: float) -> Iterator[str]:
    def x(value: float) -> float:
        return left + INNER * _share(value, panel.reach(0), panel.x_base)

    def y(value: float) -> float:
        return TOP + HEIGHT * (1 - _share(value, panel.reach(1), panel.y_base))

    yield f'<text class="panel" x="{left}" y="{TOP - 14}">{panel.title}</text>'
    for tick in panel.ticks(1):
        yield f'<path class="grid" d="M{left} {y(tick):.1f}h{INNER}"/>'
        yield (
            f'<text class="quiet" x="{left - 8}" y="{y(tick) + 4.5:.1f}" text-anchor="end">'
            f"{_number(tick, panel.y_base)}</text>"
        )
    bottom = TOP + HEIGHT
    yield f'<path class="grid" d="M{left} {bottom}h{INNER}"/>'
    for tick in panel.ticks(0):
        yield f'<path class="grid" d="M{x(tick):.1f} {bottom}v5"/>'
        yield (
            f'<text class="quiet" x="{x(tick):.1f}" y="{bottom + 21}" text-anchor="middle">'
            f"{_number(tick, panel.x_base)}</text>"
        )
    yield (
        f'<text class="quiet" x="{left + INNER / 2}" y="{bottom + 44}" text-anchor="middle">'
        f"{panel.x_label}</text>"
    )
    upright = f'text-anchor="middle" transform="translate({left - 62} {TOP + HEIGHT / 2})'
    yield f'<text class="quiet" {upright} rotate(-90)">{panel.y_label}</text>'
    heights = [y(line.points[-1][1]) + 4.5 for line in panel.lines]
    labels = spread(heights, A_LABEL, bottom + 4.5)
    for number, (line, label) in enumerate(zip(panel.lines, labels, strict=True)):
        way = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in line.points)
        yield f'<g class="l{number}"><path class="line" d="M{way}"/>'
        end = x(line.points[-1][0]) + 7
        yield f'<text class="end" x="{end:.1f}" y="{label:.1f}">{line.name}</text></g>'


def _share(value: float, reach: tuple[float, float], base: int) -> float:
    low, high = reach
    if base:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _unit(high: float) -> float:
    """Return a round number that goes four to ten times into ``high``."""
    power: float = 10.0 ** math.floor(math.log10(high))
    return next(power * part for part in (2, 1, 0.5, 0.2, 0.1) if high / (power * part) >= 4)


def _number(value: float, base: int) -> str:
    if not base:
        return f"{value:g}"
    power = round(math.log(value, base))
    if base == 10 and 0 <= power <= 5:
        return f"{value:g}"
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{base}{raised}" if power else "1"
