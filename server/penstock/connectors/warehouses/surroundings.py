"""Write what surrounds a statement: the typed columns, the declared keys, the probe's rows.

These engines need no table of ours: everything stands in front of the statement as named parts.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import Plan
from penstock.connectors.specs.cells import Cell
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.declared import columns_of, groupings, keys_of
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.questions import COLUMNS, typed_rows
from penstock.connectors.statements.statement import SOURCE, Statement
from penstock.connectors.warehouses.dialects import LARGEST, WarehouseDialect

RELATION = "registered"
"""The name of the table within ``source``."""


def surrounded(statement: Statement, source: str, dialect: Dialect) -> str:
    """Return a statement's text with ``source`` and its tables of keys in front."""
    parts = {SOURCE: source}
    for name, grouping in groupings(statement.plan).items():
        parts[name] = _table(keys_of(grouping), dialect)
    named = ", ".join(f"{quoted(name, dialect)} AS (\n{text}\n)" for name, text in parts.items())
    # Every name in it is quoted; the texts are written from expressions, or recorded.
    return f"WITH {named}\nSELECT * FROM (\n{statement.text}) AS {quoted('answered', dialect)}"


def typed_source(
    plan: Plan, table: str, types: Mapping[str, str], dialect: Dialect, *, empty: bool = False
) -> str:
    """Return the columns that a plan uses, in their declared types; no cast fails for a cell.

    ``types`` are the engine's own, by column; ``table`` is written already.
    """
    cells = [
        sql.named(_typed(column, types[name], dialect), name, quoted=True)
        for name, column in columns_of(plan).items()
    ]
    select = sql.select(
        cells or [sql.named(sql.number(1), "present")],
        sql.table(RELATION),
        where=exp.Boolean(this=False) if empty else None,
    )
    return dialect.written(select).replace(f"FROM {quoted(RELATION, dialect)}", f"FROM {table}")


def probe_source(dialect: Dialect) -> str:
    """Return the rows of the conformance probe."""
    columns = typed_rows()
    rows = []
    for cells in zip(*columns.values(), strict=True):
        named = [
            sql.named(_cell(name, cell, dialect), name, quoted=True)
            for name, cell in zip(columns, cells, strict=True)
        ]
        rows.append(dialect.written(exp.Select(expressions=named)))
    return "\nUNION ALL\n".join(rows)


def quoted(name: str, dialect: Dialect) -> str:
    """Return a name as the engine quotes it."""
    return sql.name(name, quoted=True).sql(dialect=dialect.name)


def qualified(parts: Sequence[str], dialect: Dialect) -> str:
    """Return a table's quoted name."""
    return ".".join(quoted(part, dialect) for part in parts)


def _typed(column: Column, kind: str, dialect: Dialect) -> Node:
    cell: Node = sql.column(column.name, quoted=True)
    match column.type:
        case "string":
            text, *again = (sql.cast(cell.copy(), dialect.text) for _ in range(3))
            if isinstance(dialect, WarehouseDialect):
                return dialect.valid_text(text, (again[0], again[1]))
            return text
        case "number":
            return sql.cast(cell, dialect.real)
        case "integer" if kind == WIDE:
            # A whole number of up to 38 digits may be none of 64 bits.
            within = sql.between(
                sql.column(column.name, quoted=True), sql.number(-LARGEST - 1), sql.number(LARGEST)
            )
            return sql.case((within, cell))
        case "integer":
            return sql.cast(cell, dialect.whole)
    return cell


WIDE = "WIDE INTEGER"
"""What an engine's statement of columns calls whole numbers of more than 64 bits."""


def _cell(name: str, cell: Cell | None, dialect: Dialect) -> Node:
    kind = COLUMNS[name]["type"]
    own = {
        "string": dialect.text,
        "integer": dialect.whole,
        "number": dialect.real,
        "boolean": "BOOL" if dialect.name == "bigquery" else "BOOLEAN",
        "date": dialect.date,
    }[kind]
    return sql.cast(exp.Null() if cell is None else dialect.literal(cell), own)


def _table(columns: Mapping[str, Sequence[Cell]], dialect: Dialect) -> str:
    rows = [
        exp.Tuple(
            expressions=[
                sql.number(int(cell)) if name == "position" else dialect.literal(cell)
                for name, cell in zip(columns, cells, strict=True)
            ]
        )
        for cells in zip(*columns.values(), strict=True)
    ]
    values = exp.Values(
        expressions=rows,
        alias=exp.TableAlias(
            this=sql.name("declared"), columns=[sql.name(each) for each in columns]
        ),
    )
    return dialect.written(sql.select([sql.column(name) for name in columns], values))
