"""Write the leaves of tiers, and compare the table of tiers with them."""

from collections.abc import Iterator
from datetime import datetime

from sqlmodel import Session, select

from penstock.persistence.tables.people import Tier
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log.logged_subject import LeafFields
from penstock.transparency_log.sights import Sight


def record_rank(session: Session, principal: Principal, tier: Tier, at: datetime) -> None:
    """Append the leaf of a tier that was created or moved."""
    record(session, principal, "tier", at, tier=tier.name, rank=tier.rank)


def record_deletion(session: Session, principal: Principal, tier: Tier, at: datetime) -> None:
    """Append the leaf of a tier that was deleted."""
    record(session, principal, "tier", at, tier=tier.name, deleted=True)


class LoggedTiers:
    """Hold the tiers that the log has: their ranks, and how many were deleted."""

    def __init__(self) -> None:
        self._ranks: dict[str, object] = {}
        self._deleted = 0

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a tier."""
        if leaf["kind"] != "tier":
            return
        if leaf.get("deleted"):
            self._deleted += 1
            self._ranks.pop(leaf["tier"], None)
        else:
            self._ranks[leaf["tier"]] = leaf["rank"]

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield a message where ranks or the number of deleted tiers differ."""
        tiers = session.exec(select(Tier)).all()
        ranks = {tier.name: tier.rank for tier in tiers if tier.deleted_at is None}
        if ranks != self._ranks or len(tiers) - len(ranks) != self._deleted:
            yield "the tiers are not those of the log"
