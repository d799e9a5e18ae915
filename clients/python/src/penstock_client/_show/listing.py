"""Hold lists of answers that render as tables in notebooks and convert to data frames."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeVar

from penstock_client._show.frames import library
from penstock_client._show.output import Column, Document
from penstock_client.figures import printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

T = TypeVar("T")

ROWS = 100
"""The most rows that a notebook shows."""

_RIGHT = ' style="text-align:right"'
_LEFT = ' style="text-align:left"'


class Listing(list[T]):
    """Hold a list of answers; ``document_of`` turns them into the columns of the command line.

    It is a list in every other respect.  Slices and copies are plain lists.
    """

    def __init__(self, items: Iterable[T], document_of: Callable[[Sequence[T]], Document]) -> None:
        super().__init__(items)
        self._document_of = document_of

    def to_pandas(self) -> "pd.DataFrame":
        """Return a pandas frame with the columns that the command line prints as CSV, unrounded.

        An item with several tiers has one row for each.  Raises ``MissingExtra`` if pandas is not
        installed.
        """
        frame: pd.DataFrame = library("pandas", "to_pandas").DataFrame(self._columns())
        return frame

    def to_polars(self) -> "pl.DataFrame":
        """Return a polars frame with the columns of ``to_pandas``.

        Raises ``MissingExtra`` if polars is not installed.
        """
        polars = library("polars", "to_polars")
        frame: pl.DataFrame = polars.DataFrame(self._columns(), strict=False)
        return frame

    def _columns(self) -> dict[str, list[object]]:
        document = self._document_of(self)
        return {
            column.name: [row[place] for row in document.rows]
            for place, column in enumerate(document.columns)
        }

    def _repr_html_(self) -> str:
        return page(self._document_of(self))


def page(document: Document, most: int = ROWS) -> str:
    """Return HTML without scripts: at most the first ``most`` rows, and a note on the rest."""
    shown = [
        (place, column) for place, column in enumerate(document.columns) if column.shown is not None
    ]
    head = "".join(
        f"<th{_side(column)}>{_text(column.heading or column.name)}</th>" for _, column in shown
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{_side(column)}>{_cell(row[place], column)}</td>" for place, column in shown)
        + "</tr>"
        for row in document.rows[:most]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    notes = document.note.splitlines()
    if len(document.rows) > most:
        notes.append(
            f"The first {most:,} of {len(document.rows):,} rows; .to_pandas() has all of them."
        )
    below = "".join(f"<p>{_text(note)}</p>" for note in notes)
    return f"<div>{table if rows else ''}{below}</div>"


def _side(column: Column) -> str:
    return _RIGHT if column.right else _LEFT


def _cell(value: object, column: Column) -> str:
    if value is None or column.shown is None:
        return ""
    return _text(column.shown(value))


def _text(text: str) -> str:
    return escape(printable(text))
