"""Provide everything that a home holds at one moment, row by row, as the database gives it."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from sqlalchemy import RowMapping

from penstock.services.context import Server

HISTORY = ("release", "grant", "charge", "leaf", "query_level", "tier_budget", "clearance")
"""The tables whose rows are added and never change."""

Snapshot = Mapping[str, Sequence[RowMapping]]


def snapshot(server: Server) -> Snapshot:
    """Return all rows that releases and registrations write, in the order of their addition."""
    with server.database.read() as session:
        connection = session.connection()
        return {
            table: connection.exec_driver_sql(f'SELECT * FROM "{table}" ORDER BY id')  # noqa: S608 - no name comes from outside
            .mappings()
            .all()
            for table in (*HISTORY, "query", "user")
        }


def history(now: Snapshot) -> dict[str, frozenset[bytes]]:
    """Return a digest of every row of history; a leaf's place in the tree comes later than its row.

    They have no order: who takes a number first may commit last.
    """
    return {table: frozenset(_digest(table, row) for row in now[table]) for table in HISTORY}


def _digest(table: str, row: RowMapping) -> bytes:
    kept = [value for name, value in row.items() if (table, name) != ("leaf", "index")]
    return sha256(repr(kept).encode()).digest()


def altered(
    before: Mapping[str, frozenset[bytes]], after: Mapping[str, frozenset[bytes]]
) -> list[str]:
    """Return the tables of which a row of ``before`` is gone or changed in ``after``."""
    return [table for table in HISTORY if not before[table] <= after[table]]
