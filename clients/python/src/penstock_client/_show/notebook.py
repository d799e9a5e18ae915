"""Show a release in a notebook, as a caption, a chart and a table, and what is derived from it."""

from collections.abc import Sequence
from html import escape

from penstock_client._show.figures import figure_of
from penstock_client._show.frames import label
from penstock_client._show.rounding import percent, short
from penstock_client._show.shown import ShownRelease
from penstock_client._values.estimates import Estimate
from penstock_client._values.wording import Wording
from penstock_client.errors import NotDrawable
from penstock_client.figures import decimals, fixed, printable

ROWS = 40

Values = tuple[str, float, float, float]
"""The name of a released value, the value, and the ends of its interval."""

Row = tuple[str, float | None, float | None, float | None]
"""A name, a value, and the ends of its interval."""

_RIGHT = ' style="text-align:right;padding:0 .6em;font-variant-numeric:tabular-nums"'
_LEFT = ' style="text-align:left;padding:0 .6em"'


def page(release: ShownRelease, rows: int = ROWS) -> str:
    """Return HTML without scripts: at most the first ``rows`` values, and a note on the rest."""
    digits = decimals(release.error.standard_deviation)
    confidence = percent(release.error.confidence)
    interval = release.interval(release.error.confidence)
    shown = list(
        zip(
            release.labels(rows),
            release.values[:rows],
            interval.lower[:rows],
            interval.upper[:rows],
            strict=True,
        )
    )
    caption = "<br>".join(map(_text, release.caption()))
    return "".join(
        (
            "<div>",
            f"<p><strong>{_text(release.query)}</strong><br>{caption}</p>",
            _chart(release),
            _table(shown, digits, confidence),
            _note(len(shown), len(release.values)),
            _estimates(release.estimates[:rows], confidence),
            "</div>",
        )
    )


def _chart(release: ShownRelease) -> str:
    """Return the figure of a release; without values, or with too large ones, there is none."""
    if not release.values:
        return ""
    try:
        return figure_of(release, Wording()).html()
    except NotDrawable:
        return ""


def _table(shown: Sequence[Values], digits: int, confidence: str) -> str:
    heads = ("key", "value", f"lower {confidence}", f"upper {confidence}")
    head = "".join(
        f"<th{_RIGHT if index else _LEFT}>{_text(name)}</th>" for index, name in enumerate(heads)
    )
    rows = "".join(
        f"<tr><td{_LEFT}>{_text(name)}</td>"
        + "".join(f"<td{_RIGHT}>{fixed(number, digits)}</td>" for number in numbers)
        + "</tr>"
        for name, *numbers in shown
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _estimates(estimates: Sequence[Estimate], confidence: str) -> str:
    """Return a table of estimates; a dash stands for a number that there is too much noise for."""
    if not estimates:
        return ""
    rows = [(_name(each), each.value, each.lower, each.upper) for each in estimates]
    return _numbers("estimate", rows, confidence)


def quantities(rows: Sequence[Row], total: int, confidence: float, law: str) -> str:
    """Return HTML of derived quantities: ``rows`` of ``total``, and the law of their intervals."""
    return "".join(
        (
            "<div>",
            _numbers("quantity", rows, percent(confidence)),
            _note(len(rows), total),
            f"<p>{_text(law)}</p>",
            "</div>",
        )
    )


def nothing() -> str:
    """Return HTML for derived quantities without keys."""
    return "<div><p>There are no keys here, so nothing was computed.</p></div>"


def _numbers(first: str, rows: Sequence[Row], confidence: str) -> str:
    """Return a table of numbers with their intervals, whose first column is called ``first``."""
    heads = (first, "value", f"lower {confidence}", f"upper {confidence}")
    head = "".join(
        f"<th{_RIGHT if index else _LEFT}>{_text(name)}</th>" for index, name in enumerate(heads)
    )
    body = "".join(
        f"<tr><td{_LEFT}>{_text(name)}</td>"
        + "".join(
            f"<td{_RIGHT}>{'-' if number is None else short(number, 5)}</td>" for number in numbers
        )
        + "</tr>"
        for name, *numbers in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _name(estimate: Estimate) -> str:
    return estimate.name if estimate.key is None else f"{estimate.name}, {label(estimate.key)}"


def _note(shown: int, total: int) -> str:
    if shown == total:
        return ""
    return (
        f"<p>The first {shown:,} of {total:,} values;"
        " <code>.to_pandas()</code> has all of them.</p>"
    )


def _text(text: str) -> str:
    return escape(printable(text))
