"""Test that a budget preview says what granting the budgets does, and itself changes nothing."""

import pytest
from sqlmodel import select
from tests.support import priced
from tests.unit.services.raised import books, furnished, grant
from tests.unit.worlds import CopyWorld, Keep, World

from penstock.accounting import limit_of
from penstock.errors import BudgetExhausted, Forbidden, InvalidInput
from penstock.persistence.tables import Charge, Leaf, TierBudget
from penstock.services.access.principals import OPERATOR
from penstock.services.ledger.accounts import open_account
from penstock.services.people import tier_changes, users
from penstock.services.previews import budget_preview
from penstock.services.previews.budget_preview import MovedBudgetsView
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import tier_by_name
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.users import UserChange


@pytest.fixture
def loans(copy_world: CopyWorld, keep: Keep) -> World:
    world = furnished(copy_world, keep)
    books(world)
    return world


def foreseen(world: World, **epsilons: float) -> MovedBudgetsView:
    wanted = {"budgets": {name: {"epsilon": epsilon} for name, epsilon in epsilons.items()}}
    change = DatasetChange.model_validate(wanted)
    return budget_preview.preview(world.server, OPERATOR, "loans", change)


def counted(world: World) -> list[int]:
    with world.server.database.read() as session:
        return [len(session.exec(select(table)).all()) for table in (Charge, Leaf, TierBudget)]


def shares(world: World, name: str) -> tuple[float, float]:
    with world.server.database.read() as session:
        dataset = dataset_by_name(session, "loans")
        account = open_account(session, dataset.id or 0, tier_by_name(session, name))
        assert account is not None
        limit = limit_of(account.account)
        return account.spent.loss / limit.loss, account.spent.failure / limit.failure


def test_what_is_foreseen_is_what_is_charged(loans: World) -> None:
    before = counted(loans)
    seen = foreseen(loans, partner=2, internal=3)
    assert counted(loans) == before
    assert [(one.tier, one.after.epsilon) for one in seen.tiers] == [
        ("partner", 2),
        ("internal", 3),
    ]
    assert seen.refusal is None
    for one in seen.tiers:
        assert (one.spent_share, one.failure_share) == shares(loans, one.tier)
        assert [query.query for query in one.dearer] == ["books"]
    grant(loans, "loans", partner=2, internal=3)
    for one in seen.tiers:
        assert (one.spent_share_after, one.failure_share_after) == shares(loans, one.tier)
    assert foreseen(loans, internal=3).tiers == []


def test_what_would_be_refused_is_told_in_the_same_words(loans: World) -> None:
    for epsilon in (12, 0.2):
        wanted = dict.fromkeys(("public", "partner", "internal"), epsilon)
        with pytest.raises(BudgetExhausted) as refused:
            grant(loans, "loans", **wanted)
        assert foreseen(loans, **wanted).refusal == refused.value.detail
    with pytest.raises(InvalidInput, match="must not shrink"):
        foreseen(loans, public=2)


def test_a_tier_that_was_taken_away_and_still_pays_is_told(loans: World) -> None:
    users.change(loans.server, OPERATOR, "paul", UserChange(clearance="public"))
    tier_changes.delete(loans.server, OPERATOR, "partner")
    seen = foreseen(loans, public=2, internal=2)
    assert [(one.tier, one.former) for one in seen.tiers] == [
        ("public", False),
        ("partner", True),
        ("internal", False),
    ]
    grant(loans, "loans", public=2, internal=2)
    with loans.server.database.read() as session:
        key = dataset_by_name(session, "loans").id or 0
        charged = priced.ledger(session, key)
        assert charged == priced.from_nothing(session, key)
        assert len(charged) == 3


def test_analysts_are_not_told(loans: World) -> None:
    change = DatasetChange.model_validate({"budgets": {"internal": {"epsilon": 2}}})
    with pytest.raises(Forbidden):
        budget_preview.preview(loans.server, loans.person("pia"), "loans", change)
