"""Find what groups give: roles and a tier, never more than admins allowed."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlmodel import Session

from penstock.persistence.tables.people import Tier, User
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.people.clearances import newest_not_by
from penstock.services.repository.people import ordered_tiers
from penstock.services.sign_on.logged_mappings import SIGN_ON
from penstock.services.sign_on.mappings import of_groups, roles_of


@dataclass(frozen=True)
class Rights:
    """Hold what somebody's groups give, and by which of them."""

    roles: frozenset[str]
    tier: Tier | None
    groups: tuple[str, ...]


def rights_of(session: Session, server: Server, issuer: str, groups: Iterable[str]) -> Rights:
    """Return all roles, and the most trusted tier, that groups of an issuer give.

    Under the two-person rule only the operator's mappings give the role of admin.
    """
    rows = of_groups(session, issuer, groups)
    roles: set[str] = set()
    tiers: list[Tier] = []
    for row in rows:
        given = set(roles_of(row))
        if server.settings.two_person_rule and row.by != OPERATOR.name:
            given.discard("admin")
        roles |= given
        tier = session.get_one(Tier, row.tier_id) if row.tier_id is not None else None
        if tier is not None and tier.deleted_at is None:
            tiers.append(tier)
    highest = max(tiers, key=lambda tier: tier.rank, default=None)
    return Rights(frozenset(roles), highest, tuple(sorted(row.group_name for row in rows)))


def below_ceiling(session: Session, user: User, tier: Tier | None) -> Tier | None:
    """Return the lower one of ``tier`` and the last clearance that an admin set for the user."""
    set_by_admin = newest_not_by(session, user, SIGN_ON.name)
    if set_by_admin is None or tier is None:
        return tier
    if set_by_admin.tier_id is None:
        return None
    ceiling = session.get_one(Tier, set_by_admin.tier_id)
    if ceiling.rank >= tier.rank or ceiling.deleted_at is None:
        return min(tier, ceiling, key=lambda each: each.rank)
    lower = [other for other in ordered_tiers(session) if other.rank < ceiling.rank]
    return lower[-1] if lower else None
