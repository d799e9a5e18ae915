"""Tiers: ranked clearance levels."""

from penstock.api.call import Call
from penstock.api.operations import ADMIN, SIGNED_IN, Operations
from penstock.services import tiers
from penstock.services.paging import Window
from penstock.services.specs import TierSpec
from penstock.services.views import Page, TierView

operations = Operations()


@operations.get("/tiers", SIGNED_IN)
def list_tiers(call: Call, window: Window) -> Page[TierView]:
    """List all tiers, the least trusted first."""
    rows = list(enumerate(tiers.listing(call.server)))
    return window.page(rows[window.after + 1 :], lambda row: row[1], lambda row: row[0])


@operations.post("/tiers", ADMIN, refusals=(409,))
def create_tier(call: Call, body: TierSpec) -> TierView:
    """Add a tier, also between two others.

    It starts with the budgets and the levels of the next lower one.
    """
    return tiers.create(call.server, call.principal, body)
