"""Read a data dictionary that is pasted into the form of a dataset: what each column may hold.

It is CSV with one row a column, or JSON or YAML: the columns as the API has them, a list of them, a
table schema (Frictionless Data), or metadata of SmartNoise SQL and lomas.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, Final

from penstock.connectors.planning.refusals import refusal
from penstock.connectors.specs.metadata import read_metadata
from penstock.connectors.specs.models import ColumnType
from penstock.errors import InvalidInput
from penstock.nesting import DEEPEST, shallow, yaml_depth

POINTER: Final = "/dictionary"

TYPES: Final[Mapping[str, ColumnType]] = {
    **dict.fromkeys(("string", "str", "text", "char", "varchar", "category", "factor"), "string"),
    **dict.fromkeys(("integer", "int", "bigint", "int64", "int32", "year"), "integer"),
    **dict.fromkeys(("number", "float", "double", "decimal", "numeric", "real"), "number"),
    **dict.fromkeys(("boolean", "bool", "logical"), "boolean"),
    **dict.fromkeys(("date", "datetime", "timestamp"), "date"),
}
"""The types of columns, by what dictionaries call them."""

PARTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("name", "column", "field", "variable"), "name"),
    **dict.fromkeys(("type", "datatype", "data type"), "type"),
    **dict.fromkeys(("lower", "min", "minimum"), "lower"),
    **dict.fromkeys(("upper", "max", "maximum"), "upper"),
    "step": "step",
    **dict.fromkeys(("categories", "values", "enum", "codes"), "categories"),
    **dict.fromkeys(("missing", "missing value", "missing_value"), "missing"),
}
"""The fields of a column in the form, by what dictionaries call them."""

HEADINGS: Final = ("name", "type", "lower", "upper", "step", "categories", "missing")

_EXAMPLE = "for example: name,type,lower,upper,categories"
_SEPARATORS = "\t;,"


def filled(given: Mapping[str, str], most: int) -> tuple[dict[str, str], list[str]]:
    """Return the form with the fields of its columns filled, and the names of other columns.

    ``most`` is the number of columns in the form.  Raises ``InvalidInput``, at ``POINTER``, for
    everything that cannot be read.
    """
    dictionary = columns_of(given.get("dictionary", ""))
    changed, left = dict(given), dict(dictionary)
    for place in range(most):
        entry = left.pop(given.get(f"column {place}", ""), None)
        if entry is not None:
            changed |= {f"{part} {place}": text for part, text in entry.items()}
    return changed, list(left)


def template_of(columns: Mapping[str, str], most: int) -> str:
    """Return a dictionary as CSV that says no more of ``columns`` than their names and types.

    It has the first ``most`` of them, and is there to be completed.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADINGS)
    for name, kind in list(columns.items())[:most]:
        writer.writerow((name, kind, *("" for _ in HEADINGS[2:])))
    return text.getvalue()


def columns_of(text: str) -> dict[str, dict[str, str]]:
    """Return what a dictionary says of each column: texts by field of the form, one if it says so.

    Raises ``InvalidInput``, at ``POINTER``, with all that is wrong.
    """
    wrong: list[str] = []
    columns: dict[str, dict[str, str]] = {}
    for name, entry in _entries(text):
        if name in columns:
            wrong.append(f"Column {name!r} is listed twice; list each once.")
        columns[name] = _fields(name, entry, wrong)
    if wrong:
        raise refusal([(POINTER, sentence) for sentence in wrong])
    if not columns:
        raise _refused(f"No column is listed; write one row for each column, {_EXAMPLE}.")
    return columns


