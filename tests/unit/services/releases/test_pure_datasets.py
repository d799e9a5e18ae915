"""Test a dataset with delta 0: only pure noise, and losses that add up to the budget itself."""

import math
from typing import Any

import numpy as np
import pytest
from sqlmodel import col, select
from tests.unit.sites import SITES, VISITS
from tests.unit.worlds import World

from penstock.accounting import LOSS_UNITS
from penstock.errors import BudgetExhausted, InvalidInput
from penstock.persistence.tables import Charge, TierBudget
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.exposure import exposure
from penstock.services.queries import queries
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.queries import DatasetRequest, LevelsChange
from penstock.services.schemas.views import QueryView


@pytest.fixture
def pure(world: World) -> World:
    """Return the world with a second dataset of vectors, whose delta is 0."""
    request = DatasetRequest.model_validate({**SITES, "name": "pure", "delta": 0})
    datasets.register(world.server, OPERATOR, request)
    return world


def push(world: World, name: str = "visits", **changes: Any) -> QueryView:
    return world.push(name, **{"dataset": "pure", "mechanism": "laplace", **changes})


def rows(world: World) -> list[Charge]:
    with world.server.database.read() as session:
        return list(session.exec(select(Charge).order_by(col(Charge.id))).all())


def move(world: World, name: str, **levels: Any) -> QueryView:
    wanted: dict[str, Any] = {"levels": levels, "values": VISITS["values"]}
    return queries.change(world.server, OPERATOR, name, LevelsChange.model_validate(wanted))


def test_its_accounts_have_an_infinite_order_and_keep_nothing_for_failures(pure: World) -> None:
    with pure.server.database.read() as session:
        found = session.exec(select(TierBudget).where(TierBudget.delta == 0)).all()
    assert {row.order for row in found} == {math.inf}
    assert {row.limit_failure for row in found} == {0}
    assert {row.limit_loss for row in found} == {LOSS_UNITS, 2 * LOSS_UNITS, 4 * LOSS_UNITS}


@pytest.mark.parametrize("mechanism", ["gaussian", "poisson", "skellam"])
@pytest.mark.parametrize("way", ["levels", "share"])
def test_other_mechanisms_are_refused_by_name(pure: World, mechanism: str, way: str) -> None:
    changes: dict[str, Any] = {"share": 0.1, "levels": None} if way == "share" else {}
    with pytest.raises(InvalidInput, match=f"{mechanism} noise breaks every epsilon") as refused:
        push(pure, mechanism=mechanism, **changes)
    assert refused.value.errors[0][0] == "/mechanism"
    assert rows(pure) == []


def test_charges_are_the_epsilons_and_nothing_else(pure: World) -> None:
    view = push(pure)
    epsilons = [one.guarantee.epsilon for one in view.tiers]
    losses = [row.loss / LOSS_UNITS for row in rows(pure)]
    assert losses == pytest.approx(epsilons, abs=1 / LOSS_UNITS)
    assert all(loss >= epsilon for loss, epsilon in zip(losses, epsilons, strict=True))
    assert {row.failure for row in rows(pure)} == {0}
    assert {one.guarantee.delta for one in view.tiers} == {0}


def test_a_share_is_that_part_of_epsilon(pure: World) -> None:
    view = push(pure, share=0.25, levels=None)
    epsilons = [one.guarantee.epsilon for one in view.tiers]
    assert epsilons == pytest.approx([0.25, 0.5, 1.0], rel=2e-3)
    assert all(has <= wanted for has, wanted in zip(epsilons, [0.25, 0.5, 1.0], strict=True))
    for number in range(3):
        push(pure, f"more{number}", share=0.25, levels=None)
    with pytest.raises(BudgetExhausted):
        push(pure, "one_too_many", share=0.01, levels=None)


def test_exposure_is_a_plain_sum(pure: World) -> None:
    for name in ("first", "second"):
        push(pure, name)
        pure.ask("ines", name)
        pure.ask("pia", name)
    found = exposure.of(pure.server, pure.person("otto"), ["ines", "pia"], "pure")
    level = pure.ask("ines", "first").view.guarantee.epsilon
    low = pure.ask("pia", "first").view.guarantee.epsilon
    assert level is not None
    assert low is not None
    assert found.released.epsilon == pytest.approx(2 * level)
    assert found.released.delta == 0
    assert found.could_be.epsilon == pytest.approx(2 * level, rel=1e-12)
    assert found.independent.epsilon == pytest.approx(2 * level + 2 * low)
    assert found.reach is not None
    assert (found.reach.epsilon, found.reach.delta) == (4, 0)


def test_the_budget_says_what_is_left(pure: World) -> None:
    push(pure)
    seen = budgets.show(pure.server, pure.person("otto"), "pure")
    for line in seen.tiers:
        assert line.remaining.delta == 0
        assert line.remaining.epsilon == pytest.approx(
            line.granted.epsilon - line.spent.epsilon, abs=1e-11
        )


def test_a_raise_costs_the_difference_also_when_others_came_between(pure: World) -> None:
    push(pure)
    push(pure, "between")
    view = move(pure, "visits", internal={"epsilon": 1.5})
    with pure.server.database.read() as session:
        newest = session.exec(select(Charge).order_by(col(Charge.id).desc())).first()
    assert newest is not None
    after = next(one for one in view.tiers if one.tier == "internal").guarantee.epsilon
    assert newest.loss_total / LOSS_UNITS == pytest.approx(after + 0.5, rel=1e-2)
    mine = [row for row in rows(pure) if row.tier_id == newest.tier_id]
    total = sum(row.loss for row in mine if row.query_id == newest.query_id)
    assert total / LOSS_UNITS == pytest.approx(after, abs=2 / LOSS_UNITS)


def test_budgets_are_raised_and_lowered(pure: World) -> None:
    push(pure)
    for epsilon in (9.0, 4.0):
        wanted = DatasetChange.model_validate({"budgets": {"internal": {"epsilon": epsilon}}})
        assert budgets.change(pure.server, OPERATOR, "pure", wanted).budgets["internal"].epsilon
    low = DatasetChange.model_validate(
        {"budgets": {name: {"epsilon": 0.01} for name in SITES["budgets"]}}  # type: ignore[attr-defined]
    )
    with pytest.raises(BudgetExhausted):
        budgets.change(pure.server, OPERATOR, "pure", low)


@pytest.mark.parametrize("granularity", [None, 1])
def test_integers_get_the_discrete_laplace_law_where_it_is_asked_for(
    pure: World, granularity: int | None
) -> None:
    push(pure, granularity=granularity)
    view = pure.ask("ines").view
    whole = bool(np.all(view.values == np.rint(view.values)))
    assert whole == (granularity == 1)
    assert view.granularity == (1 if granularity else pytest.approx(2.0**-13, rel=1))
    move(pure, "visits", internal={"epsilon": 1.0})
    fine = pure.ask("ines").view
    assert fine.granularity == view.granularity
    assert fine.level.value < view.level.value


@pytest.mark.parametrize("granularity", [0.5, 2, 3, 1e-300])
def test_a_granularity_off_the_lattice_of_the_values_is_refused(
    pure: World, granularity: float
) -> None:
    with pytest.raises(InvalidInput, match="multiples of 1") as refused:
        push(pure, granularity=granularity)
    assert refused.value.errors[0][0] == "/granularity"


def test_only_laplace_noise_has_a_granularity_to_choose(world: World) -> None:
    for mechanism in ("gaussian", "poisson", "skellam"):
        with pytest.raises(ValueError, match=f"{mechanism} noise has its own"):
            world.push(mechanism=mechanism, granularity=1)
