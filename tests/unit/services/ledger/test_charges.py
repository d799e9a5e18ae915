"""Test what one act charges an account in several parts: they add up, and have to fit together.

Levels that are draws of their own are each paid for by all tiers that see them; whoever moves
those of two tiers at once so charges the upper one twice.
"""

from collections import defaultdict

import pytest
from sqlmodel import col, select
from tests.unit.worlds import CopyWorld, World, fill

from penstock.errors import BudgetExhausted
from penstock.persistence.tables import Charge
from penstock.services.access.principals import OPERATOR
from penstock.services.queries import queries
from penstock.services.schemas.queries import LevelsChange

VALUES = list(range(64))
BOTH = {"partner": {"epsilon": 1.7}, "internal": {"epsilon": 3.3}}


@pytest.fixture
def counts(copy_world: CopyWorld) -> World:
    return copy_world("little", furnish)


def furnish(world: World) -> None:
    """Add what ``fill`` adds, and a query with little accuracy for everybody."""
    fill(world)
    world.push(
        "counts",
        keys=None,
        values=VALUES,
        sensitivity={"l1": len(VALUES), "linf": 1},
        mechanism="generalized_gaussian",
        p=4,
        levels={name: {"epsilon": 0.5} for name in ("public", "partner", "internal")},
    )


def move(world: World, **levels: object) -> None:
    wanted = LevelsChange.model_validate({"levels": levels, "values": VALUES})
    queries.change(world.server, OPERATOR, "counts", wanted)


def charges(world: World) -> dict[int, list[Charge]]:
    """Return the charges by tier, in their order."""
    found: dict[int, list[Charge]] = defaultdict(list)
    with world.server.database.read() as session:
        for row in session.exec(select(Charge).order_by(col(Charge.seq))).all():
            found[row.tier_id].append(row)
    return found


def test_charges_of_one_act_add_up(counts: World) -> None:
    before = max(map(len, charges(counts).values()))
    move(counts, partner={"epsilon": 0.7}, internal={"epsilon": 1.0})
    assert max(map(len, charges(counts).values())) == before + 2
    for rows in charges(counts).values():
        assert [row.seq for row in rows] == list(range(len(rows)))
        for last, row in enumerate(rows, 1):
            assert row.loss_total == sum(one.loss for one in rows[:last])
            assert row.failure_total == sum(one.failure for one in rows[:last])


@pytest.mark.parametrize(
    "levels", [dict.fromkeys(BOTH, BOTH["partner"]), {"internal": BOTH["internal"]}]
)
def test_each_of_two_charges_fits_alone(counts: World, levels: dict[str, object]) -> None:
    move(counts, **levels)


def test_charges_of_one_act_that_do_not_fit_together_are_refused(counts: World) -> None:
    before = {tier: len(rows) for tier, rows in charges(counts).items()}
    with pytest.raises(BudgetExhausted) as caught:
        move(counts, **BOTH)
    assert caught.value.data["tier"] == "internal"
    assert {tier: len(rows) for tier, rows in charges(counts).items()} == before
