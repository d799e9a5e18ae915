"""Test that what was lost with a database stays spent when tiers and budgets change afterwards."""

import math

import pytest
from sqlmodel import select
from tests.unit.sites import SITES
from tests.unit.worlds import Restore, World

from penstock.errors import Conflict
from penstock.persistence.tables import Charge, SpentFloor
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.datasets import corrections, datasets
from penstock.services.ledger.accounts import TierAccount, open_account
from penstock.services.people import tier_changes
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import tier_by_name
from penstock.services.schemas.datasets import CorrectionRequest, DatasetChange
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
)
from penstock.services.verification.verification import verify


def account(world: World, tier: str) -> TierAccount:
    with world.server.database.read() as session:
        key = dataset_by_name(session, "sites").id or 0
        found = open_account(session, key, tier_by_name(session, tier))
        assert found is not None
        return found


def grant(world: World, **epsilons: float) -> None:
    wanted = {"budgets": {name: {"epsilon": epsilon} for name, epsilon in epsilons.items()}}
    budgets.change(world.server, OPERATOR, "sites", DatasetChange.model_validate(wanted))


@pytest.fixture
def restored(visits: World, restore: Restore) -> World:
    """Return a world that lost a query, whose cost only the witness knows."""
    visits.push("lost", levels={"public": {"epsilon": 0.9}}, values=[1, 2, 3])
    old = restore()
    restores.acknowledge(old.server, OPERATOR)
    return old


def test_a_tier_that_takes_over_an_account_takes_over_what_was_lost(restored: World) -> None:
    tier_changes.create(restored.server, OPERATOR, TierSpec(name="staff", above="public"))
    assert account(restored, "staff").spent == account(restored, "public").spent
    restored.push("more", levels={"public": {"epsilon": 0.05}})
    assert account(restored, "staff").spent == account(restored, "public").spent
    assert verify(restored.server, OPERATOR).problems == []


def test_what_was_lost_costs_more_under_a_larger_budget(restored: World) -> None:
    before = account(restored, "internal")
    with restored.server.database.read() as session:
        charged = sum(row.failure for row in session.exec(select(Charge)) if row.tier_id == 3)
    lost = before.spent.failure - charged
    assert lost > 0
    grant(restored, internal=5)
    after = account(restored, "internal")
    grown = (1 + math.exp(5)) / (1 + math.exp(4))
    assert after.spent.failure - before.spent.failure >= lost * (grown - 1)
    assert after.spent.loss >= before.spent.loss
    with restored.server.database.read() as session:
        assert len(session.exec(select(SpentFloor)).all()) == 4
    assert verify(restored.server, OPERATOR).problems == []


def test_a_query_that_costs_less_failure_than_before_is_no_restore(
    visits: World, restore: Restore
) -> None:
    """The witness saw more spent than is spent now."""
    visits.push("close", levels={"public": {"epsilon": 0.9}}, mechanism="skellam")
    before = account(visits, "public").spent
    grant(visits, public=9, partner=9, internal=9)
    after = account(visits, "public").spent
    assert after.failure < before.failure
    assert after.loss > before.loss
    assert verify(visits.server, OPERATOR).problems == []
    visits.push("next", levels={"public": {"epsilon": 0.1}})
    old = restore()
    assert restores.acknowledge(old.server, OPERATOR).charged == 3
    assert verify(old.server, OPERATOR).problems == []


def test_what_was_lost_holds_a_declaration_as_charges_do(world: World) -> None:
    changed = CorrectionRequest.model_validate({"delta": 1e-5})
    datasets.register(
        world.server, OPERATOR, DatasetRequest.model_validate({**SITES, "name": "new"})
    )
    corrections.correct(world.server, OPERATOR, "new", changed)
    with world.server.database.write() as session:
        key, at = dataset_by_name(session, "new").id or 0, world.server.clock()
        session.add(SpentFloor(dataset_id=key, tier_id=1, loss=1, failure=0, at=at))
    with pytest.raises(Conflict, match="these cannot change"):
        corrections.correct(
            world.server, OPERATOR, "new", CorrectionRequest.model_validate({"delta": 1e-6})
        )
    with pytest.raises(Conflict):
        corrections.withdraw(world.server, OPERATOR, "new")
