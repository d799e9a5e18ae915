"""Pair a chart with a table of the same numbers, for templates."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from markupsafe import Markup

from penstock.web.charts.drawing.svg import NARROW, both_widths
from penstock.web.charts.drawing.values import Table

Content = TypeVar("Content")


@dataclass(frozen=True)
class Picture:
    """Hold a drawn chart and its table; ``remark`` says what is left out, if anything is.

    ``message`` is the sentence that the chart shows, if it is written above it, and ``draw``
    draws the chart again, for a file.
    """

    drawn: Markup
    table: Table
    draw: Callable[[str, int], str]
    remark: str = ""
    message: str = ""


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

    # Charts escape every text that they are given.
    return Picture(Markup(both_widths(draw, prefix)), rows(content), draw, remark, message)  # noqa: S704


def small(drawn: Picture, prefix: str) -> Picture:
    """Return the chart as phones have it, at every width; its ids begin with ``prefix``."""
    return replace(drawn, drawn=Markup(drawn.draw(prefix, NARROW)))  # noqa: S704
