"""Add the versions of users' clearances, and tell who set them."""

from datetime import datetime

from sqlalchemy import bindparam
from sqlmodel import Session, col, func, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import Clearance, Tier, User
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.repository.people import clearance_of

_NEWEST_OF_OTHERS = (
    select(Clearance)
    .where(col(Clearance.user_id) == bindparam("user_id"), col(Clearance.by) != bindparam("by"))
    .order_by(col(Clearance.version).desc())
    .limit(1)
)


def give(session: Session, user: User, tier: Tier | None, at: datetime, by: str) -> None:
    """Add the clearance that a user holds from now on; none without a tier."""
    last = session.exec(
        select(func.max(col(Clearance.version))).where(col(Clearance.user_id) == user.id)
    ).one()
    session.add(
        Clearance(
            user_id=required(user.id),
            version=(last or 0) + 1,
            tier_id=tier.id if tier else None,
            at=at,
            by=by,
        )
    )
    session.flush()


def newest_not_by(session: Session, user: User, by: str) -> Clearance | None:
    """Return the newest clearance of a user that somebody else than ``by`` set, if there is one."""
    given = {"user_id": required(user.id), "by": by}
    return session.exec(_NEWEST_OF_OTHERS, params=given).first()


def tier_of(server: Server, principal: Principal) -> str | None:
    """Return the name of the tier that the caller holds now, or None without a clearance."""
    if principal.user_id is None:
        return None
    with server.database.read() as session:
        tier = clearance_of(session, principal.user_id)
        return None if tier is None else tier.name
