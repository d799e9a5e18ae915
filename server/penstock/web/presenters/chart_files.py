"""Write a chart as a file: SVG, or PNG by resvg, which is an optional extra.

Both have what the page has, and nothing else: they are drawn from the same content.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from penstock.errors import InvalidInput
from penstock.web.charts.drawing.files import as_file, light_colors
from penstock.web.charts.drawing.svg import WIDE
from penstock.web.presenters.figure import Picture

MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
STYLESHEET = Path(__file__).parents[1] / "static/charts.css"
FONT = "DejaVu Sans"
"""The font of a PNG, which the machine must have: an SVG leaves the choice to its reader."""

ZOOM = 2.0
"""Pixels of a PNG to one unit of the chart, so that it is sharp in print."""

LETTER = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">'
    '<text x="2" y="16" font-family="sans-serif">M</text></svg>'
)


def chart_file(picture: Picture, form: str) -> bytes:
    """Return a picture as the bytes of a file in a format of ``MEDIA_TYPES``.

    Raises ``InvalidInput`` for another format, and for a PNG where the server cannot write any.
    """
    write = writer_of(form)
    return write(
        as_file(picture.draw("chart", WIDE), picture.message or picture.table.caption, _colors())
    )


def writer_of(form: str) -> Callable[[str], bytes]:
    """Return what writes a chart in a format.  Raises as ``chart_file`` does."""
    if form not in MEDIA_TYPES:
        raise InvalidInput(f"Choose a format: {', '.join(MEDIA_TYPES)}.")
    return str.encode if form == "svg" else _png_writer()


@cache
def _colors() -> dict[str, str]:
    return light_colors(STYLESHEET.read_text())


def _png_writer() -> Callable[[str], bytes]:
    try:
        # An optional extra.
        from resvg_py import svg_to_bytes
    except ImportError:
        raise InvalidInput(
            "This server writes no PNG, since its extra png is not installed: download the SVG,"
            " or ask who runs the server for pip install 'penstock[png]'."
        ) from None
    blank = LETTER.replace(">M<", "><")
    if svg_to_bytes(LETTER, sans_serif_family=FONT) == svg_to_bytes(blank):
        raise InvalidInput(
            f"This server writes no PNG, since its machine lacks the font {FONT}: download the"
            " SVG, or ask who runs the server for the package fonts-dejavu-core."
        )
    return partial(svg_to_bytes, zoom=ZOOM, sans_serif_family=FONT)
