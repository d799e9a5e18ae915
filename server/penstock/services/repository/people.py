"""Find tiers and users by name, and the tiers that users hold."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement, bindparam
from sqlmodel import Session, col, select

from penstock.errors import NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import Clearance, Invitation, Tier, Token, User
from penstock.services.pagination import Page, Window
from penstock.spec_fields import folded

Row = TypeVar("Row", Token, User, Invitation)
Item = TypeVar("Item")

_CLEARANCE = (
    select(Clearance)
    .where(col(Clearance.user_id) == bindparam("user_id"))
    .order_by(col(Clearance.version).desc())
    .limit(1)
)
_TIERS = select(Tier).where(col(Tier.deleted_at).is_(None)).order_by(col(Tier.rank))


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
