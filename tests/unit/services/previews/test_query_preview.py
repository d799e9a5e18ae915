"""Test a preview.

To the last digit what registering then charges, and to analysts only their own.
"""

from fractions import Fraction
from typing import Any

import pytest
from sqlmodel import col, select
from tests.unit.services.previews.people import AGGREGATES, BY_TOWN, PEOPLE, ROWS, ask, register
from tests.unit.sites import VISITS
from tests.unit.worlds import CopyWorld, Keep, World, cut_off_before_the_anchor, fill

from penstock.errors import (
    BudgetExhausted,
    Conflict,
    Forbidden,
    InvalidInput,
    NameTaken,
    NotFound,
    PenstockError,
)
from penstock.mechanisms import MECHANISMS
from penstock.persistence.tables import Charge, Query, Tier
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.people import tier_changes, users
from penstock.services.queries import level_changes, queries
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.previews import PreviewView
from penstock.services.schemas.queries import (
    DatasetRequest,
    LevelsChange,
)
from penstock.services.schemas.views import QueryView

LEVELS = {
    "gaussian": {"public": {"epsilon": 0.02}, "internal": {"rho": 0.002}},
    "laplace": {"public": {"epsilon": 0.02}, "internal": {"epsilon": 0.03}},
    "poisson": {"public": {"level": 10**9}, "internal": {"level": 10**8}},
    "skellam": {"public": {"level": 10**9}, "internal": {"level": 10**8}},
}
ALL = [{"column": "age", "op": ">=", "value": 0}]


@pytest.fixture
def people(copy_world: CopyWorld, keep: Keep) -> World:
    source = {"engine": "duckdb", "uri": str(keep("people_previewed.csv", ROWS))}

    def furnish(world: World) -> None:
        fill(world)
        request = DatasetRequest.model_validate({**PEOPLE, "source": source})
        datasets.register(world.server, OPERATOR, request)

    return copy_world("preview", furnish)


def charged(world: World, name: str) -> dict[str, tuple[float, Fraction, Fraction]]:
    """Return, by tier, the order, the loss and the failure probability in the ledger."""
    with world.server.database.read() as session:
        rows = session.exec(
            select(Tier.name, Charge)
            .join(Tier, col(Charge.tier_id) == col(Tier.id))
            .join(Query, col(Charge.query_id) == col(Query.id))
            .where(col(Query.name) == name)
        ).all()
    return {
        tier: (row.order, Fraction(row.loss, 2**40), Fraction(row.failure, 2**62))
        for tier, row in rows
    }


def require_equal(world: World, found: PreviewView, made: QueryView) -> None:
    assert [(one.tier, one.level, one.guarantee, one.error) for one in found.tiers] == [
        (one.tier, one.level, one.guarantee, one.error) for one in made.tiers
    ]
    assert (found.query, found.dataset, found.dataset_version, found.mechanism) == (
        *(made.name, made.dataset, made.dataset_version),
        made.mechanism,
    )
    assert (found.sensitivity, found.dimension) == (made.sensitivity, made.dimension)
    assert found.granularity == made.granularity
    assert charged(world, made.name) == {
        one.tier: (one.charge.order, Fraction(one.charge.loss), Fraction(one.charge.failure))
        for one in found.tiers
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if name == "poisson" else [])
        for name in sorted(MECHANISMS)
    ],
)
def test_a_preview_equals_what_registering_charges_to_the_last_digit(
    people: World, mechanism: str
) -> None:
    computed = [{**BY_TOWN, **spec, "name": name} for name, spec in AGGREGATES.items()]
    pushed = {**VISITS, "name": "pushed"}
    for spec in (*computed, pushed):
        ways: list[dict[str, Any]] = [{"levels": LEVELS[mechanism]}, {"share": 0.01}]
        if mechanism in ("poisson", "skellam") and spec is not pushed:
            # Their exact figures take seconds: one way each, and levels where units weigh most.
            ways = ways[:1] if spec["name"] in ("sum", "mean") else ways[1:]
        for terms in ways:
            wanted = {**spec, "mechanism": mechanism, "levels": None, "share": None, **terms}
            wanted["name"] = f"{spec['name']}-{next(iter(terms))}"
            # One statistic is registered once.
            wanted |= {} if spec is pushed or "share" in terms else {"where": ALL}
            wanted = {name: part for name, part in wanted.items() if part is not None}
            found = ask(people, wanted)
            made = register(people, wanted)
            require_equal(people, found, made)
            again = ask(people, {"query": wanted["name"].upper()})
            require_equal(people, again, made)
            assert (found.registered, again.registered) == (False, True)
            assert all(one.room is not None and one.room.fits for one in found.tiers)
            assert all(one.room is None for one in again.tiers)


