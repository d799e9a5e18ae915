"""Write the page of an auditor's report as HTML, which needs no other file."""

import base64
import hashlib
from collections.abc import Iterable
from typing import Final

from markupsafe import Markup, escape

from penstock.http.reports.report_sheet import Sheet, Table

_STYLE: Final = """
@page { size: A4; margin: 14mm 16mm }
* { box-sizing: border-box }
body { font: 12px/1.45 system-ui, sans-serif; color: #1c2733; background: #fff;
  max-width: 178mm; margin: 10mm auto; padding: 0 4mm; overflow-wrap: anywhere }
@media print { body { margin: 0 auto; padding: 0 } }
h1 { font-size: 22px; line-height: 1.25; margin: 0 }
h2 { font-size: 14px; margin: 14px 0 2px }
p { margin: 2px 0 } .quiet { color: #52606d; font-size: 11px }
.verdict { border-left: 4px solid #0b6e6e; background: #eef6f6; padding: 6px 10px;
  margin: 10px 0; font-size: 14px }
.verdict.bad { border-color: #b42318; background: #fdf0ee; font-weight: bold }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; vertical-align: top; padding: 2px 16px 2px 0;
  border-bottom: 1px solid #d8dee5 }
th { font-weight: 600; color: #52606d; font-size: 11px }
.figure { text-align: right } tr > :last-child { padding-right: 0 }
dl { display: grid; grid-template-columns: 28mm 1fr; margin: 4px 0; font-size: 10px }
dt { color: #52606d } dd { margin: 0; font-family: ui-monospace, monospace }
"""
STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
"""What a Content-Security-Policy has to allow."""

END: Final = b"</body>\n"


def html(sheet: Sheet) -> bytes:
    """Return the document, without its signatures."""
    terms = _joined(
        Markup("<dt>{}</dt><dd>{}</dd>\n").format(name, value) for name, value in sheet.signature
    )
    return (
        Markup(
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            "<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
            '<h1>{title}</h1>\n<p class="quiet">{subtitle}</p>\n'
            '<p class="verdict{state}">{verdict}</p>\n{tables}'
            "<h2>Signature</h2>\n<dl>\n{terms}</dl>\n"
            '<p class="quiet">{foot}</p>\n</main>\n'
        )
        .format(
            title=sheet.title,
            style=Markup(_STYLE),  # noqa: S704  # our own
            subtitle=sheet.subtitle,
            state="" if sheet.sound else " bad",
            verdict=sheet.verdict,
            tables=_joined(map(_table, sheet.tables)),
            terms=terms,
            foot=sheet.foot,
        )
        .encode()
        + END
        + b"</html>\n"
    )


def _table(table: Table) -> Markup:
    head = Markup("<h2>{}</h2>\n").format(table.title)
    if table.text:
        head += Markup('<p class="quiet">{}</p>\n').format(table.text)
    if not table.rows:
        return head + Markup("<p>{}</p>\n").format(table.empty)
    heads = _joined(_cell("th", place, text, table) for place, text in enumerate(table.heads))
    rows = _joined(
        Markup("<tr>{}</tr>\n").format(
            _joined(_cell("td", place, text, table) for place, text in enumerate(row))
        )
        for row in table.rows
    )
    return head + Markup(
        "<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table>\n"
    ).format(heads, rows)


def _cell(tag: str, place: int, text: str, table: Table) -> Markup:
    figure = Markup(' class="figure"') if place in table.figures else Markup()
    scope = Markup(' scope="col"') if tag == "th" else Markup()
    # A name from right to left must not move the cells beside it.
    return Markup("<{0}{1}{2}><bdi>{3}</bdi></{0}>").format(Markup(tag), scope, figure, text)  # noqa: S704


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup().join(map(escape, parts))
