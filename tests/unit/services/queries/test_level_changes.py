"""Test levels of a query.

Lowered for the future, raised and charged, the ceiling raised with data.
"""

import json
from typing import Any

import numpy as np
import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import (
    BudgetExhausted,
    ClearanceTooLow,
    Conflict,
    Forbidden,
    InvalidInput,
    LevelsUsedUp,
    NotFound,
)
from penstock.persistence.tables import Charge, Leaf, Query, QueryLevel, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.exposure import exposure
from penstock.services.people import tier_changes
from penstock.services.queries import level_changes, queries
from penstock.services.releases import history
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.queries import (
    LevelsChange,
)
from penstock.services.schemas.views import QueryView

VALUES = [120, 7, 0]


def move(world: World, query: str = "visits", /, **changes: Any) -> QueryView:
    wanted = {"levels": {name: spec for name, spec in changes.items() if name != "values"}}
    if "values" in changes:
        wanted["values"] = changes["values"]
    return queries.change(world.server, OPERATOR, query, LevelsChange.model_validate(wanted))


def epsilons(view: QueryView) -> dict[str, float]:
    return {one.tier: one.guarantee.epsilon for one in view.tiers}


def stored(world: World) -> list[list[dict[str, Any]]]:
    with world.server.database.read() as session:
        tables = (Charge, QueryLevel, Release, Leaf)
        return [[row.model_dump() for row in session.exec(select(one)).all()] for one in tables]


def spent(world: World) -> list[tuple[int, int, int]]:
    with world.server.database.read() as session:
        rows = session.exec(select(Charge)).all()
        return [(row.tier_id, row.loss_total, row.failure_total) for row in rows]


def test_a_lowered_level_refuses_what_it_allowed_and_keeps_what_was_given(visits: World) -> None:
    given = visits.ask("ines").view
    before = spent(visits)
    could = exposure.of(visits.server, visits.person("otto"), ["ines"], "sites").could_be
    view = move(visits, internal={"epsilon": 0.3})
    assert epsilons(view)["internal"] == pytest.approx(0.3, rel=2e-2)
    with pytest.raises(ClearanceTooLow):
        visits.ask("ines", epsilon=0.5)
    assert visits.ask("ines").view.level.value > given.level.value
    held = history.values(visits.server, visits.person("ines"), given.id)
    np.testing.assert_array_equal(held.values, given.values)
    assert spent(visits) == before
    after = exposure.of(visits.server, visits.person("otto"), ["ines"], "sites").could_be
    assert after == could


def test_raising_back_to_what_was_charged_costs_nothing(visits: World) -> None:
    before = spent(visits)
    move(visits, internal={"epsilon": 0.3})
    move(visits, internal={"epsilon": 0.5})
    assert spent(visits) == before
    assert visits.ask("ines").view.guarantee.epsilon == pytest.approx(0.5, rel=2e-2)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "poisson", "skellam"])
def test_a_level_raised_up_to_the_ceiling_needs_no_data_and_is_charged(
    world: World, mechanism: str
) -> None:
    world.push(mechanism=mechanism)
    drawn, before = world.streams.taken, spent(world)
    view = move(world, public={"epsilon": 0.2})
    assert world.streams.taken == drawn
    assert len(spent(world)) == len(before) + 1
    assert spent(world)[-1][1] > before[0][1]
    assert epsilons(view)["public"] == pytest.approx(0.2, rel=3e-2)
    assert world.ask("pia").view.level == view.tiers[0].level


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "poisson", "skellam"])
def test_the_ceiling_is_raised_with_the_same_values(world: World, mechanism: str) -> None:
    world.push(mechanism=mechanism)
    coarse = world.ask("ines").view
    view = move(world, internal={"epsilon": 0.8}, values=VALUES)
    assert epsilons(view)["internal"] == pytest.approx(0.8, rel=3e-2)
    fine = world.ask("ines").view
    assert fine.level.value < coarse.level.value
    again = world.ask("ines", level=coarse.level.value).view
    np.testing.assert_array_equal(again.values, coarse.values)
    with world.server.database.read() as session:
        rows = session.exec(select(Release)).all()
    newest = max(rows, key=lambda row: row.seq)
    assert (newest.accurate_rung, newest.rung) == (None, min(row.rung for row in rows))
    assert newest.noisy_rung == sorted(row.rung for row in rows)[1]


def test_other_values_than_those_registered_are_refused_before_anything_is_charged(
    visits: World,
) -> None:
    before = stored(visits)
    with pytest.raises(Conflict, match="not those"):
        move(visits, internal={"epsilon": 0.8}, values=[120, 7, 1])
    after = stored(visits)
    assert (after[:3], len(after[3])) == (before[:3], len(before[3]) + 1)
    before = after
    with pytest.raises(InvalidInput, match="send its exact values"):
        move(visits, internal={"epsilon": 0.8})
    with pytest.raises(InvalidInput, match="2 values"):
        move(visits, internal={"epsilon": 0.8}, values=[120, 7])
    assert stored(visits) == before


def test_nothing_is_drawn_for_a_tier_that_was_deleted_meanwhile(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="board"))
    drawn, releases, read = visits.streams.taken, stored(visits)[2], level_changes._answer

    def late(*given: Any) -> Any:
        tier_changes.delete(visits.server, OPERATOR, "board")
        return read(*given)

    monkeypatch.setattr(level_changes, "_answer", late)
    with pytest.raises(Conflict, match="changed in the meantime; try again"):
        move(visits, board={"epsilon": 0.8}, values=VALUES)
    assert (visits.streams.taken, stored(visits)[2]) == (drawn, releases)


