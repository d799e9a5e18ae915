"""Write results: a table for people, JSON or CSV for programs."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from penstock_client.figures import printable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The first characters that make a spreadsheet run a cell as a formula."""


class Format(StrEnum):
    """Name the formats in which data are written to standard output."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True)
class Column:
    """Hold a column's name, and how a table shows its cells.

    Numbers are aligned to the right, so that their digits line up.  A column without ``shown``
    is for programs only.  ``heading`` is the column's heading in tables, by default its name.
    """

    name: str
    shown: Callable[[object], str] | None = str
    right: bool = False
    heading: str = ""


@dataclass(frozen=True)
class Document:
    """Hold the result of a command.

    ``answer`` is for JSON, ``columns`` and ``rows`` are for CSV and tables.  For people only:
    ``facts`` are lines above the table, ``note`` is a message on standard error, and ``below``
    is a second table.
    """

    answer: object
    columns: Sequence[Column]
    rows: Sequence[Sequence[object]]
    facts: Sequence[str] = ()
    note: str = ""
    below: "Document | None" = None


def written(document: Document, form: Format) -> str:
    """Return the document as text that ends with a line end."""
    if form is Format.JSON:
        return _json(document.answer)
    if form is Format.CSV:
        return _csv(document)
    facts = [printable(fact) for fact in document.facts]
    lines = [*facts, ""] if facts and document.rows else facts
    text = "".join(f"{line}\n" for line in (*lines, *_table(document)))
    return text if document.below is None else f"{text}\n{written(document.below, form)}"


def _json(answer: object) -> str:
    return json.dumps(answer, indent=2, allow_nan=False, default=_plain) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _csv(document: Document) -> str:
    """Return CSV in which no text is a formula to a spreadsheet, by the server's rule.

    A text that would be a formula, or that begins with an apostrophe, gets one apostrophe in
    front; to read it back, remove one leading apostrophe.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in document.columns)
    writer.writerows([_harmless(cell) for cell in row] for row in document.rows)
    return text.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith((*FORMULA, "'")) else cell


def _table(document: Document) -> list[str]:
    if not document.rows:
        return []
    shown = [
        (index, column.shown, column)
        for index, column in enumerate(document.columns)
        if column.shown is not None
    ]
    cells = [[column.heading or column.name.replace("_", " ") for _, _, column in shown]]
    cells += [
        ["" if row[index] is None else printable(show(row[index])) for index, show, _ in shown]
        for row in document.rows
    ]
    # Imported here: it takes longer than many a command that prints no table.
    from tabulate import tabulate

    text = tabulate(
        cells,
        tablefmt="plain",
        # Numbers are formatted already, and wcwidth measures wide characters.
        disable_numparse=True,
        colalign=["right" if column.right else "left" for _, _, column in shown],
        preserve_whitespace=True,
    )
    return [line.rstrip() for line in text.split("\n")]
