"""Open a folder of ClickHouse's tables in this process, and give its views to connectors."""

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from chdb.session import Session
from pydantic import SecretStr

from penstock.connectors.connections import Connections
from penstock.connectors.sources import Sources

FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2299, 12, 31)
"""The days that a Date32 holds."""

_TYPES = {
    pa.string(): "String",
    pa.int32(): "Int32",
    pa.int64(): "Int64",
    pa.float64(): "Float64",
    pa.bool_(): "Bool",
    pa.date32(): "Date32",
}


@dataclass
class Tables:
    """Hold a folder of tables and a connection that may write to it."""

    folder: Path
    connection: Any

    @property
    def address(self) -> str:
        """Return the address of a connection."""
        return f"chdb://{self.folder}"

    @property
    def sources(self) -> Sources:
        """Return what lets a connector read under the name ``tables``."""
        return Sources(connections=Connections({"tables": SecretStr(self.address)}), threads=2)

    def source_of(self, view: str) -> Mapping[str, str]:
        """Return the source of a dataset that is a view of the folder."""
        return {"engine": "clickhouse", "connection": "tables", "table": f"data.{view}"}

    def run(self, text: str) -> None:
        """Run a statement that changes the tables."""
        self.connection.query(text)

    def fill(self, view: str, rows: pa.Table) -> None:
        """Make a table anew, with these rows; days beyond ``FIRST`` and ``LAST`` become these."""
        columns = {name: _within(rows.column(name)) for name in rows.column_names}
        made = pa.table(columns)
        types = ", ".join(f'"{field.name}" Nullable({_TYPES[field.type]})' for field in rows.schema)
        self.run(f"DROP TABLE IF EXISTS data.{view}")
        self.run(f"CREATE TABLE data.{view} ({types}) ENGINE = Memory")
        if len(made):
            self.run(f"INSERT INTO data.{view} SELECT * FROM Python(made)")  # noqa: S608


def _within(cells: Any) -> Any:
    if cells.type != pa.date32():
        return cells
    days = [None if day is None else min(max(day, FIRST), LAST) for day in cells.to_pylist()]
    return pa.array(days, pa.date32())


@contextmanager
def embedded(folder: Path) -> Iterator[Tables]:
    """Yield a folder of tables, open in this process until the end."""
    connection: Any = Session(str(folder))  # type: ignore[no-untyped-call]
    try:
        connection.query("CREATE DATABASE IF NOT EXISTS data")
        yield Tables(folder, connection)
    finally:
        connection.close()
