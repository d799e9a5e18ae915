"""Provide budgets and levels of tiers, as tests change and read them."""

from sqlmodel import select
from tests.unit.worlds import World

from penstock.persistence.tables import Charge, Leaf, QueryLevel, TierBudget
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.queries import queries
from penstock.services.schemas.datasets import DatasetChange


def fund(world: World, /, **epsilons: float) -> dict[str, float]:
    wanted = {"budgets": {name: {"epsilon": value} for name, value in epsilons.items()}}
    view = budgets.change(world.server, OPERATOR, "sites", DatasetChange.model_validate(wanted))
    return {name: one.epsilon for name, one in view.budgets.items()}


def stored(world: World) -> list[int]:
    with world.server.database.read() as session:
        tables = (Charge, QueryLevel, TierBudget, Leaf)
        return [len(session.exec(select(one)).all()) for one in tables]


def levels(world: World, query: str = "visits") -> dict[str, float]:
    view = queries.show(world.server, OPERATOR, query)
    return {one.tier: one.level.value for one in view.tiers}