def test_a_budget_names_a_query_at_the_share_that_was_previewed(visits: World) -> None:
    found = ask(visits, {"query": "visits"})
    for one, told in zip(
        budgets.show(visits.server, OPERATOR, "sites").tiers, found.tiers, strict=True
    ):
        assert (one.tier, one.queries[0].query) == (told.tier, "visits")
        assert one.queries[0].share == one.spent_share == told.charge.share


def test_a_vector_is_previewed_without_its_values(world: World) -> None:
    spec = {name: part for name, part in VISITS.items() if name != "values"}
    found = ask(world, spec)
    assert found == ask(world, {**VISITS, "values": [1, 2, 3]})
    require_equal(world, found, world.push())
    with pytest.raises(InvalidInput, match="keys or values"):
        ask(world, {name: part for name, part in spec.items() if name != "keys"})


def test_a_raised_level_is_previewed_at_all_that_was_paid(visits: World) -> None:
    change = LevelsChange.model_validate({"levels": {"public": {"epsilon": 0.2}}})
    level_changes.change(visits.server, OPERATOR, "visits", change)
    found = ask(visits, {"query": "visits"}).tiers[0]
    with visits.server.database.read() as session:
        rows = session.exec(
            select(Charge)
            .join(Tier, col(Charge.tier_id) == col(Tier.id))
            .where(col(Tier.name) == "public")
        ).all()
    assert len(rows) == 2
    assert found.charge.loss == sum(row.loss for row in rows) / 2**40


def outcome(attempt: Any) -> tuple[type[PenstockError], str]:
    with pytest.raises(PenstockError) as refusal:
        attempt()
    return type(refusal.value), refusal.value.detail


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (NameTaken, {"name": "Visits"}),
        (InvalidInput, {"values": [1, 2]}),
        (InvalidInput, {"values": [1, 2, 0.5]}),
        (InvalidInput, {"levels": {"moon": {"epsilon": 1}}}),
        (InvalidInput, {"levels": {"public": {"epsilon": 1}, "internal": {"epsilon": 0.5}}}),
        (InvalidInput, {"max_levels": 1}),
        (NotFound, {"dataset": "moon"}),
    ],
)
def test_what_registering_refuses_a_preview_refuses_alike(
    visits: World, kind: type[PenstockError], changes: dict[str, Any]
) -> None:
    spec = {**VISITS, "name": "fresh", **changes}
    refused = outcome(lambda: ask(visits, spec))
    assert refused == outcome(lambda: register(visits, spec))
    assert refused[0] is kind


def test_a_statistic_that_is_registered_is_refused_under_another_name(people: World) -> None:
    spec = {**BY_TOWN, **AGGREGATES["count"], "name": "first", "mechanism": "laplace"}
    spec["share"] = 0.01
    register(people, spec)
    refused = outcome(lambda: ask(people, {**spec, "name": "second", "share": 0.5}))
    assert refused == outcome(lambda: register(people, {**spec, "name": "second"}))
    assert refused[0] is Conflict
    # Analysts of tiers that see it are told the same.
    assert refused == outcome(lambda: ask(people, {**spec, "name": "second"}, people.person("pia")))


def test_what_does_not_fit_is_said_in_the_words_of_the_refusal(world: World) -> None:
    world.push("first", levels=None, share=0.5)
    spec = {**VISITS, "name": "second", "share": 0.75}
    del spec["levels"]
    found = ask(world, spec)
    kind, words = outcome(lambda: register(world, spec))
    assert (kind, words) == (BudgetExhausted, found.refusal)
    for one in found.tiers:
        assert one.room is not None
        assert not one.room.fits
        assert one.room.needed_share == one.charge.share == pytest.approx(0.75, rel=2e-3)
        assert one.room.remaining_share == pytest.approx(0.5, rel=1e-3)
    fitting = min(one.room.largest_share for one in found.tiers if one.room)
    assert f"{fitting:.6g}" in (found.refusal or "")
    assert ask(world, {**spec, "share": fitting}).refusal is None
    register(world, {**spec, "share": fitting})


