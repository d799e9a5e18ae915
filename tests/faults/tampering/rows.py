"""Provide rows that are altered by whoever owns the database: any table, any column, any way.

Triggers, foreign keys and (on SQLite) checks are off, as they are for such a person.  What
the database itself refuses even so is another tampering, tried instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from numpy.random import Generator
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from penstock.persistence.append_only import HISTORY
from penstock.persistence.tables import metadata

Row = Mapping[str, Any]
WAYS = ("change", "copy", "swap", "delete", "newest", "insert")
MOST_TRIES = 200


@dataclass(frozen=True)
class Tampering:
    """Say what was altered: the way, the table, and the columns that differ from then on."""

    way: str
    table: str
    columns: tuple[str, ...]

    @property
    def places(self) -> list[str]:
        """Return ``table.column`` for each column; for whole rows ``table (way)``."""
        named = [f"{self.table}.{column}" for column in self.columns]
        return named if self.way in ("change", "copy", "swap") else [f"{self.table} ({self.way})"]


def tamper(url: str, choice: Generator) -> Tampering:
    """Alter the database at ``url`` at random, once."""
    with create_engine(url, poolclass=NullPool).connect() as connection:
        _unguard(connection)
        connection.commit()
        tables = [name for name in sorted(metadata.tables) if _rows(connection, name)]
        for _ in range(MOST_TRIES):
            table = tables[int(choice.integers(len(tables)))]
            rows = _rows(connection, table)
            try:
                done = _once(connection, table, rows, choice)
                if done is not None and _rows(connection, table) != rows:
                    connection.commit()
                    return done
            except SQLAlchemyError:
                pass
            connection.rollback()
    raise AssertionError("the database refused everything")


def _unguard(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(text("SET session_replication_role = replica"))
        return
    connection.execute(text("PRAGMA ignore_check_constraints = ON"))
    connection.execute(text("PRAGMA synchronous = OFF"))
    connection.exec_driver_sql("BEGIN")
    for table in HISTORY:
        for event in ("update", "delete"):
            connection.execute(text(f'DROP TRIGGER IF EXISTS "append_only_{table}_{event}"'))


def _rows(connection: Connection, table: str) -> Sequence[Row]:
    found = connection.execute(text(f'SELECT * FROM "{table}" ORDER BY id'))  # noqa: S608 - ours
    return [dict(row) for row in found.mappings()]


def _once(
    connection: Connection, table: str, rows: Sequence[Row], choice: Generator
) -> Tampering | None:
    way = WAYS[int(choice.integers(len(WAYS)))]
    row, other = (rows[int(choice.integers(len(rows)))] for _ in range(2))
    columns = [name for name in row if name != "id"]
    column = columns[int(choice.integers(len(columns)))]
    match way:
        case "change":
            _update(connection, table, row, {column: altered(row[column], choice)})
        case "copy":
            _update(connection, table, row, {column: other[column]})
        case "swap":
            _update(connection, table, row, {column: _apart(row[column])})
            _update(connection, table, other, {column: row[column]})
            _update(connection, table, row, {column: other[column]})
        case "delete" | "newest":
            gone = row if way == "delete" else rows[-1]
            connection.execute(
                text(f'DELETE FROM "{table}" WHERE id = :id'),  # noqa: S608 - ours
                {"id": gone["id"]},
            )
            columns = []
        case "insert":
            changed = {name: altered(row[name], choice) for name in _some(columns, choice)}
            _insert(connection, table, {**row, "id": rows[-1]["id"] + 1, **changed})
            return Tampering(way, table, tuple(sorted(changed)))
    return Tampering(way, table, (column,) if columns else ())


def _some(columns: Sequence[str], choice: Generator) -> list[str]:
    return [name for name in columns if choice.integers(4) == 0]


def _apart(value: object) -> object:
    """Return a value that no other row has, for a moment, where rows must differ."""
    return value + 10**6 if isinstance(value, int) and not isinstance(value, bool) else value


def altered(value: object, choice: Generator) -> object:
    """Return another value of the same type, as a rule close to it."""
    step = int(choice.integers(1, 4)) * (1 if choice.integers(2) else -1)
    match value:
        case bool():
            return not value
        case int():
            return value + step if choice.integers(2) else int(choice.integers(10**6))
        case float():
            return value * float(choice.choice([0.5, 0.9, 1.1, 4.0]))
        case datetime():
            return value + timedelta(days=100 * step)
        case str():
            return _altered_text(value, choice)
        case bytes() | memoryview():
            content = bytearray(value) or bytearray(1)
            content[choice.integers(len(content))] ^= 1 << int(choice.integers(8))
            return bytes(content)
        case _:
            return int(choice.integers(3)) if choice.integers(2) else "2026-01-01 00:00:00.000000"


def _altered_text(value: str, choice: Generator) -> str:
    digits = [place for place, sign in enumerate(value) if sign.isdigit()]
    if digits and choice.integers(3):
        place = digits[choice.integers(len(digits))]
        return value[:place] + str((int(value[place]) + 1) % 10) + value[place + 1 :]
    match choice.integers(4):
        case 0:
            return value[:-1]
        case 1:
            return value + "x"
        case 2:
            return value.swapcase()
        case _:
            return {"active": "retired", "pending": "active"}.get(value, "analyst,admin")


def _update(connection: Connection, table: str, row: Row, values: Row) -> None:
    places = ", ".join(f'"{name}" = :{name}' for name in values)
    connection.execute(
        text(f'UPDATE "{table}" SET {places} WHERE id = :key'),  # noqa: S608 - ours
        {**values, "key": row["id"]},
    )


def _insert(connection: Connection, table: str, row: Row) -> None:
    names = ", ".join(f'"{name}"' for name in row)
    places = ", ".join(f":{name}" for name in row)
    connection.execute(
        text(f'INSERT INTO "{table}" ({names}) VALUES ({places})'),  # noqa: S608 - ours
        dict(row),
    )
