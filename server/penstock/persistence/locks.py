"""Lock the rows and the log that only one transaction at a time may depend on.

A transaction of ``Database.write`` is alone, and then these locks cost nothing.  Beside others,
locks are taken in the following order, so that there is no deadlock:

1. the dataset, to charge its accounts;
2. the query, to change its state or release it;
3. the log, to append to it: last, because it is held until the commit.

The rows are locked by ``SELECT ... FOR UPDATE`` on PostgreSQL.  SQLite has no row locks and needs
none: a write transaction began with ``BEGIN IMMEDIATE`` and is alone.
"""

from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import bindparam
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from penstock.persistence.database import WRITING
from penstock.persistence.protocol import Dialect
from penstock.persistence.tables.datasets import Dataset

if TYPE_CHECKING:
    from penstock.persistence.tables.queries import Query

_LOG = "log"
"""The key in ``Session.info`` that says that its transaction holds the log."""

_DATASET = (
    select(Dataset)
    .where(col(Dataset.id) == bindparam("key"))
    .with_for_update()
    .execution_options(populate_existing=True)
)


def lock_dataset(session: Session, dataset_id: int) -> Dataset | None:
    """Return the dataset as it is now, locked until the transaction ends, or None."""
    _writing(session)
    return session.exec(_DATASET, params={"key": dataset_id}).one_or_none()


def hold_dataset(session: Session, dataset_id: int) -> None:
    """Lock a dataset like ``lock_dataset``, with the next statement, which is to read its row."""
    _writing(session).lock_row(session.connection(), "dataset", dataset_id)


def lock_query(session: Session, query_id: int) -> "Query | None":
    """Return the query as it is now, locked until the transaction ends, or None."""
    _writing(session)
    return session.exec(_query(), params={"key": query_id}).one_or_none()


def hold_query(session: Session, query_id: int) -> None:
    """Lock a query like ``lock_query``, with the next statement, which is to read its row."""
    _writing(session).lock_row(session.connection(), "query", query_id)


def lock_log(session: Session) -> None:
    """Lock the log against other appends with the next statement, until the transaction ends."""
    dialect = _writing(session)
    if not session.info.get(_LOG):
        dialect.lock_log(session.connection())
        session.info[_LOG] = True


@cache
def _query() -> "SelectOfScalar[Query]":
    """Return the statement that locks a query, built once: the log needs none of these tables."""
    from penstock.persistence.tables.queries import Query

    return (
        select(Query)
        .where(col(Query.id) == bindparam("key"))
        .with_for_update()
        .execution_options(populate_existing=True)
    )


def _writing(session: Session) -> Dialect:
    dialect: Dialect | None = session.info.get(WRITING)
    if dialect is None:
        raise RuntimeError("locks are taken in a write transaction only")
    return dialect
