"""Pair a chart with a table of the same numbers, for templates."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from markupsafe import Markup

from penstock.web.charts.drawing.svg import NARROW, both_widths
from penstock.web.charts.drawing.values import Table
from penstock.web.charts.results.drawings import Drawing

Content = TypeVar("Content")


@dataclass(frozen=True)
class Picture:
    """Hold a drawn chart and its table; ``remark`` says what is left out, if anything is.

    ``message`` is the sentence that the chart shows, if it is written above it, and ``draw``
    draws the chart again, for a file.  ``looks`` are all ways in which it can be drawn, if there
    are several, and ``look`` is the one that was chosen.
    """

    drawn: Markup
    table: Table
    draw: Callable[[str, int], str]
    remark: str = ""
    message: str = ""
    looks: tuple[str, ...] = ()
    look: str = ""


def picture(
    chart: Callable[[Content, str, int], str],
    rows: Callable[[Content], Table],
    content: Content,
    prefix: str,
    remark: str = "",
    message: str = "",
) -> Picture:
    """Draw a chart for phones and for wider pages; its ids begin with ``prefix``."""

    def draw(start: str, width: int) -> str:
        return chart(content, start, width)

    return pictured(Drawing(draw, rows(content), message, remark), prefix)


def pictured(drawing: Drawing, prefix: str) -> Picture:
    """Draw a result for phones and for wider pages; its ids begin with ``prefix``."""
    # Charts escape every text that they are given.
    drawn = Markup(both_widths(drawing.draw, prefix))  # noqa: S704
    parts = (drawn, drawing.table, drawing.draw, drawing.remark, drawing.message)
    return Picture(*parts, drawing.looks, drawing.look)


def small(drawn: Picture, prefix: str) -> Picture:
    """Return the chart as phones have it, at every width; its ids begin with ``prefix``."""
    return replace(drawn, drawn=Markup(drawn.draw(prefix, NARROW)))  # noqa: S704
