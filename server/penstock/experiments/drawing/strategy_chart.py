"""Draw what strategies cost: a panel a mechanism, lines exact, marks measured.

It follows the reader's light or dark scheme, and tells its lines apart by color (Okabe
and Ito's, which the color-blind can tell apart), by dashes and by the shape of the marks.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

WIDTH, LEFT, RIGHT, GAP = 1040, 74, 54, 26
TOP, HEIGHT, BOTTOM = 118, 250, 92
A_LABEL = 15
"""How far apart the numbers at the ends of lines have to be, to be read."""

HEADING = "What many releases cost the most trusted reader"
NAMES = {
    "lossless": "lossless: one path (Penstock)",
    "doubling": "independent, epsilon doubling",
    "split": "independent, budget split evenly",
}
LIGHT = {"ground": "#ffffff", "ink": "#1b1f24", "quiet": "#57606a", "grid": "#d8dee4"} | {
    "lossless": "#0072b2",
    "doubling": "#a65e00",
    "split": "#c0392b",
}
DARK = {"ground": "#0d1117", "ink": "#e6edf3", "quiet": "#9aa4af", "grid": "#30363d"} | {
    "lossless": "#56b4e9",
    "doubling": "#e6a23c",
    "split": "#ff8066",
}
SHAPES = """
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.title { font-size: 17px; font-weight: 600; }
.panel { font-size: 14px; font-weight: 600; }
.grid { stroke-width: 1; }
.line { fill: none; stroke: currentColor; stroke-width: 2.25; stroke-linejoin: round; }
.doubling .line { stroke-dasharray: 7 4; }
.split .line { stroke-dasharray: 2 3.5; stroke-linecap: round; }
.mark { stroke: currentColor; stroke-width: 1.75; }
.end { font-weight: 600; }
"""


def _colors(palette: Mapping[str, str]) -> str:
    """Return styles with colors written out, since not every viewer of SVG knows variables."""
    strategies = "\n".join(f".{name} {{ color: {palette[name]}; }}" for name in NAMES)
    return f"""text {{ fill: {palette["ink"]}; }}
