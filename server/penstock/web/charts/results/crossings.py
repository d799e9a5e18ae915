"""Draw the values of groups that two keys name, or of groups with one key as they are."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ..crossed.grids import Grid, grid_of
from ..crossed.heat import heat_map, margin_map
from ..crossed.panels import panels_of_lines
from ..crossed.sentences import margins_sentence, sentence
from ..crossed.series import lines_over_steps
from ..crossed.trellis import panels_of_dots
from ..drawing.values import Level
from ..intervals import Groups
from ..intervals import rows as group_rows
from .drawings import MAP, MARGINS, PLAIN, Drawing, Names
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
    look: str = PLAIN,
) -> Drawing:
    """Draw groups by their keys' parts at each level, the most accurate first.

    Two keys are drawn as lines over the one that has an order, and without an order as panels; or
    as the ``look`` that was chosen.  ``total`` is the number of all groups if these are only the
    first of more.
    """
    labels = tuple(", ".join(key) for key in keys)
    grid = grid_of(names.title, keys, levels)
    if grid is None:
        first, total = tuple(map(_first, levels)), max(total, len(keys))
        return by_group(names, labels[:MOST_KEYS], first, confidence, total, remark)
    grid, tabled = _tabled(names, grid, labels, levels, confidence, total)
    looks = (PLAIN, MAP, MARGINS)
    return _in_look(look, names, labels, grid, looks, tabled, remark)


def by_table(
    names: Names,
    keys: Keys,
    levels: tuple[Level, ...],
    confidence: float,
    total: int = 0,
    remark: str = "",
    look: str = PLAIN,
) -> Drawing | None:
    """Draw a marginal of two columns as a heat map; None unless both have several values.

    ``total`` is the number of its cells if these are only the first of more.
    """
    grid = grid_of(names.title, keys, levels)
    if grid is None:
        return None
    labels = tuple(", ".join(key) for key in keys)
    grid, tabled = _tabled(names, grid, labels, levels, confidence, total)
    return _in_look(look or MAP, names, labels, grid, (MAP, MARGINS), tabled, remark)


def two_way(columns: Sequence[int], cells: Sequence[int]) -> tuple[int, int] | None:
    """Return which marginal is the first of two columns, and how many cells are before it.

    ``columns`` and ``cells`` are the numbers of columns and of cells of each.
    """
    for place, count in enumerate(columns):
        if count == 2:
            return place, sum(cells[:place])
    return None


def marginal_remark(columns: Sequence[int]) -> str:
    """Return what is said of the marginals beside the one that is drawn."""
    tables = sum(count == 2 for count in columns)
    return f"This is the first of {tables:,} tables of two columns." if tables > 1 else ""


def _tabled(
    names: Names,
    grid: Grid,
    labels: tuple[str, ...],
    levels: tuple[Level, ...],
    confidence: float,
    total: int,
) -> tuple[Grid, Groups]:
    """Return a grid with what is written about it, and its table, which has the first groups."""
    first = tuple(map(_first, levels))
    tabled = Groups(names.title, labels[:MOST_KEYS], first, names.unit, confidence, total)
    written = replace(grid, quantity=names.unit, confidence=confidence, total=total)
    return replace(written, tabled=len(tabled.keys)), tabled


def _first(level: Level) -> Level:
    return replace(level, intervals=level.intervals[:MOST_KEYS])


def _in_look(
    look: str,
    names: Names,
    labels: tuple[str, ...],
    grid: Grid,
    looks: tuple[str, ...],
    tabled: Groups,
    remark: str,
) -> Drawing:
    """Return the drawing of a grid in one of its looks."""
    if look == MARGINS:
        written = margins_sentence(names.subject, grid)
    else:
        written = sentence(names.subject, labels, grid)
    chart = {MARGINS: margin_map, MAP: heat_map}.get(look) or _chart(grid)
    titled = replace(grid, title=written)
    return Drawing(partial(chart, titled), group_rows(tabled), written, remark, looks, look)


def _chart(grid: Grid) -> Callable[[Grid, str, int], str]:
    if not grid.positions:
        return panels_of_dots
    return lines_over_steps if len(grid.levels) == 1 else panels_of_lines
