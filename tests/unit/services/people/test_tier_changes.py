"""Test tiers that are inserted, moved and deleted, and who pays for what they are then allowed."""

from typing import Any

import pytest
from sqlmodel import col, select
from tests.unit.services.people.funding import fund, levels, stored
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted, Conflict, Forbidden, InvalidInput, NotFound
from penstock.persistence.tables import Charge, Tier
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.exposure import exposure
from penstock.services.people import tier_changes, tiers, users
from penstock.services.queries import queries
from penstock.services.releases import releases
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    LevelsChange,
    ReleaseRequest,
)


def change(world: World, name: str, **changes: Any) -> None:
    tier_changes.change(world.server, OPERATOR, name, TierChange.model_validate(changes))


def promote(world: World, user: str, tier: str | None) -> None:
    users.change(world.server, OPERATOR, user, UserChange(clearance=tier))


def spent(world: World) -> dict[str, float]:
    with world.server.database.read() as session:
        rows = session.exec(
            select(Tier.name, Charge.loss_total)
            .join(Tier, col(Charge.tier_id) == col(Tier.id))
            .order_by(col(Charge.seq))
        ).all()
    return {name: total / 2**40 for name, total in rows}


def test_an_inserted_tier_pays_for_what_the_next_lower_was_ever_allowed(visits: World) -> None:
    wanted = {"levels": {"partner": {"epsilon": 0.4}}}
    queries.change(visits.server, OPERATOR, "visits", LevelsChange.model_validate(wanted))
    wanted = {"levels": {"partner": {"epsilon": 0.15}}}
    queries.change(visits.server, OPERATOR, "visits", LevelsChange.model_validate(wanted))
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="staff", above="partner"))
    assert spent(visits)["staff"] == spent(visits)["partner"]
    assert levels(visits)["staff"] == levels(visits)["partner"]
    promote(visits, "pia", "staff")
    assert visits.ask("pia").view.guarantee.epsilon == pytest.approx(0.15, rel=3e-2)


def test_a_tier_moved_down_is_allowed_what_those_it_passed_are_and_they_pay(world: World) -> None:
    fund(world, partner=4.0)
    world.push()
    before, old = spent(world), levels(world)
    change(world, "internal", above="public")
    assert [tier.name for tier in tiers.listing(world.server)] == ["public", "internal", "partner"]
    assert levels(world) == {**old, "internal": old["partner"]}
    assert spent(world)["internal"] == before["internal"]
    assert spent(world)["partner"] > before["partner"]
    assert world.ask("ines").view.level.value == old["partner"]


def test_a_tier_moved_up_is_allowed_and_pays_for_what_those_below_it_are(world: World) -> None:
    fund(world, partner=4.0)
    world.push()
    change(world, "partner", rank=1000)
    assert levels(world)["partner"] == levels(world)["internal"]
    seen = exposure.of(world.server, world.person("otto"), ["paul", "ines"], "sites")
    assert seen.reach is not None
    assert seen.reach.tier == "partner"
    assert seen.could_be.epsilon == pytest.approx(0.5, rel=2e-2)


def test_a_move_that_would_shrink_budgets_is_refused_and_changes_nothing(visits: World) -> None:
    before = stored(visits)
    with pytest.raises(Conflict, match="budgets must not shrink"):
        change(visits, "internal", above="public")
    assert stored(visits) == before
    assert [tier.name for tier in tiers.listing(visits.server)][-1] == "internal"


def test_a_move_that_overflows_an_account_is_refused_with_numbers(world: World) -> None:
    world.push("a", levels={"partner": {"epsilon": 1.5}})
    world.push("b", levels={"internal": {"epsilon": 3.0}})
    fund(world, partner=4.0)
    before = stored(world)
    with pytest.raises(BudgetExhausted) as caught:
        change(world, "internal", rank=15)
    assert caught.value.data["tier"] == "partner"
    assert stored(world) == before


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"rank": 10}, "that of 'public'"),
        ({"above": "internal"}, "above itself"),
        ({"above": "nobody"}, "no tier"),
        ({"rank": 5, "above": "public"}, "not both"),
    ],
)
def test_a_place_that_cannot_be_meant_is_refused(
    visits: World, wanted: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        change(visits, "internal", **wanted)


def test_a_description_changes_by_itself(visits: World) -> None:
    before = stored(visits)
    change(visits, "public", description="everybody")
    assert tiers.listing(visits.server)[0].description == "everybody"
    assert stored(visits) == before


def test_a_tier_that_somebody_holds_is_not_deleted(visits: World) -> None:
    with pytest.raises(Conflict, match="held by 1: ines"):
        tier_changes.delete(visits.server, OPERATOR, "internal")
    promote(visits, "ines", None)
    tier_changes.delete(visits.server, OPERATOR, "internal")
    assert [tier.name for tier in tiers.listing(visits.server)] == ["public", "partner"]
    with pytest.raises(NotFound):
        tier_changes.delete(visits.server, OPERATOR, "internal")
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="internal"))
    assert levels(visits)["internal"] == levels(visits)["partner"]


