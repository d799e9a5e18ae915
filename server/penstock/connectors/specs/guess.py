"""Guess a schema: names and types from the file's header, never from a cell."""

import re
from pathlib import Path

from penstock.connectors.duckdb import source_file
from penstock.connectors.duckdb.source_file import SourceFile
from penstock.connectors.specs.models import ColumnType
from penstock.errors import InvalidInput

_INTEGER = re.compile(r"u?int(8|16|32|64)")
_NUMBER = re.compile(r"halffloat|float|double|decimal\d*\(.*\)")
_DATE = re.compile(r"date(32|64)\[.*\]|timestamp\[.*\]")


def guess_schema(path: Path) -> dict[str, ColumnType]:
    """Return the file's columns in its order, with the types that the format itself declares.

    CSV declares none, so all its columns are strings until the admin declares a type.
    Raises ``InvalidInput`` for a file that is neither CSV nor Parquet.
    """
    file = source_file.locate_path(path)
    if file.format == "csv":
        names = source_file.column_names(file)
        _require_apart(names)
        return dict.fromkeys(names, "string")
    return _types_in_parquet(file)


def _require_apart(names: tuple[str, ...]) -> None:
    if any("\ufffd" in name or "\0" in name for name in names):
        raise InvalidInput(
            "The file's first line has characters that are no UTF-8. Write the file again in UTF-8:"
            " in a spreadsheet, it is a choice of Save As."
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(
            f"The file has several columns of the same name, {', '.join(map(repr, twice[:5]))};"
            " rename them in its first line."
        )
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise InvalidInput(
            f"The file's first line has one name, {names[0]!r}: names and cells are separated by"
            " commas here, and by nothing else. Write the file again with commas."
        )


def _types_in_parquet(file: SourceFile) -> dict[str, ColumnType]:
    return {name: _type(kind) for name, kind in source_file.types_in_parquet(file).items()}


def _type(kind: str) -> ColumnType:
    if kind == "bool":
        return "boolean"
    if _INTEGER.fullmatch(kind):
        return "integer"
    if _NUMBER.fullmatch(kind):
        return "number"
    return "date" if _DATE.fullmatch(kind) else "string"