def test_a_crash_after_the_charge_is_finished_by_the_same_change(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, drawn = stored(visits), visits.streams.taken

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(level_changes, "_draw_again", crash)
        with pytest.raises(KeyboardInterrupt):
            move(visits, internal={"epsilon": 0.8}, values=VALUES)
    charged = spent(visits)
    assert len(charged) == len(before[0]) + 1
    assert visits.streams.taken == drawn
    assert stored(visits)[1:3] == before[1:3]
    assert visits.ask("ines").view.guarantee.epsilon == pytest.approx(0.5, rel=2e-2)
    move(visits, internal={"epsilon": 0.8}, values=VALUES)
    assert spent(visits) == charged
    assert visits.ask("ines").view.guarantee.epsilon == pytest.approx(0.8, rel=2e-2)
    once = stored(visits)
    with pytest.raises(InvalidInput, match="leave values out"):
        move(visits, internal={"epsilon": 0.8}, values=VALUES)
    move(visits, internal={"epsilon": 0.8})
    assert stored(visits) == once


def test_a_raise_beyond_the_budget_is_refused_with_its_numbers_and_changes_nothing(
    visits: World,
) -> None:
    visits.push("heavy", levels={"internal": {"epsilon": 3}})
    before = stored(visits)
    with pytest.raises(BudgetExhausted) as caught:
        move(visits, internal={"epsilon": 3}, values=VALUES)
    assert caught.value.data["tier"] == "internal"
    assert caught.value.data["spent_by"]
    assert stored(visits) == before


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        (
            {"public": {"epsilon": 0.4}},
            InvalidInput,
            (
                r"'partner', \d+\.?\d* \(variance\), would be noisier than .* trusted 'public', \d"
                r".*noisier as rank rises\. List 'partner' as well, at \d+\.?\d* or below\."
            ),
        ),
        (
            {"public": {"epsilon": 0.6}, "values": VALUES},
            InvalidInput,
            "List 'partner' and 'internal' as well, at",
        ),
        (
            {"internal": {"epsilon": 0.2}},
            InvalidInput,
            r"noisier as rank rises\. Ask for .* or below, or list 'partner' as well\.",
        ),
        (
            {"partner": {"epsilon": 0.3}, "internal": {"epsilon": 0.2}},
            InvalidInput,
            r"Ask for \d+\.?\d* or below for 'internal'\.",
        ),
        ({"nowhere": {"epsilon": 0.2}}, InvalidInput, "no tier"),
        ({"internal": {"epsilon": 500}, "values": VALUES}, InvalidInput, "most accurate level"),
    ],
)
def test_levels_that_cannot_be_meant_change_nothing(
    visits: World, changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    before = stored(visits)
    with pytest.raises(error, match=words):
        move(visits, **changes)
    assert stored(visits) == before


def test_a_tier_that_saw_nothing_may_be_given_a_level(world: World) -> None:
    world.push(levels={"internal": {"epsilon": 0.5}})
    with pytest.raises(NotFound):
        world.ask("pia")
    view = move(world, public={"epsilon": 0.1})
    assert list(epsilons(view)) == ["public", "partner", "internal"]
    assert epsilons(view)["partner"] == epsilons(view)["public"]
    assert world.ask("paul").view.tier == "partner"


def test_the_number_of_levels_that_was_paid_for_bounds_changes_too(world: World) -> None:
    world.push(max_levels=4)
    move(world, public={"epsilon": 0.05})
    with pytest.raises(LevelsUsedUp):
        move(world, public={"epsilon": 0.06})
    move(world, public={"epsilon": 0.1})


def test_a_retired_query_gives_nothing_more_and_keeps_what_it_cost(visits: World) -> None:
    given = visits.ask("pia").view
    before = spent(visits)
    assert queries.retire(visits.server, OPERATOR, "visits").status == "retired"
    once = stored(visits)
    queries.retire(visits.server, OPERATOR, "visits")
    assert stored(visits) == once
    assert spent(visits) == before
    for name in ("pia", "ines"):
        with pytest.raises(Conflict, match="retired"):
            visits.ask(name)
    with pytest.raises(Conflict, match="retired"):
        move(visits, public={"epsilon": 0.05})
    held = history.values(visits.server, visits.person("pia"), given.id)
    np.testing.assert_array_equal(held.values, given.values)


def test_only_admins_change_and_retire(visits: World) -> None:
    wanted = LevelsChange.model_validate({"levels": {"public": {"epsilon": 0.05}}})
    for name in ("pia", "otto"):
        with pytest.raises(Forbidden):
            queries.change(visits.server, visits.person(name), "visits", wanted)
        with pytest.raises(Forbidden):
            queries.retire(visits.server, visits.person(name), "visits")


def test_neither_log_nor_specs_nor_the_fingerprint_show_the_values(visits: World) -> None:
    move(visits, internal={"epsilon": 0.8}, values=VALUES)
    with visits.server.database.read() as session:
        query = session.exec(select(Query)).one()
        leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
    assert query.sealed_fingerprint is not None
    assert "values" not in json.loads(query.spec)
    assert not any("fingerprint" in str(leaf) or "values" in leaf for leaf in leaves)


def test_a_leaf_says_what_its_actor_had_read(visits: World) -> None:
    move(visits, public={"epsilon": 0.05})
    given = visits.ask("ines").view
    move(visits, public={"epsilon": 0.06})
    acting = visits.person("ada")
    wanted = LevelsChange.model_validate({"levels": {"public": {"epsilon": 0.07}}})
    queries.change(visits.server, acting, "visits", wanted)
    with visits.server.database.read() as session:
        leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
    assert all("actor_exposure" in leaf for leaf in leaves if leaf["kind"] != "release")
    assert leaves[-1]["actor_exposure"] == {}
    assert given.level.value > 0
