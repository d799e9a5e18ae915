"""Write the results of commands: a table for people, JSON or CSV for programs."""

import csv
import dataclasses
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from penstock.figures import aligned, moment, printable, short

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The first characters that make a spreadsheet run a cell as a formula."""


class Format(StrEnum):
    """Name the formats in which data are written to standard output."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def plainly(cell: Any) -> str:
    """Format a cell for people: join lists, show times to the second, shorten numbers."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return short(cell)
    if isinstance(cell, datetime):
        return moment(cell)
    if isinstance(cell, list | tuple):
        return ", ".join(plainly(part) for part in cell)
    return str(cell)


@dataclass(frozen=True)
class Column:
    """Hold a column's name, and how a table shows its cells.

    Numbers are aligned to the right, so that their digits line up.  A column without ``shown``
    is for programs only.  ``heading`` is the column's heading in tables, by default its name.
    """

    name: str
    shown: Callable[[Any], str] | None = plainly
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
        plain = json.dumps(document.answer, indent=2, allow_nan=False, default=as_json)
        return plain + "\n"
    if form is Format.CSV:
        return _csv(document)
    facts = [printable(fact) for fact in document.facts]
    lines = [*facts, ""] if facts and document.rows else facts
    text = "".join(f"{line}\n" for line in (*lines, *_table(document)))
    return text if document.below is None else f"{text}\n{written(document.below, form)}"


def as_json(value: object) -> object:
    """Convert a value for JSON: dataclasses to their fields, arrays to lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    listed = getattr(value, "tolist", None)
    return listed() if callable(listed) else str(value)


def _csv(document: Document) -> str:
    """Return CSV in which no text is a formula to a spreadsheet, as ``tabular_formats`` does."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in document.columns)
    writer.writerows([_csv_cell(cell) for cell in row] for row in document.rows)
    return text.getvalue()


def _csv_cell(cell: object) -> object:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return as_json(cell)
    if isinstance(cell, list | tuple):
        return " ".join(str(part) for part in cell)
    if isinstance(cell, Mapping):
        return json.dumps(cell, ensure_ascii=False, default=as_json)
    if isinstance(cell, str) and cell.startswith((*FORMULA, "'")):
        return "'" + cell
    return cell


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
    right = [place for place, (_, _, column) in enumerate(shown) if column.right]
    return aligned(cells, right)