def _entries(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not text.strip():
        raise _refused(f"Paste the data dictionary first: CSV, JSON or YAML, {_EXAMPLE}.")
    head = text.strip().splitlines()[0]
    separator = max(_SEPARATORS, key=head.count)
    names = [_part(name) for name in head.split(separator)]
    if separator in head and "name" in names:
        yield from _rows(text.strip(), separator)
    else:
        yield from _described(_document(text))


def _rows(text: str, separator: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of CSV."""
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    try:
        parts = [_part(name) for name in next(rows)]
        for row in filter(any, rows):
            cells = {part: cell.strip() for part, cell in zip(parts, row, strict=False) if part}
            listed = cells.pop("categories", "")
            entry = {**cells, "categories": _divided(listed, separator) if listed else None}
            yield cells.get("name", ""), entry
    except csv.Error as problem:
        raise _refused(
            f"Line {rows.line_num} of the dictionary is not CSV ({problem}); close its quotation"
            " marks."
        ) from None


def _divided(cell: str, separator: str) -> list[str]:
    """Return the categories of one cell: between bars, or what does not separate cells."""
    marks = [mark for mark in ("\n", "|", ";", ",") if mark in cell and mark != separator]
    return [part.strip() for part in cell.split(marks[0])] if marks else [cell]


def _document(text: str) -> Any:
    import yaml  # imported late: a start of the server reads no YAML

    # JSON is read by its own reader: YAML refuses tabs, and takes "no" for false.
    try:
        if text.lstrip().startswith(("{", "[")):
            return json.loads(shallow(text))
        if yaml_depth(text) > DEEPEST:
            raise ValueError(f"nested more than {DEEPEST} deep")
        return yaml.safe_load(text)
    except json.JSONDecodeError as problem:
        place, kind = f"line {problem.lineno}, column {problem.colno}", "JSON"
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        place, kind = (f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""), "YAML"
    except (yaml.YAMLError, ValueError):
        place, kind = "it nests too deep or has a value that cannot be read", "JSON or YAML"
    raise _refused(f"The dictionary is not {kind}: {place}. A table is CSV, {_EXAMPLE}.")


def _described(document: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the columns of a document, with its constraints beside its type."""
    if isinstance(document, Mapping):
        listed = document.get("fields", document.get("columns", document))
    else:
        listed = document
    if isinstance(listed, Mapping) and listed is document and not _is_flat(listed):
        listed = read_metadata(document).fields.get("columns", {})
    if isinstance(listed, Mapping):
        listed = [
            {**entry, "name": name} if isinstance(entry, Mapping) else {"name": name, "type": entry}
            for name, entry in listed.items()
        ]
    if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
        raise _refused(f"The dictionary lists no columns; write one row for each, {_EXAMPLE}.")
    for entry in listed:
        constraints = entry.get("constraints")
        whole = {**(constraints if isinstance(constraints, Mapping) else {}), **entry}
        parts = {_part(str(name)): value for name, value in whole.items()}
        yield _text(parts.get("name")), {part: parts[part] for part in parts if part != "name"}


def _is_flat(listed: Mapping[Any, Any]) -> bool:
    """Return False for tables of columns, or schemas of such tables."""
    return not any(
        isinstance(inner, Mapping) and name != "constraints" and not _part(str(name))
        for entry in listed.values()
        if isinstance(entry, Mapping)
        for name, inner in entry.items()
    )


def _fields(name: str, entry: Mapping[str, Any], wrong: list[str]) -> dict[str, str]:
    """Return the texts of one column's fields; append to ``wrong`` what is not valid."""
    fields: dict[str, str] = {}
    if not name:
        wrong.append("A column has no name; each row begins with the name of its column.")
    kind = entry.get("type")
    if kind not in (None, ""):
        known = TYPES.get(str(kind).partition("(")[0].strip().lower())
        if known is None:
            wrong.append(
                f"Column {name!r} has a type that is not known here; use one of"
                f" {', '.join(sorted(set(TYPES.values())))}."
            )
        fields["type"] = known or ""
    for part in ("lower", "upper", "step", "missing"):
        value = entry.get(part)
        if isinstance(value, Mapping | list):
            wrong.append(f"Column {name!r} has no single value for {part}; write one value.")
        elif value not in (None, ""):
            fields[part] = _text(value)
    categories = entry.get("categories")
    if categories not in (None, "", []):
        fields["categories"] = "\n".join(_categories(name, categories, wrong))
    return fields


def _categories(name: str, categories: Any, wrong: list[str]) -> Iterable[str]:
    if isinstance(categories, Mapping):  # codes with their labels
        categories = list(categories)
    texts = [_text(code) for code in categories] if isinstance(categories, list) else [categories]
    if not all(isinstance(text, str) and text and len(text.splitlines()) == 1 for text in texts):
        wrong.append(f"Column {name!r} has a category that is empty or has several lines.")
        return ()
    return texts


def _part(name: str) -> str:
    """Return the field of the form that a heading stands for; empty for any other heading."""
    return PARTS.get(name.strip().strip("\"'\ufeff").lower(), "")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    return "" if value is None or isinstance(value, Mapping | list) else str(value)


def _refused(sentence: str) -> InvalidInput:
    return refusal([(POINTER, sentence)])
