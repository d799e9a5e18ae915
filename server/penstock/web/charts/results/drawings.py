"""Pair a chart with its sentence and with a table of the same numbers."""

from collections.abc import Callable
from dataclasses import dataclass

from ..drawing.values import Table


@dataclass(frozen=True)
class Drawing:
    """Hold a chart that ``draw`` draws, by the prefix of its ids and its width, and its table.

    ``message`` is the sentence that the chart shows, if it has one, and ``remark`` says what is
    left out, if anything is.
    """

    draw: Callable[[str, int], str]
    table: Table
    message: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Names:
    """Hold what a result is called: its table, the subject of its sentence, and its unit."""

    title: str
    subject: str
    unit: str = ""
