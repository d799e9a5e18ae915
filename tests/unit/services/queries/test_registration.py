"""Test registering a query: charged before anything is read, once, and refused without a trace."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlmodel import col, select
from tests.unit.statements import statements
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.connectors.connector import ExactAnswer
from penstock.errors import (
    BudgetExhausted,
    Conflict,
    IntegrityViolation,
    InvalidInput,
    NameTaken,
    NotFound,
)
from penstock.persistence.tables import Charge, Leaf, Query, QueryLevel, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.ledger import quotes
from penstock.services.people import tier_changes
from penstock.services.queries import exact_answers, queries, registration
from penstock.services.schemas.people.tiers import TierSpec

RISING = {"public": 0.1, "partner": 0.2, "internal": 0.4}


def stored(world: World) -> tuple[int, int, int, int, int]:
    with world.server.database.read() as session:
        return tuple(  # type: ignore[return-value]  # five tables, five counts
            len(session.exec(select(table)).all())
            for table in (Query, QueryLevel, Charge, Release, Leaf)
        )


def test_registering_charges_every_tier_and_draws_the_anchor_alone(visits: World) -> None:
    with visits.server.database.read() as session:
        charges = session.exec(select(Charge)).all()
        releases = session.exec(select(Release)).all()
        query = session.exec(select(Query)).one()
    assert len(charges) == 3
    assert [(row.seq, row.rung) for row in releases] == [(0, query.ceiling)]
    assert query.status == "active"


def test_the_charge_is_durable_before_the_data_are_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        with world.server.database.read() as session:
            assert len(session.exec(select(Charge)).all()) == 3
            assert session.exec(select(Query)).one().status == "pending"
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(registration, "_anchor", crash)
        with pytest.raises(KeyboardInterrupt):
            world.push()
    before = stored(world)
    with pytest.raises(Exception, match="pending"):
        world.ask("pia")
    world.push()
    after = stored(world)
    assert after[0] == before[0]
    assert after[2] == before[2]
    assert after[3] == 1
    assert world.ask("pia").first


@pytest.mark.parametrize(
    "terms",
    [
        {"levels": {"partner": {"epsilon": 0.3}}},
        {"levels": None, "share": 0.1},
        {"mechanism": "generalized_gaussian", "p": 4, "levels": {"public": {"epsilon": 0.1}}},
        {
            "mechanism": "generalized_gaussian",
            "p": 4,
            "levels": {name: {"epsilon": size} for name, size in RISING.items()},
        },
    ],
)
def test_who_registers_sees_what_everybody_reads_afterwards(
    world: World, monkeypatch: pytest.MonkeyPatch, terms: dict[str, object]
) -> None:
    """It is shown from the quote, and not read again; of one that was cut off, from its rows."""
    whole = world.push("whole", **terms)
    cut_off_before_the_anchor(monkeypatch, lambda: world.push("cut-off", **terms))
    cut_off = world.push("cut-off", **terms)
    assert whole.tiers == cut_off.tiers
    for view in (whole, cut_off):
        assert queries.show(world.server, OPERATOR, view.name) == view


def test_a_pending_query_is_not_finished_by_another_spec(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, world.push)
    with pytest.raises(NameTaken):
        world.push(sensitivity={"l1": 2, "l2": 2, "linf": 2})


def test_an_exhausted_budget_says_what_is_needed_left_and_would_fit(world: World) -> None:
    world.push("first", levels=None, share=0.5)
    before = stored(world)
    with pytest.raises(BudgetExhausted) as refusal:
        world.push("second", levels=None, share=0.75)
    assert stored(world) == before
    data = refusal.value.data
    assert data["spent_by"] == [{"query": "first", "share": pytest.approx(0.5, rel=1e-3)}]
    largest = data["largest_share"]
    assert isinstance(largest, float)
    assert 0.5 <= largest < 0.502
    assert data["needed_share"] == pytest.approx(0.75, rel=2e-3)
    world.push("second", levels=None, share=largest)
    with pytest.raises(BudgetExhausted):
        world.push("third", levels=None, share=0.01)


def test_a_largest_share_that_another_tier_sets_names_that_tier(world: World) -> None:
    world.push("first", levels={"public": {"epsilon": 0.9}})
    with pytest.raises(BudgetExhausted) as refusal:
        world.push("second", levels={"public": {"epsilon": 0.01}, "internal": {"epsilon": 5}})
    assert refusal.value.data["tier"] == "internal"
    largest = refusal.value.data["largest_share"]
    assert isinstance(largest, float)
    assert (
        f"The largest share that would fit is {largest:.6g}, which is all that tier 'public' has"
        " left."
    ) in refusal.value.detail
    with pytest.raises(BudgetExhausted) as refusal:
        world.push("second", levels=None, share=2 * largest)
    assert refusal.value.data["tier"] == "public"
    assert f"would fit is {largest:.6g}. Spent by" in refusal.value.detail


def test_shares_that_add_up_to_one_fit(world: World) -> None:
    for name in ("a", "b", "c", "d"):
        world.push(name, levels=None, share=0.25)


def test_levels_that_get_noisier_with_rank_are_refused(world: World) -> None:
    with pytest.raises(InvalidInput, match="noisier"):
        world.push(levels={"public": {"epsilon": 0.5}, "internal": {"epsilon": 0.1}})
    assert stored(world)[0] == 0


def test_a_tier_above_a_listed_one_inherits_and_one_below_all_sees_nothing(world: World) -> None:
    view = world.push(levels={"partner": {"epsilon": 0.3}})
    assert [level.tier for level in view.tiers] == ["partner", "internal"]
    assert view.tiers[0].level == view.tiers[1].level
    with pytest.raises(NotFound):
        world.ask("pia")
    with world.server.database.read() as session:
        assert len(session.exec(select(Charge)).all()) == 2


def test_names_are_unique_by_case_and_unicode_form(world: World) -> None:
    world.push("Caf\u00e9")
    for name in ("caf\u00e9", "CAFE\u0301"):
        with pytest.raises(NameTaken):
            world.push(name)


def test_what_is_stored_of_a_pushed_vector_says_nothing_of_its_values(world: World) -> None:
    world.push(values=[918273645, 7, 0])
    with world.server.database.read() as session:
        query = session.exec(select(Query)).one()
        leaves = session.exec(select(Leaf)).all()
    assert query.canonical_hash is None
    assert "values" not in json.loads(query.spec)
    assert query.asserted_by == "operator"
    for text in (query.spec, *(leaf.bytes.decode() for leaf in leaves)):
        assert "918273645" not in text


def test_the_same_values_twice_are_two_queries_and_two_charges(world: World) -> None:
    world.push("one")
    world.push("two")
    with world.server.database.read() as session:
        names = session.exec(select(Query.name).order_by(col(Query.id))).all()
        charges = session.exec(select(Charge)).all()
    assert names == ["one", "two"]
    assert len(charges) == 6


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "poisson", "skellam"])
def test_every_tier_is_charged_within_its_share(world: World, mechanism: str) -> None:
    world.push(mechanism=mechanism, levels=None, share=0.125)
    with world.server.database.read() as session:
        charges = session.exec(select(Charge)).all()
    assert len(charges) == 3
    assert all(charge.loss > 0 for charge in charges)


def test_the_running_totals_are_the_sums_of_the_charges(world: World) -> None:
    for name in ("a", "b", "c"):
        world.push(name, levels=None, share=0.1)
    with world.server.database.read() as session:
        rows = session.exec(select(Charge).order_by(col(Charge.seq))).all()
    for tier in {row.tier_id for row in rows}:
        own = [row for row in rows if row.tier_id == tier]
        assert [row.seq for row in own] == [0, 1, 2]
        assert own[-1].loss_total == sum(row.loss for row in own)
        assert own[-1].failure_total == sum(row.failure for row in own)


def test_the_anchor_is_the_exact_answer_plus_noise_of_the_ceiling(world: World) -> None:
    world.push(keys=None, values=[1000] * 4000)
    view = world.ask("ines").view
    spread: NDArray[np.float64] = np.asarray(view.values) - 1000
    # The sample variance of 4,000 normals: 8 standard deviations around 1.
    assert abs(float(np.mean(spread**2)) / view.level.value - 1) < 8 * (2 / 4000) ** 0.5


def test_a_tier_that_appears_meanwhile_makes_the_offer_void(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    calibrate_and_price = quotes.calibrate_and_price

    def slow(*arguments: Any) -> Any:
        quote = calibrate_and_price(*arguments)
        tier_changes.create(world.server, OPERATOR, TierSpec(name="late", above="public"))
        return quote

    with monkeypatch.context() as patch:
        patch.setattr(quotes, "calibrate_and_price", slow)
        with pytest.raises(Conflict, match="changed in the meantime"):
            world.push()
    assert stored(world)[:4] == (0, 0, 0, 0)
    assert [level.tier for level in world.push().tiers] == ["public", "late", "partner", "internal"]


def test_rows_put_back_to_an_older_state_are_refused(visits: World) -> None:
    visits.ask("paul")
    with visits.server.database.write() as session:
        query = session.exec(select(Query)).one()
        query.seq -= 1
        session.add(query)
    with pytest.raises(IntegrityViolation, match="do not fit each other"):
        visits.ask("pia")


def test_nothing_is_drawn_where_a_row_is_missing(visits: World) -> None:
    visits.ask("paul")
    taken = visits.streams.taken
    with visits.server.database.write() as session:
        query = session.exec(select(Query)).one()
        query.seq += 1  # as if a release had been stored, and its row were gone
        session.add(query)
    with pytest.raises(IntegrityViolation, match="Rows of query 'visits' are missing"):
        visits.ask("pia")
    assert visits.streams.taken == taken
    assert not visits.ask("paul").first


@pytest.fixture
def before_the_anchor(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Return how something is done once, between the next charge and its anchor."""
    product = registration._anchor

    def meanwhile(act: Callable[[], object]) -> None:
        def anchor(*arguments: Any) -> Query:
            monkeypatch.setattr(registration, "_anchor", product)
            act()
            return product(*arguments)

        monkeypatch.setattr(registration, "_anchor", anchor)

    return meanwhile