.quiet {{ fill: {palette["quiet"]}; }}
.grid {{ stroke: {palette["grid"]}; }}
.ground, .mark {{ fill: {palette["ground"]}; }}
.end {{ fill: currentColor; }}
{strategies}
"""


STYLE = f"{SHAPES}{_colors(LIGHT)}@media (prefers-color-scheme: dark) {{\n{_colors(DARK)}}}\n"


@dataclass(frozen=True)
class Line:
    """Hold one strategy of one mechanism; a point is (releases, exact, measured)."""

    mechanism: str
    strategy: str
    points: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class Axes:
    """Place points on two logarithmic axes: a doubling is as long wherever it happens."""

    left: float
    top: float
    width: float
    most_releases: int
    highest: int

    def x(self, releases: float) -> float:
        return self.left + self.width * math.log(releases) / math.log(self.most_releases)

    def y(self, ratio: float) -> float:
        """Return the place of a ratio, counted from a little below 1.

        The lossless line then has ground under it.
        """
        low, high = math.log(0.75), math.log(self.highest)
        return self.top + HEIGHT * (high - math.log(ratio)) / (high - low)


def drawing(lines: Sequence[Line], epsilon: float, delta: float) -> str:
    """Return the whole SVG document."""
    mechanisms = list(dict.fromkeys(line.mechanism for line in lines))
    columns = len(mechanisms) if len(mechanisms) <= 3 else 2
    panel = (WIDTH - LEFT - (columns - 1) * GAP) / columns - RIGHT
    height = TOP + -(-len(mechanisms) // columns) * (HEIGHT + BOTTOM) - 28
    largest = max(exact for line in lines for _, exact, _ in line.points)
    highest = 4 ** math.ceil(math.log(largest * 1.1, 4))
    most = max(releases for line in lines for releases, _, _ in line.points)
    caption = (
        "Variance over that of a single release; all releases together are"
        f" (ε = {epsilon:g}, δ = {_power(delta)})-private. Lines exact, marks measured."
    )
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
        f'<title id="title">{HEADING}</title>',
        f'<desc id="desc">{_description(lines, epsilon, delta)}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="{LEFT}" y="32">{HEADING}</text>',
        f'<text class="quiet" x="{LEFT}" y="53">{caption}</text>',
        *_legend(),
    ]
    for place, mechanism in enumerate(mechanisms):
        row, column = divmod(place, columns)
        left, top = LEFT + column * (panel + RIGHT + GAP), TOP + row * (HEIGHT + BOTTOM)
        axes = Axes(left, top, panel, most, highest)
        own = [line for line in lines if line.mechanism == mechanism]
        parts += _frame(axes, mechanism, first=column == 0)
        for line in own:
            parts += _line(axes, line)
        parts += _ends(axes, own)
    upright = f'text-anchor="middle" transform="translate(20 {(TOP + height - BOTTOM) / 2})'
    axis = "variance over a single release's (log scale)"
    parts += [f'<text class="quiet" {upright} rotate(-90)">{axis}</text>', "</svg>"]
    return "\n".join(parts) + "\n"


def _description(lines: Sequence[Line], epsilon: float, delta: float) -> str:
    most = max(releases for line in lines for releases, _, _ in line.points)
    ends = "; ".join(f"{line.mechanism} {line.strategy} {line.points[-1][1]:.2f}" for line in lines)
    return (
        "Log-log charts, one a noise distribution, of the variance of the most accurate of 1 to"
        f" {most} releases that together are ({epsilon:g}, {delta:g})-differentially private, in"
        f" multiples of a single release's variance. At {most} releases: {ends}."
    )


def _legend() -> Iterator[str]:
    x = float(LEFT)
    for strategy, name in NAMES.items():
        yield (
            f'<g class="{strategy}"><path class="line" d="M{x:g} 78h34"/>'
            f"{_mark(strategy, x + 17, 78)}</g>"
            f'<text x="{x + 43:g}" y="82.5">{name}</text>'
        )
        x += 74 + 6.9 * len(name)


def _frame(axes: Axes, mechanism: str, *, first: bool) -> Iterator[str]:
    right, bottom = axes.left + axes.width, axes.top + HEIGHT
    name = mechanism.replace("_", " ").capitalize()
    yield f'<text class="panel" x="{axes.left:g}" y="{axes.top - 8:g}">{name}</text>'
    ratio = 1
    while ratio <= axes.highest:
        y = axes.y(ratio)
        yield f'<path class="grid" d="M{axes.left:g} {y:.1f}H{right:g}"/>'
        if first:
            yield (
                f'<text class="quiet" x="{axes.left - 8:g}" y="{y + 4.5:.1f}"'
                f' text-anchor="end">{ratio}×</text>'
            )
        ratio *= 4
    releases = 1
    while releases <= axes.most_releases:
        x = axes.x(releases)
        yield f'<path class="grid" d="M{x:.1f} {bottom:g}v5"/>'
        yield (
            f'<text class="quiet" x="{x:.1f}" y="{bottom + 21:g}" text-anchor="middle">'
            f"{releases}</text>"
        )
        releases *= 2
    yield f'<path class="grid" d="M{axes.left:g} {bottom:g}H{right:g}"/>'
    yield (
        f'<text class="quiet" x="{(axes.left + right) / 2:g}" y="{bottom + 43:g}"'
        ' text-anchor="middle">number of releases</text>'
    )


def _line(axes: Axes, line: Line) -> Iterator[str]:
    way = "L".join(f"{axes.x(k):.1f} {axes.y(exact):.1f}" for k, exact, _ in line.points)
    yield f'<g class="{line.strategy}"><path class="line" d="M{way}"/>'
    for releases, exact, measured in line.points:
        caption = (
            f"{line.mechanism}, {line.strategy}, {releases} releases:"
            f" {exact:.4f}, measured {measured:.4f}"
        )
        yield _mark(line.strategy, axes.x(releases), axes.y(measured), caption)
    yield "</g>"


def _ends(axes: Axes, lines: Sequence[Line]) -> Iterator[str]:
    """Yield the last value of each line beside its end; the lowest first, the others above it."""
    lowest = math.inf
    for line in sorted(lines, key=lambda line: line.points[-1][1]):
        last, exact, _ = line.points[-1]
        lowest = min(axes.y(exact) + 4.5, lowest - A_LABEL)
        yield (
            f'<text class="end {line.strategy}" x="{axes.x(last) + 9:.1f}" y="{lowest:.1f}">'
            f"{_short(exact)}×</text>"
        )


def _mark(strategy: str, x: float, y: float, caption: str = "") -> str:
    title = f"<title>{caption}</title>" if caption else ""
    if strategy == "lossless":
        return f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="4">{title}</circle>'
    if strategy == "split":
        return (
            f'<rect class="mark" x="{x - 3.6:.1f}" y="{y - 3.6:.1f}" width="7.2" height="7.2">'
            f"{title}</rect>"
        )
    shape = f"M{x:.1f} {y - 4.8:.1f}l4.6 8h-9.2z"
    return f'<path class="mark" d="{shape}">{title}</path>'


def _short(ratio: float) -> str:
    """Return three digits that count."""
    return f"{ratio:.{max(0, 2 - math.floor(math.log10(ratio) + 1e-9))}f}"


def _power(delta: float) -> str:
    """Return a power of ten as it is written by hand."""
    raised = str(round(math.log10(delta))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}"
