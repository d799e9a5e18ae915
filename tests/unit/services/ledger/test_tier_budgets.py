"""Test that a tier that takes over the next lower tier's account takes over its order too."""

from sqlmodel import select
from tests.unit.worlds import World

from penstock.persistence.tables import TierBudget
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.verification.verification import verify


def test_an_inherited_account_keeps_the_order_of_its_first_budget(visits: World) -> None:
    wanted = {"budgets": {"partner": {"epsilon": 4.0}}}
    budgets.change(visits.server, OPERATOR, "sites", DatasetChange.model_validate(wanted))
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="staff", above="partner"))
    with visits.server.database.read() as session:
        orders = {row.tier_id: row.order for row in session.exec(select(TierBudget)).all()}
    public, partner, internal, staff = (orders[key] for key in sorted(orders))
    assert staff == partner
    assert internal not in (public, partner)
    assert verify(visits.server, OPERATOR).problems == []
