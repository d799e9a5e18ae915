"""Reach Snowflake by its own driver.

A connection is ``snowflake://USER:PASSWORD@ACCOUNT/DATABASE?warehouse=NAME&role=NAME``, or with
``private_key_file`` in place of the password.  A table is read as it was at one time (time travel),
and recognized by the time of its last change.  Names are in upper case unless they were quoted.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.connectors.warehouses import dialects
from penstock.connectors.warehouses.address import address_of
from penstock.connectors.warehouses.session import PATIENCE, Columns, Refused, Session, away
from penstock.connectors.warehouses.surroundings import WIDE, quoted

_FORM = "snowflake://USER:PASSWORD@ACCOUNT/DATABASE?warehouse=NAME"
_OPTIONS = frozenset({"warehouse", "role", "private_key_file", "private_key_file_pwd"})
_PATIENT_LOGIN = 30
_SETTINGS = {
    "TIMEZONE": "UTC",
    # Days are read and written as texts: in an account's own format two might become one unit.
    "DATE_INPUT_FORMAT": "YYYY-MM-DD",
    "DATE_OUTPUT_FORMAT": "YYYY-MM-DD",
}
_CLOCK = "TO_VARCHAR(CONVERT_TIMEZONE('UTC', {}), 'YYYY-MM-DD\"T\"HH24:MI:SS.FF6')"


class SnowflakeSession:
    """Hold a connection of the driver."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, text: str, parameters: Mapping[str, str]) -> Columns:
        """Run one statement; see ``Session``."""
        from snowflake.connector import errors

        try:
            cursor = self._connection.cursor()
            cursor.execute(text, tuple(parameters.values()) or None)
            table = cursor.fetch_arrow_all()
            names = [column[0] for column in cursor.description]
        except (errors.OperationalError, errors.InterfaceError):
            raise away("Snowflake") from None
        except errors.Error:
            raise Refused("Snowflake does not run the statement.") from None
        if table is None:  # no rows
            return {name: [] for name in names}
        return {name: table.column(name).to_pylist() for name in table.column_names}

    def close(self) -> None:
        """End the session."""
        self._connection.close()


class Snowflake:
    """Describe Snowflake; see ``Engine``."""

    name: ClassVar[str] = "Snowflake"
    dialect: ClassVar[dialects.Snowflake] = dialects.Snowflake()
    longest: ClassVar[int] = 1_000_000
    types: ClassVar[Mapping[str, Sequence[str]]] = {
        "string": ("TEXT",),
        "integer": (WIDE,),
        "number": (WIDE, "NUMBER", "FLOAT"),
        "boolean": ("BOOLEAN",),
        "date": ("DATE",),
    }
    release: ClassVar[str] = 'SELECT CURRENT_VERSION() AS "version"'

    def located(self, secret: str, table: Sequence[str]) -> Sequence[str]:
        """Return the account, and the table's database, schema and name."""
        address = address_of(secret, "snowflake", _FORM, _OPTIONS)
        database = address.path[:1] if len(table) == 2 else ()
        return address.host, *database, *table

    def opened(self, secret: str) -> Session:
        """Return a session; the driver signs in at once."""
        address = address_of(secret, "snowflake", _FORM, _OPTIONS)
        from snowflake import connector

        try:
            return SnowflakeSession(
                connector.connect(
                    account=address.host,
                    user=address.user,
                    **({} if address.password is None else {"password": address.password}),
                    **({"database": address.path[0]} if address.path else {}),
                    **address.options,
                    paramstyle="qmark",
                    login_timeout=_PATIENT_LOGIN,
                    network_timeout=PATIENCE,
                    session_parameters=_SETTINGS,
                )
            )
        except connector.errors.Error:
            raise away("Snowflake") from None

    def columns(self, table: Sequence[str]) -> tuple[str, Mapping[str, str]]:
        """Return the statement for a table's columns; texts with a collation have no type."""
        *database, schema, name = table
        text = (
            'SELECT column_name AS "name", CASE WHEN collation_name IS NOT NULL'  # noqa: S608
            f" THEN 'COLLATED TEXT' WHEN data_type = 'NUMBER' AND numeric_scale = 0 THEN '{WIDE}'"
            f' ELSE data_type END AS "type" FROM {self._place(database)}COLUMNS'
            " WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position"
        )
        return text, {"schema": schema, "table": name}

    def version(self, table: Sequence[str]) -> tuple[str, Mapping[str, str]]:
        """Return the statement for a table's last change."""
        *database, schema, name = table
        text = (
            "SELECT CASE WHEN table_type = 'BASE TABLE' THEN 'table' ELSE 'view' END"  # noqa: S608
            f' AS "kind", {_CLOCK.format("last_altered")} AS "version",'
            f' {_CLOCK.format("CURRENT_TIMESTAMP()")} AS "now" FROM {self._place(database)}TABLES'
            " WHERE table_schema = ? AND table_name = ?"
        )
        return text, {"schema": schema, "table": name}

    def at(self, table: str, now: str) -> str:
        """Return the table at a time of the engine's clock."""
        moment = datetime.datetime.fromisoformat(now).isoformat(" ", "microseconds")
        return f"{table} AT(TIMESTAMP => '{moment} +00:00'::TIMESTAMP_TZ)"

    def _place(self, database: Sequence[str]) -> str:
        return "".join(f"{quoted(each, self.dialect)}." for each in database) + (
            "INFORMATION_SCHEMA."
        )
