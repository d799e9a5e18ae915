"""Surround a statement with what it reads: the view's columns with their types, and declared keys.

They are parts of the same SELECT, in front of the recorded text, since a read-only transaction
makes no tables and views.  Keys are bound as arrays.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from typing import Final

from sqlglot import exp

from penstock.connectors.planning.plan import Plan
from penstock.connectors.postgresql.dialect import PostgreSQL
from penstock.connectors.postgresql.views import Place
from penstock.connectors.specs.cells import Cell
from penstock.connectors.specs.models import ColumnType
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.declared import columns_of, groupings, keys_of
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import SOURCE, Statement

_BEGINNING: Final = "WITH "
_TYPES: Final[Mapping[ColumnType, str]] = {
    "string": "TEXT",
    "integer": "BIGINT",
    "number": "DOUBLE PRECISION",
    "boolean": "BOOLEAN",
    "date": "DATE",
}

with localcontext() as _context:
    _context.prec = 2000
    _LEAST: Final = format(Decimal(2) ** -1075, "E")
    _BEYOND: Final = format(Decimal(2) ** 1024 - Decimal(2) ** 970, "f")
"""Between which numbers a NUMERIC has a nearest double other than 0; a cast beyond them fails."""

Parameters = tuple[str, ...]


def surrounded(
    statement: Statement, source: str, salt: bytes, before: Sequence[str] = ()
) -> tuple[str, Parameters]:
    """Return the SELECT that is run, and its parameters.

    ``source`` is the relation of the data, whose own parameters are ``before``: they follow the
    salt.
    """
    plan = statement.plan
    if not statement.text.startswith(_BEGINNING):
        raise RuntimeError("the statement begins otherwise than statements do")
    parameters = [*(() if plan.unit is None else (salt.hex(),)), *before]
    parts = [f'"{SOURCE}" AS ({source})']
    for name, grouping in groupings(plan).items():
        selected, arrays = [], []
        for column, cells in keys_of(grouping).items():
            kind = _TYPES[_type_of(column, grouping.column.type)]
            parameters.append(array(cells))
            arrays.append(f"CAST(${len(parameters)} AS {kind}[])")
            collation = ' COLLATE "C"' if kind == "TEXT" else ""
            selected.append(f'"{column}"{collation} AS "{column}"')
        names = ", ".join(f'"{column}"' for column in keys_of(grouping))
        # Names of tables and columns of keys are ours; everything else is bound.
        parts.append(
            f'"{name}" AS (SELECT {", ".join(selected)}'  # noqa: S608
            f" FROM unnest({', '.join(arrays)}) AS declared({names}))"
        )
    inner = ",\n".join(parts)
    return f"{_BEGINNING}{inner}, {statement.text.removeprefix(_BEGINNING)}", tuple(parameters)


def _type_of(column: str, kind: ColumnType) -> ColumnType:
    if column == "position":
        return "integer"
    return kind if column == "value" else "number"


def view_source(plan: Plan, place: Place, types: Mapping[str, str]) -> str:
    """Return the columns of the view that a plan reads, with their declared types."""
    dialect = PostgreSQL()
    cells = [
        sql.named(_cell(dialect, name, column.type, types[name]), name, quoted=True)
        for name, column in columns_of(plan).items()
    ]
    relation = exp.Table(
        this=sql.name(place.view, quoted=True), db=sql.name(place.schema, quoted=True)
    )
    return dialect.written(sql.select(cells or [sql.named(sql.number(1), "present")], relation))


def rows_source(
    columns: Mapping[str, tuple[ColumnType, Iterable[Cell | None]]], first: int
) -> tuple[str, Parameters]:
    """Return rows as such a relation, and its parameters, which are bound from ``first`` on."""
    arrays = ", ".join(
        f"CAST(${first + place} AS {_TYPES[kind]}[])"
        for place, (kind, _) in enumerate(columns.values())
    )
    names = ", ".join(f'"{name}"' for name in columns)
    cells = ", ".join(
        f'"{name}" COLLATE "C" AS "{name}"' if kind == "string" else f'"{name}"'
        for name, (kind, _) in columns.items()
    )
    # The names are those of the questions; the rows are bound.
    text = f"SELECT {cells} FROM unnest({arrays}) AS rows({names})"  # noqa: S608
    return text, tuple(array(values) for _, values in columns.values())


def array(cells: Iterable[Cell | None]) -> str:
    """Return cells as an array's text, which the server casts."""
    return "{" + ",".join(map(_element, cells)) + "}"


def _element(cell: Cell | None) -> str:
    match cell:
        case None:
            return "NULL"
        case bool():
            return "true" if cell else "false"
        case int() | float():
            return repr(cell)
        case datetime.date():
            return f"{cell.year:04}-{cell.month:02}-{cell.day:02}"
    escaped = cell.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _cell(dialect: PostgreSQL, name: str, declared: ColumnType, kind: str) -> Node:
    def cell() -> Node:
        return sql.column(name, quoted=True)

    match declared:
        case "string":
            return sql.collated(sql.cast(cell(), dialect.text), "C")
        case "integer":
            return sql.cast(cell(), dialect.whole)
        case "number" if kind == "numeric":
            return _double(dialect, cell)
        case "number":
            return sql.cast(cell(), dialect.real)
    return cell()


def _double(dialect: PostgreSQL, cell: Callable[[], Node]) -> Node:
    """Return a NUMERIC as its nearest double; none for what has none, where a cast fails."""
    size, again = (sql.call("abs", cell()) for _ in range(2))
    tiny = sql.compared(size, "<=", sql.cast(sql.text(_LEAST), dialect.exact))
    finite = sql.compared(again, "<", sql.cast(sql.text(_BEYOND), dialect.exact))
    return sql.case((tiny, dialect.literal(0.0)), (finite, sql.cast(cell(), dialect.real)))
