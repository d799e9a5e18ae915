"""Write the leaves of invitations, and compare their table with them."""

from collections.abc import Iterator
from datetime import datetime

from sqlmodel import Session, select

from penstock.persistence.tables.people import Invitation, Tier
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log import leaves
from penstock.transparency_log.logged_subject import LeafFields
from penstock.transparency_log.sights import Sight


def record_invitation(
    session: Session, principal: Principal, row: Invitation, tier: Tier | None, at: datetime
) -> None:
    """Append the leaf of a new invitation: what its user will be, and no part of its secret."""
    record(
        session,
        principal,
        "invitation",
        at,
        user=row.name,
        invitation=row.prefix,
        roles=row.roles.split(","),
        tier=tier.name if tier else None,
        expires=leaves.timestamp(row.expires_at),
    )


def record_withdrawal(
    session: Session, principal: Principal, row: Invitation, at: datetime
) -> None:
    """Append the leaf of an invitation that was revoked."""
    record(session, principal, "invitation", at, user=row.name, invitation=row.prefix, revoked=True)


class LoggedInvitations:
    """Hold the invitations that the log has, which were revoked, and which made a user."""

    def __init__(self) -> None:
        self._made: dict[str, object] = {}
        self._ended: dict[str, str] = {}

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of an invitation, or of a user whom one made."""
        match leaf["kind"]:
            case "invitation" if leaf.get("revoked"):
                self._ended[leaf["invitation"]] = "revoked"
            case "invitation":
                made = leaf["user"], leaf["roles"], leaf.get("tier"), leaf["expires"], leaf["actor"]
                self._made[leaf["invitation"]] = made
            case "user" if "invitation" in leaf:
                self._ended[leaf["invitation"]] = f"accepted as {leaf['user']}"

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where invitations differ, or ended in one place alone."""
        tiers = {tier.id: tier for tier in session.exec(select(Tier)).all()}
        made: dict[str, object] = {}
        ended: dict[str, str] = {}
        for row in session.exec(select(Invitation)).all():
            tier = tiers.get(row.tier_id)
            made[row.prefix] = (
                row.name,
                row.roles.split(","),
                tier.name if tier else None,
                leaves.timestamp(row.expires_at),
                row.by,
            )
            if row.revoked_at is not None:
                ended[row.prefix] = "revoked"
            elif row.accepted_at is not None:
                ended[row.prefix] = f"accepted as {row.name}"
        if made != self._made:
            yield "the invitations are not those of the log"
        for prefix in sorted({*ended, *self._ended}):
            if ended.get(prefix) != self._ended.get(prefix):
                yield f"invitation {prefix} ended in the log and not here, or the other way round"