def test_a_deleted_tier_allows_nothing_to_those_above_it(visits: World) -> None:
    promote(visits, "paul", None)
    tier_changes.delete(visits.server, OPERATOR, "partner")
    wanted = {"levels": {"internal": {"epsilon": 0.12}}}
    queries.change(visits.server, OPERATOR, "visits", LevelsChange.model_validate(wanted))
    assert visits.ask("ines").view.guarantee.epsilon == pytest.approx(0.12, rel=3e-2)


def test_who_held_a_deleted_tier_still_counts(visits: World) -> None:
    visits.ask("ines")
    promote(visits, "ines", "public")
    tier_changes.delete(visits.server, OPERATOR, "internal")
    auditor = visits.person("otto")
    seen = exposure.of(visits.server, auditor, ["ines"], "sites")
    assert seen.reach is not None
    assert (seen.reach.tier, seen.reach.epsilon) == ("internal", 4.0)
    # What others see from now on, she may pool with what she kept.
    visits.push("more", levels={"partner": {"epsilon": 0.6}})
    after = exposure.of(visits.server, auditor, ["ines", "paul"], "sites")
    assert after.could_be.epsilon > seen.could_be.epsilon
    assert after.could_be.epsilon <= 4.0
    fund(visits, partner=9.0)
    seen = exposure.of(visits.server, auditor, ["ines"], "sites")
    assert seen.reach is not None
    assert seen.reach.epsilon == 9.0


def test_what_a_tier_above_a_deleted_one_starts_with_is_the_deleted_one_s(visits: World) -> None:
    promote(visits, "ines", "public")
    tier_changes.delete(visits.server, OPERATOR, "internal")
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="inner"))
    assert spent(visits)["inner"] == spent(visits)["internal"]
    assert levels(visits)["inner"] == levels(visits)["partner"]


def test_only_admins_move_delete_and_fund(visits: World) -> None:
    for name in ("pia", "otto"):
        person = visits.person(name)
        with pytest.raises(Forbidden):
            tier_changes.change(visits.server, person, "public", TierChange(rank=3))
        with pytest.raises(Forbidden):
            tier_changes.delete(visits.server, person, "public")
        wanted = DatasetChange.model_validate({"budgets": {"public": {"epsilon": 1}}})
        with pytest.raises(Forbidden):
            budgets.change(visits.server, person, "sites", wanted)


def test_a_choice_carries_the_reach_of_who_made_it(world: World) -> None:
    users.change(
        world.server, OPERATOR, "ada", UserChange(roles=["admin", "analyst"], clearance="partner")
    )
    auditor = world.person("otto")
    world.push("by_operator")
    assert exposure.of(world.server, auditor, ["pia"], "sites").registrars is None
    wanted = {"levels": {"public": {"epsilon": 0.05}}}
    queries.change(
        world.server, world.person("ada"), "by_operator", LevelsChange.model_validate(wanted)
    )
    found = exposure.of(world.server, auditor, ["pia"], "sites").registrars
    assert found is not None
    assert (found.tier, found.epsilon) == ("partner", 2.0)


def test_the_operator_reaches_what_was_read_in_the_name_of_others(world: World) -> None:
    auditor = world.person("otto")
    world.push("by_operator")
    world.ask("ines", "by_operator")
    assert exposure.of(world.server, auditor, ["pia"], "sites").registrars is None
    paul = acting_as(world.server, "paul", by=OPERATOR)
    releases.request(world.server, paul, "by_operator", ReleaseRequest())
    found = exposure.of(world.server, auditor, ["pia"], "sites").registrars
    assert found is not None
    assert (found.tier, found.epsilon) == ("partner", 2.0)
