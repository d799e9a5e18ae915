"""Test that a missing budget leaf is reported, and that limits are those of the budgets."""

from sqlmodel import select
from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.persistence.tables import TierBudget
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.ledger.logged_budgets import LoggedBudgets, has_its_limit
from penstock.services.schemas.datasets import DatasetChange


def test_every_version_of_a_budget(world: World) -> None:
    larger = DatasetChange.model_validate({"budgets": {"internal": {"epsilon": 5}}})
    budgets.change(world.server, OPERATOR, "sites", larger)
    assert "budget" not in logged.kinds(logged.unmissed(world, LoggedBudgets))


def test_a_limit_is_that_of_its_budget(world: World) -> None:
    with world.server.database.read() as session:
        row = session.exec(select(TierBudget)).first()
    assert row is not None
    assert has_its_limit(row)
    for change in (
        {"limit_loss": row.limit_loss + 1},
        {"epsilon": row.epsilon * 2},
        {"delta": 2.0},
    ):
        assert not has_its_limit(TierBudget(**{**row.model_dump(), **change}))
