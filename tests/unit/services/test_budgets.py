"""Test budgets of tiers: raised, lowered, given again, and refused where they cannot be meant."""

import pytest
from sqlmodel import col, select
from tests.unit.services.people.funding import fund, levels, stored
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted, InvalidInput
from penstock.persistence.tables import TierBudget
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes
from penstock.services.schemas.people.tiers import TierSpec


def test_budgets_are_raised_and_lowered_but_not_below_what_is_spent(visits: World) -> None:
    assert fund(visits, internal=8.0) == {"public": 1.0, "partner": 2.0, "internal": 8.0}
    assert fund(visits, partner=1.9, internal=1.9)["internal"] == 1.9
    with visits.server.database.read() as session:
        rows = session.exec(select(TierBudget).order_by(col(TierBudget.id))).all()
    by_tier: dict[int, list[TierBudget]] = {}
    for row in rows:
        by_tier.setdefault(row.tier_id, []).append(row)
    assert [len(versions) for versions in by_tier.values()] == [1, 2, 3]
    assert all(len({row.order for row in versions}) == 1 for versions in by_tier.values())
    before = stored(visits)
    with pytest.raises(BudgetExhausted, match="what is spent"):
        fund(visits, internal=0.01)
    with pytest.raises(BudgetExhausted, match="what is spent"):
        fund(visits, internal=1.802)
    assert stored(visits) == before


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"partner": 5.0}, "must not shrink"),
        ({"public": 3.0}, "must not shrink"),
        ({"nobody": 3.0}, "no tier"),
        ({"internal": 1e9}, "above 0 and up to"),
    ],
)
def test_budgets_that_cannot_be_meant_are_refused(
    visits: World, wanted: dict[str, float], words: str
) -> None:
    before = stored(visits)
    with pytest.raises(InvalidInput, match=words):
        fund(visits, **wanted)
    assert stored(visits) == before


def test_a_tier_below_all_budgets_can_be_given_one(visits: World) -> None:
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="world", rank=1))
    assert "world" not in fund(visits, internal=5.0)
    assert fund(visits, world=0.9)["world"] == 0.9
    assert "world" not in levels(visits)
