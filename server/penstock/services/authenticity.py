"""Rows of queries that were altered are refused wherever they are read.

What a query may tell, and of what, stands in columns that are not encrypted: its ceiling,
its sensitivities, its ladder.  Each row carries an HMAC of them under a key that is never in
the database.  It is set with every write and checked with every load, so that nobody can
forget to.  An older row of the same query, put back whole, is not told from the newest.
"""

import hashlib
import hmac
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.orm import Session as AnySession
from sqlmodel import col, select

from penstock.encryption import Secrets
from penstock.errors import IntegrityViolation
from penstock.persistence import Database
from penstock.persistence.tables import Query

KEY: Final = "authenticity"
"""The key in ``Session.info`` of the key that rows are under."""

_APART: Final = frozenset({"id", "created_at", "mac"})
COLUMNS: Final = tuple(sorted(set(Query.model_fields) - _APART))
"""What is authenticated."""

_LATER: Final = frozenset({"frozen", "histogram", "power", "structure"})
"""Left out where they are null, as in rows from before there were any."""


def key_of(secrets: Secrets) -> bytes:
    """The key of rows' HMACs, which is none of the secrets and tells none."""
    return hmac.digest(secrets.values, b"penstock rows 1\x00", hashlib.sha256)


def mac(key: bytes, query: Query) -> bytes:
    """The HMAC-SHA256 of a query's row: 32 bytes.  Every part is preceded by its length."""
    found = hmac.new(key, b"query", hashlib.sha256)
    for name in COLUMNS:
        value = getattr(query, name)
        if value is None and name in _LATER:
            continue
        part = value if isinstance(value, bytes) else str(value).encode()
        kind = type(value).__name__
        found.update(f"\x00{name}\x00{kind}\x00{len(part)}\x00".encode())
        found.update(part)
    return found.digest()


def sign_all(database: Database, secrets: Secrets) -> None:
    """Sign the queries of a home from before rows were signed, as they are."""
    key = key_of(secrets)
    with database.write() as session:
        for query in session.exec(select(Query).where(col(Query.mac).is_(None))).all():
            query.mac = mac(key, query)
            session.add(query)


def _sign(session: AnySession, *_: object) -> None:
    key = session.info.get(KEY)
    if key is not None:
        for row in (*session.new, *session.dirty):
            if isinstance(row, Query):
                row.mac = mac(key, row)


def _loaded(query: Query, context: Any) -> None:
    key = context.session.info.get(KEY)
    if key is not None and not hmac.compare_digest(query.mac or b"", mac(key, query)):
        raise IntegrityViolation(
            f"The row of query {query.name!r} was altered outside of this server; nothing is"
            " read or drawn with it. Restore the database from a backup."
        )


def _refreshed(query: Query, context: Any, names: object) -> None:
    if names is None:
        _loaded(query, context)


event.listen(AnySession, "before_flush", _sign)
event.listen(Query, "load", _loaded)
event.listen(Query, "refresh", _refreshed)