def drawn(world: World) -> list[tuple[str, int, int]]:
    with world.server.database.read() as session:
        rows = session.exec(select(Query, Release).join(Release)).all()
    return [(query.status, query.seq, release.seq) for query, release in rows]


@pytest.mark.each_database
def test_an_anchor_is_stored_without_reading_the_row_again(world: World) -> None:
    with statements() as seen:
        world.push()
    assert [text for text in seen if "SELECT query.id, query.name" in text.replace('"', "")] == []
    assert drawn(world) == [("active", 0, 0)]


@pytest.mark.each_database
def test_a_row_that_was_altered_since_the_charge_gets_no_anchor(
    world: World, before_the_anchor: Callable[[Callable[[], object]], None]
) -> None:
    def alter() -> None:
        with world.server.database.write() as session:
            session.connection().exec_driver_sql('UPDATE "query" SET max_levels = 7')

    before_the_anchor(alter)
    with pytest.raises(IntegrityViolation, match="altered outside"):
        world.push()
    assert drawn(world) == []


@pytest.mark.each_database
def test_a_row_that_was_signed_again_since_the_charge_gets_its_anchor(
    world: World,
    before_the_anchor: Callable[[Callable[[], object]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def sign_again() -> None:
        with world.server.database.write() as session:
            query = session.exec(select(Query)).one()
            query.mismatches = 1
            session.add(query)

    answered = partial(ExactAnswer, state="the state")
    monkeypatch.setattr(exact_answers, "ExactAnswer", answered)
    before_the_anchor(sign_again)
    world.push()
    assert drawn(world) == [("active", 0, 0)]
    with world.server.database.read() as session:
        query = session.exec(select(Query)).one()
    assert (query.mismatches, query.read_states) == (1, '["the state"]')
    assert world.ask("ines").first


@pytest.mark.each_database
def test_of_two_that_finish_one_registration_only_the_first_draws(
    world: World, before_the_anchor: Callable[[Callable[[], object]], None]
) -> None:
    before_the_anchor(world.push)
    with pytest.raises(Conflict, match="registered by another request"):
        world.push()
    assert drawn(world) == [("active", 0, 0)]