def test_a_deleted_tier_that_would_overflow_refuses_too(world: World) -> None:
    tier_changes.create(world.server, OPERATOR, TierSpec(name="late", above="partner"))
    users.change(world.server, OPERATOR, "ines", UserChange(clearance="late"))
    world.push("high", levels={"late": {"rho": 0.05}})
    users.change(world.server, OPERATOR, "ines", UserChange(clearance="internal"))
    tier_changes.delete(world.server, OPERATOR, "late")
    spec = {
        **VISITS,
        "name": "low",
        "levels": {"partner": {"rho": 0.05}, "internal": {"rho": 0.05}},
    }
    found = ask(world, spec)
    attempt = outcome(lambda: register(world, spec))
    assert attempt[0] is BudgetExhausted
    assert found.refusal == attempt[1]
    assert "which was deleted" in attempt[1]


def test_an_interrupted_registration_is_previewed_as_what_it_charged(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, world.push)
    found = ask(world, VISITS)
    assert found.registered
    require_equal(world, found, queries.show(world.server, OPERATOR, "visits"))
    world.push()


def test_an_analyst_is_told_of_tiers_up_to_their_own(visits: World) -> None:
    spec = {**VISITS, "name": "new"}
    whole = ask(visits, spec)
    named: dict[str, Any] = {"query": "visits"}
    for name, count in (("pia", 1), ("paul", 2), ("ines", 3)):
        for wanted, told in (
            (spec, whole),
            (named, ask(visits, named)),
        ):
            found = ask(visits, wanted, visits.person(name))
            assert found.tiers == told.tiers[:count]
    shared: dict[str, Any] = {**{k: v for k, v in spec.items() if k != "levels"}, "share": 0.1}
    own = ask(visits, shared, visits.person("pia")).tiers
    assert [one.tier for one in own] == ["public"]
    top = ask(visits, shared).tiers[0]
    # On a ladder of its own: a rung away at most.
    assert own[0].level.value == pytest.approx(top.level.value, rel=0.02)


def test_an_analyst_cannot_tell_what_happens_above_them(world: World) -> None:
    """Neither spending nor budgets nor names: the answer is the same to every digit."""
    shared: dict[str, Any] = {**{k: v for k, v in VISITS.items() if k != "levels"}, "share": 0.1}
    specs: list[dict[str, Any]] = [
        VISITS,
        shared,
        {**VISITS, "levels": {"internal": {"epsilon": 50}}},
    ]
    pia = world.person("pia")
    before = [ask(world, spec, pia) for spec in specs]
    world.push(levels={"internal": {"epsilon": 2.5}})
    assert [ask(world, spec, pia) for spec in specs] == before
    assert before[2].tiers == []
    assert before[2].refusal is None
    tier_changes.create(world.server, OPERATOR, TierSpec(name="top"))
    assert [ask(world, spec, pia) for spec in specs] == before
    with pytest.raises(NameTaken):
        ask(world, VISITS)
    with pytest.raises(NameTaken):
        ask(world, VISITS, world.person("ines"))


def test_a_hidden_twin_is_not_named(people: World) -> None:
    spec = {**BY_TOWN, **AGGREGATES["count"], "name": "first", "mechanism": "gaussian"}
    spec["levels"] = {"internal": {"rho": 0.01}}
    register(people, spec)
    found = ask(
        people, {**spec, "name": "second", "share": 0.1, "levels": None}, people.person("pia")
    )
    assert [one.tier for one in found.tiers] == ["public"]
    with pytest.raises(Conflict, match="first"):
        ask(people, {**spec, "name": "second"}, people.person("ines"))


def test_a_query_or_dataset_out_of_sight_is_missing(people: World) -> None:
    people.push(levels={"internal": {"epsilon": 0.5}})
    missing = outcome(lambda: ask(people, {"query": "moon"}, people.person("pia")))
    hidden = outcome(lambda: ask(people, {"query": "visits"}, people.person("pia")))
    assert hidden == (NotFound, missing[1].replace("moon", "visits"))
    users.change(people.server, OPERATOR, "pia", UserChange(clearance=None))
    for spec, kind in ((VISITS, "dataset"), ({"query": "visits"}, "query")):
        with pytest.raises(NotFound, match=f"no {kind}"):
            ask(people, spec, people.person("pia"))


def test_auditors_do_not_plan(visits: World) -> None:
    with pytest.raises(Forbidden, match="analyst or admin"):
        ask(visits, VISITS, visits.person("otto"))
