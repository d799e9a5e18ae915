"""Who may change a query's state: one transaction at a time."""

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from penstock.persistence.database import WRITING
from penstock.persistence.tables import Query

_LOCKED = (
    select(Query)
    .where(col(Query.id) == bindparam("query_id"))
    .with_for_update()
    .execution_options(populate_existing=True)
)


def lock_query(session: Session, query_id: int) -> Query | None:
    """The query as it is now, locked until the transaction ends; None where there is none.

    ``SELECT ... FOR UPDATE`` on PostgreSQL.  SQLite knows no row locks and needs none: a
    write transaction began with ``BEGIN IMMEDIATE`` and is alone.
    """
    if not session.info.get(WRITING):
        raise RuntimeError("a query is locked in a write transaction only")
    return session.exec(_LOCKED, params={"query_id": query_id}).one_or_none()
