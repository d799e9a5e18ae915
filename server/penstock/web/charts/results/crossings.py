"""Draw the values of groups that two keys name, or of groups with one key as they are."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ..crossed.grids import Grid, grid_of
from ..crossed.panels import panels_of_lines
from ..crossed.sentences import sentence
from ..crossed.series import lines_over_steps
from ..crossed.trellis import panels_of_dots
from ..drawing.values import Level
from ..intervals import Groups
from ..intervals import rows as group_rows
from .drawings import Drawing, Names
from .releases import MOST_KEYS, by_group

MOST_CROSSED = 2000
"""Largest number of groups in the chart of a grid, the first ones; its table has fewer."""

Keys = tuple[tuple[str, ...], ...]


def by_keys(
    names: Names,
    keys: Keys,
    levels: tuple[Level, ...],
    confidence: float,
    total: int = 0,
    remark: str = "",
) -> Drawing:
    """Draw groups by their keys' parts at each level, the most accurate first.

    Two keys are drawn as lines over the one that has an order, and without an order as panels.
    ``total`` is the number of all groups if these are only the first of more.
    """
    labels = tuple(", ".join(key) for key in keys)
    first = tuple(replace(level, intervals=level.intervals[:MOST_KEYS]) for level in levels)
    grid = grid_of(names.title, keys, levels)
    if grid is None:
        total = max(total, len(keys))
        return by_group(names, labels[:MOST_KEYS], first, confidence, total, remark)
    tabled = Groups(names.title, labels[:MOST_KEYS], first, names.unit, confidence, total)
    grid = replace(
        grid,
        quantity=names.unit,
        confidence=confidence,
        total=total,
        tabled=len(tabled.keys),
    )
    written = sentence(names.subject, labels, grid)
    return Drawing(
        partial(_chart(grid), replace(grid, title=written)), group_rows(tabled), written, remark
    )


def _chart(grid: Grid) -> Callable[[Grid, str, int], str]:
    if not grid.positions:
        return panels_of_dots
    return lines_over_steps if len(grid.levels) == 1 else panels_of_lines
