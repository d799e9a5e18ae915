"""Test what auditors and admins read: history, events, exposure and budgets."""

from fractions import Fraction

import pytest
from tests.unit.worlds import World

from penstock.accounting import FAILURE_UNITS
from penstock.errors import Forbidden, NotFound
from penstock.persistence.row_numbers import required
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.exposure import compositions, exposure
from penstock.services.ledger.accounts import open_account
from penstock.services.pagination import Window
from penstock.services.people import users
from penstock.services.releases import history
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import tier_by_name
from penstock.services.schemas.people.users import UserChange

EVERYTHING = Window(limit=1000)


def test_a_coalition_learns_what_its_best_informed_member_knows(visits: World) -> None:
    for name in ("pia", "paul", "ines"):
        visits.ask(name)
    auditor = visits.person("otto")
    alone = exposure.of(visits.server, auditor, ["ines"], "sites")
    together = exposure.of(visits.server, auditor, ["pia", "paul", "ines"], "sites")
    assert together.released == alone.released
    assert together.could_be == alone.could_be
    assert together.queries == alone.queries
    assert together.released.epsilon == pytest.approx(0.5, rel=2e-3)
    # Three independent Gaussians add up their inverse variances; 0.5, 0.25 and 0.1.
    assert together.independent.epsilon > 1.1 * together.released.epsilon
    assert alone.independent == alone.released
    assert together.reach is not None
    assert (together.reach.tier, together.reach.epsilon) == ("internal", 4.0)


def test_reach_and_what_could_be_remember_the_highest_tier_ever_held(visits: World) -> None:
    auditor = visits.person("otto")
    before = exposure.of(visits.server, auditor, ["pia"], "sites")
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="internal"))
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="public"))
    after = exposure.of(visits.server, auditor, ["pia"], "sites")
    assert before.could_be.epsilon < after.could_be.epsilon
    assert after.reach is not None
    assert after.reach.tier == "internal"
    assert after.released.epsilon == 0


def test_failures_that_were_charged_are_taken_out_of_delta_first(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are too small to show in an epsilon, and belong there all the same."""
    visits.ask("ines")
    with visits.server.database.read() as session:
        dataset = dataset_by_name(session, "sites")
        account = open_account(session, required(dataset.id), tier_by_name(session, "internal"))
    assert account is not None
    failure = Fraction(account.spent.failure, FAILURE_UNITS)
    assert failure > 0
    asked: list[float] = []

    def composed(_: object, delta: float) -> float:
        asked.append(delta)
        return 1.0

    monkeypatch.setattr(compositions, "composed_here", composed)
    exposure.of(visits.server, visits.person("otto"), ["ines"], "sites")
    assert len(asked) == 3
    assert all(delta == dataset.delta - float(failure) < dataset.delta for delta in asked)


def test_no_coalition_is_above_the_budget_of_its_highest_tier(world: World) -> None:
    for number in range(8):
        world.push(f"q{number}", levels=None, share=0.125)
        for name in ("pia", "paul", "ines"):
            world.ask(name, f"q{number}")
    seen = exposure.of(world.server, OPERATOR, ["pia", "paul", "ines"], "sites")
    assert seen.reach is not None
    assert seen.released.epsilon <= seen.could_be.epsilon <= seen.reach.epsilon
    # The filter's order is close to tight for eight Gaussians.
    assert seen.could_be.epsilon > 0.8 * seen.reach.epsilon


def test_analysts_ask_about_themselves_alone(visits: World) -> None:
    visits.ask("pia")
    own = exposure.of(visits.server, visits.person("pia"), ["pia"], "sites")
    assert [query.query for query in own.queries] == ["visits"]
    with pytest.raises(Forbidden):
        exposure.of(visits.server, visits.person("pia"), ["pia", "paul"], "sites")
    with pytest.raises(Forbidden):
        exposure.of(visits.server, visits.person("ada"), ["pia"], "sites")


def test_analysts_read_their_own_history_and_auditors_everybodys(visits: World) -> None:
    for name in ("pia", "paul"):
        visits.ask(name)
    own = history.listing(visits.server, visits.person("pia"), EVERYTHING)
    assert [(item.user, item.tier) for item in own.items] == [("pia", "public")]
    everybody = history.listing(visits.server, visits.person("otto"), EVERYTHING)
    assert [item.user for item in everybody.items] == ["pia", "paul"]
    filtered = history.listing(visits.server, visits.person("otto"), EVERYTHING, user="paul")
    assert [item.user for item in filtered.items] == ["paul"]
    with pytest.raises(Forbidden):
        history.listing(visits.server, visits.person("pia"), EVERYTHING, user="paul")
    with pytest.raises(Forbidden):
        history.listing(visits.server, visits.person("ada"), EVERYTHING)


def test_values_are_for_holders_and_for_nobody_else(visits: World) -> None:
    view = visits.ask("paul").view
    again = history.values(visits.server, visits.person("paul"), view.id)
    assert list(again.values) == list(view.values)
    assert again.receipt == view.receipt
    for name in ("pia", "ines"):
        with pytest.raises(NotFound):
            history.values(visits.server, visits.person(name), view.id)
        with pytest.raises(NotFound):
            history.show(visits.server, visits.person(name), view.id)
    with pytest.raises(Forbidden):
        history.values(visits.server, visits.person("otto"), view.id)
    assert history.show(visits.server, visits.person("otto"), view.id).user == "paul"


def test_a_query_that_was_never_held_is_missing_from_an_analysts_history(visits: World) -> None:
    visits.ask("paul")
    with pytest.raises(NotFound):
        history.listing(visits.server, visits.person("pia"), EVERYTHING, query="visits")


def test_a_budget_says_who_spent_what_and_what_still_fits(world: World) -> None:
    world.push("first", levels=None, share=0.25)
    view = budgets.show(world.server, OPERATOR, "sites")
    assert [tier.tier for tier in view.tiers] == ["public", "partner", "internal"]
    for tier in view.tiers:
        assert tier.spent_share == pytest.approx(0.25, rel=2e-3)
        assert tier.spent_share + tier.remaining_share == pytest.approx(1)
        assert [query.query for query in tier.queries] == ["first"]
        assert 0 < tier.spent.epsilon < tier.granted.epsilon
        assert 0 < tier.remaining.epsilon < tier.granted.epsilon


def test_an_analyst_sees_the_account_of_their_own_tier(visits: World) -> None:
    view = budgets.show(visits.server, visits.person("paul"), "sites")
    assert [tier.tier for tier in view.tiers] == ["partner"]
    users.change(visits.server, OPERATOR, "paul", UserChange(clearance=None))
    with pytest.raises(NotFound):
        budgets.show(visits.server, visits.person("paul"), "sites")
