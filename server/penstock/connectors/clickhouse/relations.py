"""Surround a statement with what it reads: the view's columns with their types, keys, the salt."""

import datetime
from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from sqlglot import exp

from penstock.connectors.clickhouse.dialect import ClickHouse
from penstock.connectors.clickhouse.session import Relations
from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import Grouping, Plan
from penstock.connectors.specs.models import ColumnType
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.declared import (
    arrow_type,
    columns_of,
    groupings,
    keys_of,
)
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import SALT, SOURCE, Statement

_BEGINNING: Final = "WITH "
TYPES: Final[Mapping[ColumnType, str]] = {
    "string": "String",
    "integer": "Int64",
    "number": "Float64",
    "boolean": "Bool",
    "date": "String",
}
"""How a declared type's values stand in relations of ours."""


def surrounded(statement: Statement, source: str) -> str:
    """Return the SELECT that is run; ``source`` is the relation of the data."""
    rest = statement.text.removeprefix(_BEGINNING)
    return f"{_BEGINNING}{SOURCE} AS (\n{source}\n), {rest}"


def relations_of(statement: Statement, salt: bytes) -> Relations:
    """Return the tables of declared keys, and the salt."""
    plan = statement.plan
    relations = {name: _table_of_keys(grouping) for name, grouping in groupings(plan).items()}
    if plan.unit is not None:
        relations[SALT] = (f"{SALT} String", pa.table({SALT: [salt.hex()]}))
    return relations


def _table_of_keys(grouping: Grouping) -> tuple[str, pa.Table]:
    kinds: dict[str, ColumnType] = {"value": grouping.column.type, "position": "integer"}
    types, columns = [], {}
    for name, cells in keys_of(grouping).items():
        kind = kinds.get(name, "number")
        types.append(f"{name} {TYPES[kind]}")
        written = [cell.isoformat() if isinstance(cell, datetime.date) else cell for cell in cells]
        columns[name] = pa.array(written, pa.string() if kind == "date" else arrow_type(kind))
    return ", ".join(types), pa.table(columns)


def source_of(plan: Plan, relation: str, types: Mapping[str, str]) -> str:
    """Return a SELECT of the columns that a plan reads, with their declared types."""
    dialect = ClickHouse()
    cells = [
        sql.named(_cell(dialect, column, types[name]), name, quoted=True)
        for name, column in columns_of(plan).items()
    ]
    # The name is quoted already.
    relation_node = exp.Table(this=exp.Var(this=relation))
    return dialect.written(
        sql.select(cells or [sql.named(sql.number(1), "present")], relation_node)
    )


def _cell(dialect: ClickHouse, column: Column, kind: str) -> Node:
    """Return a cell as its declared type; a text of other bytes than UTF-8 is none."""

    def cell() -> Node:
        return sql.column(column.name, quoted=True)

    match column.type:
        case "string":
            text = sql.cast(cell(), dialect.text)
            return sql.case((sql.call("isValidUTF8", cell()), text))
        case "integer":
            return sql.cast(cell(), dialect.whole)
        case "number" if kind.startswith("Decimal"):
            # Its own cast divides by a power of ten, which rounds once more.
            return sql.cast(sql.cast(cell(), dialect.text), dialect.real)
        case "number":
            return sql.cast(cell(), dialect.real)
        case "date":
            return sql.cast(cell(), dialect.text)
    return cell()
