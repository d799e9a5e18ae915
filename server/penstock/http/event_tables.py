"""Write events of the audit log as CSV, while they are read.

There is one row for each leaf, with its fields and, in the last column, all of it as JSON.  Cells
that a spreadsheet would run as formulas get an apostrophe, as in every CSV (``tabular_formats``).
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from flask import Response

from penstock.http.answers import LINES
from penstock.http.tabular_formats import harmless
from penstock.services.schemas.views import EventView

FORMS: Final[Mapping[str, str]] = {"json": LINES, "csv": "text/csv"}
"""The media types of a list of events, the preferred one first."""

FIELDS: Final = ("at", "kind", "actor", "user", "dataset", "query", "tier", "release")
COLUMNS: Final = ("index", *FIELDS, "level_parameter", "level", "leaf_hash", "leaf")

PART: Final = 500
"""The number of rows that are sent at once."""


def flat(event: EventView) -> dict[str, Any]:
    """Return a leaf's fields with its place and hash, as the API lists them."""
    return {"index": event.index, "leaf_hash": event.leaf_hash, **event.leaf}


def csv_answer(events: Iterable[Mapping[str, Any]]) -> Response:
    """Return an answer that streams ``flat`` events as a file of CSV."""
    response = Response(_written(events), mimetype=FORMS["csv"])
    response.headers["Content-Disposition"] = 'attachment; filename="penstock-timeline.csv"'
    response.headers["Vary"] = "Accept"
    return response


def _written(events: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    output = io.StringIO()
    writer = csv.writer(output)
    writer.writerow(COLUMNS)
    for place, event in enumerate(events, 1):
        writer.writerow(map(harmless, cells(event)))
        if place % PART == 0:
            yield output.getvalue().encode()
            output.seek(0)
            output.truncate()
    yield output.getvalue().encode()


def cells(event: Mapping[str, Any]) -> list[str]:
    """Return the cells of a row, in the order of the columns."""
    leaf = {name: part for name, part in event.items() if name not in ("index", "leaf_hash")}
    level = leaf.get("level")
    level = level if isinstance(level, dict) else {}
    values = (level.get("parameter"), level.get("value"), event["leaf_hash"])
    texts = [event["index"], *map(leaf.get, FIELDS), *values]
    whole = json.dumps(leaf, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return ["" if text is None else str(text) for text in (*texts, whole)]
