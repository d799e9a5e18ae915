"""Choose the database that a URL names, and translate its failures into our own errors."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlencode, urlsplit, urlunsplit

from sqlalchemy import URL, Column, Connection, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from penstock.errors import DatabaseUnavailable, InvalidInput
from penstock.persistence.protocol import Dialect, LongContent
from penstock.persistence.sqlite import LongBlob, SQLite

_UNIQUE_VIOLATION = "23505"
_EXAMPLES = "sqlite:////folder/penstock.db or postgresql://user@host/penstock"


@contextmanager
def translated(dialect: Dialect, *, at_commit: bool = False) -> Iterator[None]:
    """Translate failures of the database into errors of ``penstock.errors``."""
    try:
        yield
    except DBAPIError as error:
        raise_translated(dialect, error, at_commit=at_commit)


def raise_translated(dialect: Dialect, error: DBAPIError, *, at_commit: bool = False) -> NoReturn:
    """Raise a failure of the database as ``translated`` does."""
    failure = dialect.failure(error, at_commit=at_commit)
    if failure is None:
        raise error
    raise failure from error


def duplicate(error: IntegrityError) -> bool:
    """Return True if a UNIQUE constraint refused a row because there is an equal one."""
    return (
        getattr(error.orig, "sqlstate", None) == _UNIQUE_VIOLATION
        or getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_CONSTRAINT_UNIQUE
    )


def dialect_of(
    url: str,
    busy_timeout_seconds: float = 10.0,
    patience_seconds: float = 5.0,
    *,
    replicated: bool = False,
) -> Dialect:
    """Return the dialect that ``url`` names.  Raises ``InvalidInput`` if it names none of ours.

    ``replicated`` requires standbys that have every commit, which only PostgreSQL can have.

    Raises ``DatabaseUnavailable`` if the driver of PostgreSQL is not installed.
    """
    try:
        parsed = make_url(_hosts_as_options(url))
    except (ArgumentError, ValueError):
        # The URL may hold a password, so neither it nor an error that quotes it is repeated.
        parsed = None
    if parsed is None:
        raise InvalidInput(f"The database URL cannot be read. It looks like {_EXAMPLES}.")
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        if replicated:
            raise InvalidInput(
                "PENSTOCK_REPLICAS is required, but a SQLite file has no standby. Name a PostgreSQL"
                " database in PENSTOCK_DATABASE_URL, or set PENSTOCK_REPLICAS=none."
            )
        return _sqlite(parsed, busy_timeout_seconds)
    if kind in ("postgresql", "postgres"):
        return _postgresql(parsed, busy_timeout_seconds, patience_seconds, replicated)
    raise InvalidInput(
        f"Penstock stores its state in SQLite or PostgreSQL, not in {kind}."
        f" Use a URL like {_EXAMPLES}."
    )


def _hosts_as_options(url: str) -> str:
    """Return libpq's form of a URL with several hosts, ``//user@a:1,b:2/``, as SQLAlchemy reads it.

    Raises ``ValueError`` for some texts that are no URL.
    """
    parts = urlsplit(url)
    user, at, places = parts.netloc.rpartition("@")
    if "," not in places:
        return url
    hosts = urlencode([("host", place) for place in places.split(",")])
    query = f"{hosts}&{parts.query}" if parts.query else hosts
    return urlunsplit(parts._replace(netloc=f"{user}{at}", query=query))


def long_content(connection: Connection, column: Column[bytes], row: int) -> bytes | LongContent:
    """Return the large content of a row that exists, or what reads it in pieces.

    PostgreSQL sends it as a whole, since each piece would be a round trip.
    """
    table = column.table
    if connection.dialect.name == SQLite.name:
        return LongBlob(connection, table.name, column.name, row)
    content: bytes = connection.execute(select(column).where(table.c.id == row)).scalar_one()
    return content


def _sqlite(url: URL, busy_timeout_seconds: float) -> Dialect:
    if not url.database or url.database == ":memory:" or url.query:
        raise InvalidInput(
            "Penstock needs an SQLite database in a file, named without options."
            f" Use a URL like {_EXAMPLES}."
        )
    return SQLite(Path(url.database), busy_timeout_seconds)


def _postgresql(
    url: URL, busy_timeout_seconds: float, patience_seconds: float, replicated: bool
) -> Dialect:
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise InvalidInput(
            "Penstock reaches PostgreSQL through psycopg; name no other driver."
            f" Use a URL like {_EXAMPLES}."
        )
    if not url.database:
        raise InvalidInput(f"The URL names no database. It looks like {_EXAMPLES}.")
    try:
        from penstock.persistence.postgresql.connections import PostgreSQL
    except ImportError as error:
        raise DatabaseUnavailable(
            "PostgreSQL is reached through psycopg, which is not installed."
            " Run `pip install 'penstock[postgres]'`."
        ) from error
    return PostgreSQL(url, busy_timeout_seconds, patience_seconds, replicated=replicated)
