"""Write the leaves of mappings, and compare mappings and accounts with what the log has."""

from collections.abc import Iterator
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.persistence.tables.people import GroupMapping, ProviderAccount, Tier, User
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log.logged_subject import LeafFields, ascending, name_of, versions
from penstock.transparency_log.sights import Sight

SIGN_ON = Principal(name="(single sign-on)", user_id=0, roles=frozenset())
"""The actor of what a sign-in changes; no user has such a name, or that number."""


def record_mapping(
    session: Session, principal: Principal, row: GroupMapping, tier: Tier | None, at: datetime
) -> None:
    """Append the leaf of a group that is given something else from now on."""
    record(
        session,
        principal,
        "group",
        at,
        issuer=row.issuer,
        group=row.group_name,
        roles=row.roles.split(",") if row.roles else [],
        tier=tier.name if tier else None,
    )


class LoggedMappings:
    """Hold what the log has: every mapping, and whom a sign-in created for which account."""

    def __init__(self) -> None:
        self._mappings = versions()
        self._accounts: dict[str, tuple[str, str, bool]] = {}

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a mapping or a user."""
        match leaf["kind"]:
            case "group":
                given = ",".join(leaf["roles"]), leaf.get("tier"), leaf["actor"]
                self._mappings[leaf["issuer"], leaf["group"]].append(given)
            case "user" if "subject" in leaf:
                self._accounts[leaf["user"]] = leaf["issuer"], leaf["subject"], True
            case "user" if "roles" in leaf and leaf["actor"] != SIGN_ON.name:
                account = self._accounts.get(leaf["user"])
                if account is not None:
                    self._accounts[leaf["user"]] = *account[:2], False

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where mappings or accounts differ."""
        tiers = {tier.id: tier for tier in session.exec(select(Tier)).all()}
        mappings = versions()
        rows = session.exec(select(GroupMapping).order_by(col(GroupMapping.id))).all()
        for row in rows:
            tier = tiers.get(row.tier_id)
            given = row.roles, tier.name if tier else None, row.by
            mappings[row.issuer, row.group_name].append(given)
        numbered = [((row.issuer, row.group_name), row.version) for row in rows]
        if mappings != self._mappings or not ascending(numbered):
            yield "the groups that are mapped are not those of the log"
        users = {user.id: user for user in session.exec(select(User)).all()}
        accounts = {
            name_of(users.get(row.user_id)): (row.issuer, row.subject, row.follows)
            for row in session.exec(select(ProviderAccount)).all()
        }
        if accounts != self._accounts:
            yield "the users of the provider's accounts are not those of the log"
