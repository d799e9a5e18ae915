"""Find rows by name, and the level that a tier has of a query."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement, bindparam
from sqlmodel import Session, col, select

from penstock.errors import NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.ledger import Charge
from penstock.persistence.tables.people import Clearance, Tier, Token, User
from penstock.persistence.tables.queries import Query, QueryLevel
from penstock.services.pagination import Page, Window
from penstock.spec_fields import folded

Row = TypeVar("Row", Token, User)
Item = TypeVar("Item")

# Statements that every release needs are built once: building one takes longer than running it,
# and a release holds the database's one write lock meanwhile.  Whole rows are loaded, since only
# these are authenticated (``row_authentication``).
_CLEARANCE = (
    select(Clearance)
    .where(col(Clearance.user_id) == bindparam("user_id"))
    .order_by(col(Clearance.version).desc())
    .limit(1)
)
_TIERS = select(Tier).where(col(Tier.deleted_at).is_(None)).order_by(col(Tier.rank))
_DATASET = (
    select(Dataset)
    .where(col(Dataset.folded) == bindparam("folded"), col(Dataset.withdrawn_at).is_(None))
    .order_by(col(Dataset.version).desc())
    .limit(1)
)
_QUERY = select(Query).where(col(Query.folded) == bindparam("folded"))
_GIVEN = select(QueryLevel).where(col(QueryLevel.query_id) == bindparam("query_id"))
_PAID = select(Charge).where(
    col(Charge.query_id) == bindparam("query_id"), col(Charge.tier_id) == bindparam("tier_id")
)
_LEVELS = (
    select(QueryLevel, Tier)
    .outerjoin(Tier, col(QueryLevel.tier_id) == col(Tier.id))
    .where(col(QueryLevel.query_id) == bindparam("query_id"))
    .order_by(col(QueryLevel.version))
)


def listed(
    session: Session,
    table: type[Row],
    window: Window,
    view: Callable[[Row], Item],
    *conditions: ColumnElement[bool],
) -> Page[Item]:
    """Return the part of a table in ``window``, in the order in which rows were made."""
    rows = session.exec(
        select(table)
        .where(col(table.id) > window.after, *conditions)
        .order_by(col(table.id))
        .limit(window.limit + 1)
    ).all()
    return window.page(rows, view, lambda row: required(row.id))


def tier_by_name(session: Session, name: str) -> Tier:
    """Return the tier called ``name``.  Raises ``NotFound``."""
    tier = session.exec(
        select(Tier).where(col(Tier.folded) == folded(name), col(Tier.deleted_at).is_(None))
    ).first()
    if tier is None:
        raise NotFound(f"There is no tier {name!r}.")
    return tier


def ordered_tiers(session: Session) -> Sequence[Tier]:
    """Return the tiers that are not deleted, the least trusted first."""
    return session.exec(_TIERS).all()


def user_by_name(session: Session, name: str) -> User:
    """Return the user called ``name``.  Raises ``NotFound``."""
    user = session.exec(select(User).where(col(User.folded) == folded(name))).first()
    if user is None:
        raise NotFound(f"There is no user {name!r}.")
    return user


def holding(session: Session) -> dict[int, int | None]:
    """Return the key of the tier that each user holds now, by the user's key, ordered by user."""
    rows = session.exec(
        select(Clearance).order_by(col(Clearance.user_id), col(Clearance.version))
    ).all()
    return {row.user_id: row.tier_id for row in rows}


def clearance_of(session: Session, user_id: int) -> Tier | None:
    """Return the tier that a user holds now, or None without a clearance."""
    newest = session.exec(_CLEARANCE, params={"user_id": user_id}).first()
    if newest is None or newest.tier_id is None:
        return None
    return session.get_one(Tier, newest.tier_id)


def dataset_by_name(session: Session, name: str) -> Dataset:
    """Return the newest version of a dataset that was not withdrawn.  Raises ``NotFound``."""
    dataset = session.exec(_DATASET, params={"folded": folded(name)}).first()
    if dataset is None:
        raise NotFound(f"There is no dataset {name!r}.")
    return dataset


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


def in_sight(limit: Tier) -> ColumnElement[bool]:
    """Return the condition that holders of ``limit`` see a query: a level at or below it."""
    return col(Query.id).in_(
        select(col(QueryLevel.query_id))
        .join(Tier, col(QueryLevel.tier_id) == col(Tier.id))
        .where(col(Tier.rank) <= limit.rank, col(Tier.deleted_at).is_(None))
    )


def allowed_rung(session: Session, query: Query, tier: Tier) -> int | None:
    """Return the most accurate rung that a holder of ``tier`` may be given now.

    Only the newest level of each tier counts: lowering acts on the future.
    """
    return _allowed(list(_levels(session, query)), tier)


def allowed_rungs(
    session: Session, query: Query, tiers: Iterable[Tier]
) -> list[tuple[Tier, int | None]]:
    """Return ``allowed_rung`` for each of some tiers; the levels are read once."""
    levels = list(_levels(session, query))
    return [(tier, _allowed(levels, tier)) for tier in tiers]


def all_allowed_rungs(session: Session, tier: Tier) -> dict[int, int | None]:
    """Return ``allowed_rungs`` for all queries that have levels, by the query's key."""
    rows = session.exec(
        select(QueryLevel, Tier)
        .outerjoin(Tier, col(QueryLevel.tier_id) == col(Tier.id))
        .order_by(col(QueryLevel.version))
    ).all()
    levels: dict[int, list[tuple[QueryLevel, Tier | None]]] = {}
    for level, other in rows:
        levels.setdefault(level.query_id, []).append((level, other))
    return {key: _allowed(query_levels, tier) for key, query_levels in levels.items()}


def _allowed(levels: Iterable[tuple[QueryLevel, Tier | None]], tier: Tier) -> int | None:
    newest = {
        level.tier_id: level.rung
        for level, other in levels
        if other is not None and other.rank <= tier.rank and other.deleted_at is None
    }
    return min(newest.values(), default=None)


def _levels(session: Session, query: Query) -> Iterable[tuple[QueryLevel, Tier | None]]:
    """Return levels, oldest first; the tier is None if the row names none (an altered row)."""
    return session.exec(_LEVELS, params={"query_id": query.id})


def paid_rungs(session: Session, query: Query, tier: Tier) -> list[int]:
    """Return the rungs that a tier was charged for, in no order and with repetitions."""
    charges = session.exec(_PAID, params={"query_id": query.id, "tier_id": tier.id})
    return [charge.rung for charge in charges]


def given_rungs(session: Session, query: Query) -> set[int]:
    """Return the rungs that any tier was ever given as its own."""
    return {level.rung for level in session.exec(_GIVEN, params={"query_id": query.id})}
