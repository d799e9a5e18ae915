"""Connect to PostgreSQL and read in one read-only transaction; say what failed in our own words.

The server's messages may quote a cell, and libpq's the password, so neither is passed on.  A
failure is told apart by its SQLSTATE alone.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import adbc_driver_manager as adbc
import pyarrow as pa
from adbc_driver_postgresql import dbapi
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import Identifier

from penstock.errors import PenstockError, SourceChanged, Unavailable

PATIENCE: Final = 10
"""The seconds to wait for a connection, unless its address says otherwise."""

_SETTINGS: Final = (
    "SET lock_timeout = '1min'",
    "SET idle_in_transaction_session_timeout = '10min'",
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET DateStyle = 'ISO, YMD'",
    "SET row_security = on",
    "SET log_parameter_max_length_on_error = 0",
)
_FOR_SUPERUSERS: Final = ("SET log_parameter_max_length = 0", "SET log_statement = 'none'")
"""What keeps the salt and the declared keys out of the server's log, if the role may say so."""

_BEGIN: Final = "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY"
"""Each statement sees one state, of after the view was locked.

With one state for all of them, fixed before, PostgreSQL would show an empty table where one was
truncated, refreshed or rewritten since.
"""
_MISSING: Final = frozenset({"42P01", "3F000", "42809"})
_CHANGED: Final = frozenset({"42P01", "42703", "3F000", "42804", "42883"})
_FORBIDDEN: Final = frozenset({"42501"})
_STOPPED: Final = frozenset({"57014", "25P03", "55P03"})


class Session:
    """Run SELECTs in the transaction of one connection."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def table(self, text: str, parameters: Sequence[str] = ()) -> pa.Table:
        """Run one SELECT, whose parameters are texts; return its rows."""
        with _own_words():
            self._cursor.execute(text, tuple(parameters) or None)
            return self._cursor.fetch_arrow_table()

    def lock(self, schema: str, view: str) -> bool:
        """Keep the view and all that it reads from being altered, emptied or replaced meanwhile.

        Return False if there is no such view.
        """
        locking = f"SELECT 1 AS locked FROM {Identifier(schema, view).as_string()} LIMIT 0"  # noqa: S608
        try:
            self._cursor.execute(locking)
            self._cursor.fetch_arrow_table()
        except adbc.Error as error:
            if error.sqlstate in _MISSING:
                return False
            raise _error_of(error.sqlstate) from None
        return True

    def schema(self, text: str, parameters: Sequence[str] = ()) -> pa.Schema | None:
        """Return the columns of a SELECT without running it; None if the server refuses it."""
        try:
            if len(self._cursor.adbc_prepare(text)) != len(parameters):
                return None
            return self._cursor.adbc_execute_schema(text, tuple(parameters) or None)
        except adbc.Error as error:
            if (error.sqlstate or "").startswith(("22", "25", "42")):
                return None
            raise _error_of(error.sqlstate) from None


@contextmanager
def reading(address: str, statement_timeout: float = 3600.0) -> Iterator[Session]:
    """Connect, and yield a session in a read-only transaction, in which a view can be locked.

    A statement sees one state of the data.  It may take ``statement_timeout`` seconds, whatever the
    role's own setting is.

    Raises ``Unavailable``, also for what the server says while the session is used, and
    ``SourceChanged`` for a relation or a column that is no longer there.
    """
    with _own_words():
        connection = dbapi.connect(_completed(address), autocommit=True)
    with connection, connection.cursor() as cursor:
        with _own_words():
            for statement in _SETTINGS:
                cursor.execute(statement)
            for statement in _FOR_SUPERUSERS:
                with suppress(adbc.ProgrammingError):
                    cursor.execute(statement)
            cursor.execute(f"SET statement_timeout = {math.ceil(statement_timeout * 1000)}")
            cursor.execute(_BEGIN)
        yield Session(cursor)
        with suppress(adbc.Error):
            cursor.execute("ROLLBACK")


def _completed(address: str) -> str:
    """Return the address with what this program adds; libpq reads either form."""
    try:
        parts: dict[str, Any] = conninfo_to_dict(address)
    except ProgrammingError:
        raise Unavailable(
            "The connection's address cannot be read; it is like"
            " postgresql://USER:PASSWORD@HOST:5432/DATABASE, with %-escapes in the password."
        ) from None
    parts.setdefault("connect_timeout", PATIENCE)
    parts.setdefault("application_name", "penstock")
    return make_conninfo(**parts)


@contextmanager
def _own_words() -> Iterator[None]:
    try:
        yield
    except adbc.Error as error:
        raise _error_of(error.sqlstate) from None
    except (pa.ArrowException, OSError):
        raise _error_of(None) from None


def _error_of(state: str | None) -> PenstockError:
    """Return the error for an SQLSTATE; without one there was no answer."""
    if state in _CHANGED:
        return SourceChanged(
            "The dataset's view, or a column of it, is no longer there as it was registered."
            " Nothing was released. Restore the view, or register the new one as a new version."
        )
    if state in _FORBIDDEN:
        what = "refuses to read the view to this connection's user: grant it SELECT"
    elif state in _STOPPED:
        what = (
            "stopped the statement, which was cancelled, waited for a lock, or took longer than the"
            " seconds of PENSTOCK_STATEMENT_TIMEOUT"
        )
    elif state is not None and state.startswith("53"):
        what = "is short of memory, disk space or connections for this statement"
    elif state is not None and state.startswith("28"):
        what = "refuses the connection: check its user, its password and pg_hba.conf"
    elif state is None or state.startswith(("08", "57P", "58", "XX")):
        what = (
            "cannot be reached, or refuses the connection: check it with penstock connection check"
        )
    else:
        # Only the view's own expressions are left to fail.
        what = "cannot read the view to its end: its own expressions must not fail for any row"
    return Unavailable(f"PostgreSQL {what}. Nothing was released.")
