"""Provide what goes with a drawing: its table, and its description for those who cannot see it."""

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.experiments.drawing.line_chart import Panel


@dataclass(frozen=True)
class Drawn:
    """Hold a figure as SVG, if it is one, and its tables in Markdown."""

    svg: str | None
    tables: str


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, aligned to the right."""
    lines = [heads, ["---:"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace(" ---: ", "---:") for line in lines)


def described(panels: Sequence[Panel]) -> str:
    """Return what the lines of the panels end with."""
    ends = "; ".join(
        f"{panel.title}: "
        + ", ".join(f"{line.name} {line.points[-1][1]:.4g}" for line in panel.lines)
        + f" at {panel.lines[0].points[-1][0]:g}"
        for panel in panels
    )
    return f"Line charts. {ends}."
