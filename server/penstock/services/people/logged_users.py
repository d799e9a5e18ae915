"""Write the leaves of users and clearances, and compare their tables with them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from penstock.persistence.tables.people import Clearance, Tier, User
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal, roles_of
from penstock.transparency_log.logged_subject import LeafFields, ascending, name_of, versions
from penstock.transparency_log.sights import Sight


def record_user(
    session: Session,
    principal: Principal,
    user: User,
    tier: Tier | None,
    at: datetime,
    **more: Any,
) -> None:
    """Append the leaf of a user who was created, with their roles and first clearance."""
    record(
        session,
        principal,
        "user",
        at,
        user=user.name,
        roles=roles_of(user),
        tier=tier.name if tier else None,
        **more,
    )


def record_roles(
    session: Session, principal: Principal, user: User, at: datetime, **more: Any
) -> None:
    """Append the leaf of a user whose roles changed."""
    record(session, principal, "user", at, user=user.name, roles=roles_of(user), **more)


def record_disabling(session: Session, principal: Principal, user: User, at: datetime) -> None:
    """Append the leaf of a user who was disabled."""
    record(session, principal, "user", at, user=user.name, active=False)


def record_clearance(
    session: Session,
    principal: Principal,
    user: User,
    tier: Tier | None,
    at: datetime,
    **more: Any,
) -> None:
    """Append the leaf of a user whose clearance changed."""
    name = tier.name if tier else None
    record(session, principal, "clearance", at, user=user.name, tier=name, **more)


class LoggedUsers:
    """Hold the users that the log has: their roles, every clearance, and who is disabled."""

    def __init__(self) -> None:
        self._roles: dict[str, object] = {}
        self._disabled: set[str] = set()
        self._clearances = versions()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a user or a clearance."""
        match leaf["kind"]:
            case "user" if leaf.get("active") is False:
                self._disabled.add(leaf["user"])
            case "user":
                if leaf["user"] not in self._roles:
                    self._clearances[leaf["user"],].append(leaf.get("tier"))
                self._roles[leaf["user"]] = leaf["roles"]
            case "clearance":
                self._clearances[leaf["user"],].append(leaf.get("tier"))

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where users, their roles or their clearances differ."""
        users = {user.id: user for user in session.exec(select(User)).all()}
        tiers = {tier.id: tier for tier in session.exec(select(Tier)).all()}
        if {user.name: roles_of(user) for user in users.values()} != self._roles:
            yield "the users or their roles are not those of the log"
        if {user.name for user in users.values() if not user.is_active} != self._disabled:
            yield "the disabled users are not those of the log"
        clearances = versions()
        rows = session.exec(select(Clearance).order_by(col(Clearance.id))).all()
        for row in rows:
            tier = tiers.get(row.tier_id)
            clearances[name_of(users.get(row.user_id)),].append(tier.name if tier else None)
        numbered = [(row.user_id, row.version) for row in rows]
        if clearances != self._clearances or not ascending(numbered):
            yield "the clearances are not those of the log"
