"""Surround a statement with what it reads, as temporary relations of one session."""

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp

from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import Plan
from penstock.connectors.spark.dialect import Spark
from penstock.connectors.spark.session import Session
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.declared import columns_of, groupings, table_of_keys
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import SALT, SOURCE, Statement, overlapping


def declare(
    session: Session,
    statement: Statement,
    salt: bytes,
    relation: str,
    types: Mapping[str, str],
    *,
    reads: bool,
) -> None:
    """Make the relations that a statement names: the data, the tables of keys and the salt.

    ``relation`` is the data's quoted name, ``types`` are its columns'.  Unless it ``reads`` rows
    nothing is run.
    """
    plan = statement.plan
    # The number of units and the counts must be of the same rows, and are read apart.
    session.define(SOURCE, source_of(plan, relation, types), once=reads and overlapping(plan))
    for name, grouping in groupings(plan).items():
        session.declare(name, table_of_keys(grouping))
    if plan.unit is not None:
        session.declare(SALT, pa.table({SALT: [salt.hex()]}))


def source_of(plan: Plan, relation: str, types: Mapping[str, str]) -> str:
    """Return a SELECT of the columns that a plan reads, with their declared types."""
    dialect = Spark()
    cells = [
        sql.named(_cell(dialect, column, types[name]), name, quoted=True)
        for name, column in columns_of(plan).items()
    ]
    # The name is quoted already.
    relation_node = exp.Table(this=exp.Var(this=relation))
    selected = sql.select(cells or [sql.named(sql.number(1), "present")], relation_node)
    return dialect.written(selected)


def _cell(dialect: Spark, column: Column, kind: str) -> Node:
    """Return a cell as its declared type; a text of other bytes than UTF-8 is none."""

    def cell() -> Node:
        return sql.column(column.name, quoted=True)

    match column.type:
        case "string":
            return sql.case((sql.call("is_valid_utf8", cell()), cell()))
        case "integer":
            return sql.cast(cell(), dialect.whole)
        case "number" if kind != "double":
            return sql.cast(cell(), dialect.real)
    return cell()
