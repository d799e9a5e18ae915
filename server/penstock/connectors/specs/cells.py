"""Read cells of declared columns as values, and spell these values.

Every value has one spelling, however the request wrote it: 1, 1.0 and 1e0 are the same integer, and
the same number.
"""

import datetime
from fractions import Fraction

from penstock.connectors.specs.models import ColumnType

Cell = str | int | float | bool | datetime.date

EXAMPLES: dict[ColumnType, str] = {
    "string": "a string",
    "integer": "an integer that fits 64 bits",
    "number": "a number",
    "boolean": "true or false",
    "date": 'a date such as "2013-01-31"',
}

NUMERIC: frozenset[ColumnType] = frozenset({"integer", "number"})
ORDERED: frozenset[ColumnType] = frozenset({"integer", "number", "date"})


def cell(kind: ColumnType, value: object) -> Cell | None:
    """Convert a value of a spec to a cell of type ``kind``; None if it does not fit."""
    match kind:
        case "string":
            return value if isinstance(value, str) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return _date(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if kind == "number":
        return float(value) + 0.0
    return int(value) if value == int(value) and abs(value) < 2**63 else None


def _date(value: object) -> datetime.date | None:
    if not isinstance(value, str) or len(value) != len("2013-01-31"):
        return None
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        return None


def label(value: Cell) -> str:
    """Return the key of a category, or of an edge of a bin, in a release."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value == int(value) else repr(value)
        case datetime.date():
            return value.isoformat()
    return str(value)


def spelling(value: Cell) -> list[str]:
    """Return the canonical spelling of a value, with its type: "1" and 1 differ."""
    match value:
        case bool():
            return ["boolean", label(value)]
        case int() | float():
            return ["number", str(Fraction(value))]
        case datetime.date():
            return ["date", value.isoformat()]
    return ["string", value]
