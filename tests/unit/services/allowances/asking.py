"""Provide analysts who register queries over a file by themselves, under allowances."""

from pathlib import Path
from typing import Any

from tests.unit.services.datasets.stays import BY_TOWN, register
from tests.unit.worlds import World, fill

from penstock.errors import BudgetExhausted
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances
from penstock.services.queries import registration
from penstock.services.schemas.datasets import AllowanceSpec, AllowanceView
from penstock.services.schemas.queries import ComputedQueryRequest
from penstock.services.schemas.views import QueryView

BUDGETS = {"public": {"epsilon": 2.0}, "partner": {"epsilon": 4.0}, "internal": {"epsilon": 8.0}}


def fill_stays(world: World, file: Path) -> None:
    """Add people at three tiers, and a dataset in a file that all tiers have a budget in."""
    fill(world)
    register(world, file, budgets=BUDGETS)


def give(world: World, tier: str = "partner", epsilon: float = 1.0, *users: str) -> AllowanceView:
    """Give a tier an allowance, as the operator."""
    spec = AllowanceSpec(epsilon=epsilon, users=list(users) or None)
    return allowances.give(world.server, OPERATOR, "stays", tier, spec)


def request_of(name: str, tier: str | None = "partner", **changes: Any) -> ComputedQueryRequest:
    """Return a request for counts by town, with a level at ``tier`` alone."""
    levels = None if tier is None else {tier: {"epsilon": 0.25}}
    return ComputedQueryRequest.model_validate(
        {**BY_TOWN, "mechanism": "gaussian", "name": name, "levels": levels, **changes}
    )


def ask(
    world: World, who: str, name: str, tier: str | None = "partner", **changes: Any
) -> QueryView:
    """Register a query as an analyst."""
    request = request_of(name, tier, **changes)
    return registration.register(world.server, world.person(who), request)


def of_value(value: str) -> dict[str, Any]:
    """Return the change that makes a request another statistic: of one town only."""
    return {"where": [{"column": "town", "op": "=", "value": value}]}


def exhaust(world: World, tier: str, below: float = 0.2) -> None:
    """Spend the budget of a tier with queries of an admin, until none of ``below`` would fit."""
    epsilon, number = BUDGETS[tier]["epsilon"], 0
    while epsilon > below:
        where = [{"column": "visits", "op": ">=", "value": number}]
        levels = {tier: {"epsilon": epsilon}}
        request = request_of(f"spent {number}", tier, levels=levels, where=where)
        try:
            registration.register(world.server, OPERATOR, request)
            number += 1
        except BudgetExhausted:
            epsilon *= 0.93


def left(world: World, tier: str = "partner") -> AllowanceView:
    """Return a tier's allowance as the operator sees it."""
    views = allowances.listing(world.server, OPERATOR, "stays")
    return next(view for view in views if view.tier == tier)
