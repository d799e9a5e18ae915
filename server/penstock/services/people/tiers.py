"""List tiers: the named, ranked clearance levels."""

from penstock.persistence.tables.people import Tier
from penstock.services.context import Server
from penstock.services.repository.people import ordered_tiers
from penstock.services.schemas.people.views import TierView


def view(tier: Tier) -> TierView:
    """Return a tier as callers see it."""
    return TierView(name=tier.name, rank=tier.rank, description=tier.description)


def listing(server: Server) -> list[TierView]:
    """Return all tiers, the least trusted first."""
    with server.database.read() as session:
        return [view(tier) for tier in ordered_tiers(session)]
