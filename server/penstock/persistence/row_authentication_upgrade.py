"""Sign the rows of a home made before rows were signed, while its schema is upgraded.

Rows are signed as they are: to find out whether they were altered earlier, run ``penstock audit
verify`` before and after.  Queries were signed earlier than other rows, in another way, and are
checked against that.

Rows of a database from before a rotation of the rows' key are signed again, each after it was
checked under the earlier key.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, select, update

from penstock.errors import IntegrityViolation
from penstock.persistence import tables
from penstock.persistence.row_authentication import columns, is_signed, mac, signed_tables

FIRST: Final = "0014"
"""The first schema with the present HMACs."""

QUERIES_FIRST: Final = "0007"
"""The first schema whose rows of queries were signed."""

NUMBERED_TOKENS_FIRST: Final = "0016"
"""The first schema in which every token's row was signed with its number."""

BATCH = 1000
_EARLIER: Final = (
    *("asserted_by", "by", "calibration", "canonical_hash", "ceiling", "dataset_id", "dimension"),
    *("folded", "frozen", "granularity", "histogram", "keys", "ladder_doubling", "ladder_finest"),
    *("ladder_last", "ladder_unit", "max_levels", "mechanism", "name", "power"),
    *("sealed_fingerprint", "sensitivity_l1", "sensitivity_l2_squared", "sensitivity_linf", "seq"),
    *("spec", "sql", "sql_hash", "status", "structure", "wrapped_dek"),
)
"""Columns of a query that were signed until schema 0013; later columns are missing."""

_LATER: Final = frozenset({"frozen", "histogram", "mismatches", "power", "structure"})


def sign_all(connection: Connection, key: bytes, before: str | None) -> None:
    """Sign every row that is not signed yet, in a database that had schema ``before``.

    Raises ``IntegrityViolation`` for a query that was altered; then nothing may be committed.
    """
    if before is None or before >= FIRST:
        if before is not None and before < NUMBERED_TOKENS_FIRST:
            _number_tokens(connection, key)
        return
    if before >= QUERIES_FIRST:
        _require_queries(connection, key)
    for name in signed_tables():
        _sign(connection, key, name)


def sign_anew(connection: Connection, known: Sequence[bytes], key: bytes) -> None:
    """Sign every row under ``key`` that is signed under one of ``known``; others stay refused."""
    for name in signed_tables():
        after = 0
        while (last := sign_next(connection, known, key, name, after)) is not None:
            after = last


def sign_next(
    connection: Connection, known: Sequence[bytes], key: bytes, name: str, after: int
) -> int | None:
    """Sign the ``BATCH`` rows after number ``after``; return the last number, or ``None``."""
    table = tables.metadata.tables[name]
    kept = [table.c[column] for column in ("id", "mac", *columns(name))]
    some = select(*kept).where(table.c.id > after).order_by(table.c.id).limit(BATCH)
    rows = connection.execute(some).all()
    due = [
        {"row": number, "signed": mac(key, name, values)}
        for number, signed, *values in rows
        if any(is_signed(old, name, signed, values) for old in known)
    ]
    if due:
        change = update(table).where(table.c.id == bindparam("row"))
        connection.execute(change.values(mac=bindparam("signed")), due)
    return rows[-1][0] if rows else None


def earlier_mac(key: bytes, query: Mapping[Any, Any]) -> bytes:
    """Return the HMAC of a query's row as it was until schema 0013."""
    digest = hmac.new(key, b"query", hashlib.sha256)
    for name in _EARLIER:
        value = query[name]
        if value is None and name in _LATER:
            continue
        part = value if isinstance(value, bytes) else str(value).encode()
        kind = type(value).__name__
        digest.update(f"\x00{name}\x00{kind}\x00{len(part)}\x00".encode())
        digest.update(part)
    return digest.digest()


def _require_queries(connection: Connection, key: bytes) -> None:
    for row in connection.execute(select(tables.metadata.tables["query"])).mappings():
        if not hmac.compare_digest(row["mac"] or b"", earlier_mac(key, row)):
            raise IntegrityViolation(
                f"The row of query {row['name']!r} was altered outside of this server. Nothing"
                " was upgraded; restore the database from a backup, and upgrade that."
            )


def _sign(connection: Connection, key: bytes, name: str) -> None:
    table = tables.metadata.tables[name]
    kept = [table.c[column] for column in ("id", *columns(name))]
    some = select(*kept).where(table.c.id > bindparam("after")).order_by(table.c.id).limit(BATCH)
    signed = update(table).where(table.c.id == bindparam("row")).values(mac=bindparam("signed"))
    after = 0
    while rows := connection.execute(some, {"after": after}).all():
        connection.execute(
            signed, [{"row": row[0], "signed": mac(key, name, row[1:])} for row in rows]
        )
        after = rows[-1][0]


def _number_tokens(connection: Connection, key: bytes) -> None:
    """Sign tokens with their numbers, which sessions name since schema 0015.

    An altered row keeps its HMAC, and is refused as before.
    """
    table, names = tables.metadata.tables["token"], columns("token")
    change = update(table).where(table.c.id == bindparam("row")).values(mac=bindparam("signed"))
    kept = [table.c[name] for name in ("id", "mac", *names)]
    for number, signed, *values in connection.execute(select(*kept)).all():
        # What is null is not signed: this is the row as it was signed without its number.
        bare = [None if name == "id" else value for name, value in zip(names, values, strict=True)]
        if hmac.compare_digest(signed or b"", mac(key, "token", bare)):
            connection.execute(change, {"row": number, "signed": mac(key, "token", values)})
