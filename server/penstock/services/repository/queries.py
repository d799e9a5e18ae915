"""Find queries and streams by name, and tell which of them a tier can see."""

from sqlalchemy import ColumnElement, bindparam
from sqlmodel import Session, col, select

from penstock.errors import NotFound
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, QueryLevel
from penstock.spec_fields import folded

_QUERY = select(Query).where(col(Query.folded) == bindparam("folded"))


def query_by_name(session: Session, name: str) -> Query:
    """Return a query that is not a stream, no matter who may see it.  Raises ``NotFound``."""
    query = session.exec(_QUERY, params={"folded": folded(name)}).first()
    if query is None or is_stream(query):
        raise NotFound(f"There is no query {name!r}.")
    return query


def stream_by_name(session: Session, name: str) -> Query:
    """Return a stream, no matter who may see it.  Raises ``NotFound``."""
    query = session.exec(_QUERY, params={"folded": folded(name)}).first()
    if query is None or not is_stream(query):
        raise NotFound(f"There is no stream {name!r}.")
    return query


def is_stream(query: Query) -> bool:
    """Return True if a query is found among the streams."""
    return query.structure is not None


def statistic_of(query: Query) -> str | None:
    """Return the hash of a query's statistic; that of an analyst's query has a tier behind it."""
    return None if query.canonical_hash is None else query.canonical_hash.partition("@")[0]


def in_sight(limit: Tier) -> ColumnElement[bool]:
    """Return the condition that holders of ``limit`` see a query: a level at or below it."""
    return col(Query.id).in_(
        select(col(QueryLevel.query_id))
        .join(Tier, col(QueryLevel.tier_id) == col(Tier.id))
        .where(col(Tier.rank) <= limit.rank, col(Tier.deleted_at).is_(None))
    )
