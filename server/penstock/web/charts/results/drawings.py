"""Pair a chart with its sentence and with a table of the same numbers."""

from collections.abc import Callable
from dataclasses import dataclass

from ..drawing.values import Table


@dataclass(frozen=True)
class Drawing:
    """Hold a chart that ``draw`` draws, by the prefix of its ids and its width, and its table.

    ``message`` is the sentence that the chart shows, if it has one, and ``remark`` says what is
    left out, if anything is.  ``looks`` are the names of all ways in which the same result can be
    drawn, if there are several, and ``look`` is the one that was chosen.
    """

    draw: Callable[[str, int], str]
    table: Table
    message: str = ""
    remark: str = ""
    looks: tuple[str, ...] = ()
    look: str = ""


PLAIN, MAP, MARGINS = "", "map", "margins"
"""Ways to draw a result: as it is usual for its keys, as a heat map, or as one of its margins."""


@dataclass(frozen=True)
class Names:
    """Hold what a result is called: its table, the subject of its sentence, and its unit."""

    title: str
    subject: str
    unit: str = ""
