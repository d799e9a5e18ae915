"""Find the rows that were altered outside of the server, for the verifier."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlmodel import Session, select

from penstock.persistence.row_authentication import (
    KEYS,
    RowKeys,
    believed,
    columns,
    signed_tables,
)
from penstock.persistence.tables.columns import metadata


def altered(session: Session) -> Iterator[tuple[str, int]]:
    """Yield the table and the id of every row whose MAC does not match."""
    keys: RowKeys = session.info[KEYS]
    for name in signed_tables():
        table = metadata.tables[name]
        kept = [table.c[column] for column in ("id", "mac", *columns(name))]
        for number, signed, *values in session.connection().execute(
            select(*kept).order_by(table.c.id)
        ):
            if not believed(session, keys, name, signed, values):
                yield name, number


@contextmanager
def unchecked(session: Session) -> Iterator[None]:
    """Disable MAC checks inside the block; for the verifier only."""
    keys = session.info.pop(KEYS)
    try:
        yield
    finally:
        session.info[KEYS] = keys
