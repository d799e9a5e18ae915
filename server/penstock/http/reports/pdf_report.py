"""Write the page of an auditor's report as PDF, by ReportLab, which is an extra.

The font comes with ReportLab and is put into the file.  It has the letters of Western Europe;
others are written by their code points, as ``\\u0416``: the signed facts and the HTML have them as
they are.
"""

import bisect
import importlib.util
import io
from functools import cache
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

from penstock.errors import Unavailable
from penstock.http.reports.report_sheet import Sheet, Table

END: Final = b"startxref\n"
_FONT, _BOLD = "ReportSans", "ReportSansBold"
_INK, _QUIET, _LINE, _ACCENT, _DANGER = "#1c2733", "#52606d", "#d8dee5", "#0b6e6e", "#b42318"
_WIDTH: Final = 178.0
"""The width of the text in millimetres."""

_PADDING: Final = 9
"""The space at the right of a cell, in points."""


def installed() -> bool:
    """Return True if what writes PDF is installed."""
    return importlib.util.find_spec("reportlab") is not None


def pdf(sheet: Sheet) -> bytes:
    """Return the document, without its signatures.  Raises ``Unavailable``."""
    if not installed():
        raise Unavailable(
            "This server cannot write PDF: the package reportlab is not installed. Ask for the"
            " report as HTML, or ask the operator to run `pip install 'penstock[report]'`."
        )
    return _pdf(sheet)


def _pdf(sheet: Sheet) -> bytes:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import SimpleDocTemplate

    look = _styles()
    verdict = look["verdict" if sheet.sound else "bad"]
    parts: list[Any] = [
        _paragraph(sheet.title, look["title"]),
        _paragraph(sheet.subtitle, look["quiet"], lines=2),
        _paragraph(sheet.verdict, verdict, lines=2),
    ]
    for table in sheet.tables:
        parts += _table(table, look)
    parts.append(_paragraph("Signature", look["heading"]))
    rows = [
        (_paragraph(name, look["quiet"], 28.0), _paragraph(value, look["code"], _WIDTH - 28.0))
        for name, value in sheet.signature
    ]
    parts.append(_grid(rows, (28.0, _WIDTH - 28.0), lined=False))
    parts.append(_paragraph(sheet.foot, look["quiet"], lines=3))
    output = io.BytesIO()
    document = SimpleDocTemplate(
        output,
        pagesize=A4,
        title=_drawn(sheet.title),
        author="penstock",
        lang="en",
        leftMargin=16 * mm - 6,
        rightMargin=16 * mm - 6,
        topMargin=12 * mm,
        bottomMargin=10 * mm,
    )
    document.build(parts)
    return output.getvalue()


def _table(table: Table, look: dict[str, Any]) -> list[Any]:
    parts: list[Any] = [_paragraph(table.title, look["heading"])]
    if table.text:
        parts.append(_paragraph(table.text, look["quiet"], lines=3))
    if not table.rows:
        return [*parts, _paragraph(table.empty, look["body"])]
    share = _WIDTH / sum(table.widths)
    widths = [share * width for width in table.widths]

    def cells(row: tuple[str, ...], plain: str, figure: str) -> list[Any]:
        return [
            _paragraph(text, look[figure if place in table.figures else plain], widths[place])
            for place, text in enumerate(row)
        ]

    rows = [cells(table.heads, "head", "head_figure")]
    rows += [cells(row, "body", "figure") for row in table.rows]
    return [*parts, _grid(rows, widths, lined=True)]


def _paragraph(text: str, style: Any, width: float = _WIDTH, lines: int = 1) -> Any:
    """Return a text that is cut where it would need more than some lines of a width."""
    from reportlab.lib.units import mm
    from reportlab.pdfbase.pdfmetrics import stringWidth
    from reportlab.platypus import Paragraph

    drawn = _drawn(text)
    # Lines of words end before the margin.
    room = (width * mm - _PADDING - 1) * (1 if lines == 1 else 0.9 * lines)

    def wide(part: str) -> bool:
        return bool(stringWidth(part, style.fontName, style.fontSize) > room)

    if wide(drawn):
        ends = range(len(drawn))
        length = bisect.bisect_left(ends, 1, key=lambda end: int(wide(drawn[:end] + "\u2026")))
        drawn = drawn[: max(0, length - 1)] + "\u2026"
    return Paragraph(escape(drawn), style)


def _grid(rows: list[Any], widths: Any, *, lined: bool) -> Any:
    from reportlab.lib.colors import HexColor
    from reportlab.lib.units import mm
    from reportlab.platypus import Table as Grid

    style: list[Any] = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ("RIGHTPADDING", (0, 0), (-1, -1), _PADDING),
        ("RIGHTPADDING", (-1, 0), (-1, -1), 0),
        ("TOPPADDING", (0, 0), (-1, -1), 1),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5 if lined else 0),
    ]
    if lined:
        style.append(("LINEBELOW", (0, 0), (-1, -1), 0.5, HexColor(_LINE)))
    return Grid(rows, colWidths=[width * mm for width in widths], style=style, hAlign="LEFT")


@cache
def _glyphs() -> frozenset[int]:
    """Register the fonts once, and return the characters that both have."""
    import reportlab
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    folder = Path(reportlab.__file__).parent / "fonts"
    fonts = [TTFont(_FONT, folder / "Vera.ttf"), TTFont(_BOLD, folder / "VeraBd.ttf")]
    for font in fonts:
        pdfmetrics.registerFont(font)
    return frozenset.intersection(*(frozenset(font.face.charToGlyph) for font in fonts))


def _drawn(text: str) -> str:
    """Return a text in the characters that the fonts have; others by their code points."""
    known = _glyphs()
    return "".join(
        letter
        if ord(letter) in known
        else f"\\u{ord(letter):04x}"
        if ord(letter) < 2**16
        else f"\\U{ord(letter):08x}"
        for letter in text
    )


@cache
def _styles() -> dict[str, Any]:
    from reportlab.lib.colors import HexColor
    from reportlab.lib.styles import ParagraphStyle

    _glyphs()

    def style(name: str, size: float, **more: Any) -> Any:
        values = {"fontName": _FONT, "textColor": HexColor(_INK), "leading": 1.3 * size, **more}
        return ParagraphStyle(name, fontSize=size, **values)

    quiet = HexColor(_QUIET)
    box: dict[str, Any] = {"borderPadding": 5, "spaceBefore": 8, "spaceAfter": 6, "leftIndent": 6}
    return {
        "title": style("title", 16, fontName=_BOLD, spaceAfter=3),
        "heading": style("heading", 10, fontName=_BOLD, spaceBefore=10, spaceAfter=1),
        "quiet": style("quiet", 7, textColor=quiet, spaceAfter=1),
        "verdict": style("verdict", 9.5, backColor=HexColor("#eef6f6"), **box),
        "bad": style("bad", 9.5, fontName=_BOLD, backColor=HexColor("#fdf0ee"), **box),
        "body": style("body", 8),
        "figure": style("figure", 8, alignment=2),
        "head": style("head", 7, textColor=quiet),
        "head_figure": style("head_figure", 7, textColor=quiet, alignment=2),
        "code": style("code", 6.6, splitLongWords=1),
    }
