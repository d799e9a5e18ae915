"""Test what is told of budgets over time, by the ledger and to whom."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.services.people.funding import fund
from tests.unit.worlds import World

from penstock.errors import NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.ledger import SpentFloor
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.overviews import burn_downs
from penstock.services.overviews.burn_downs import Step, TierCourseView, ends_in, thinned
from penstock.services.people import tier_changes, users
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import tier_by_name
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserChange

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def course(world: World, who: str, tier: str, dataset: str = "sites") -> TierCourseView:
    """Return what somebody is told of a tier."""
    view = burn_downs.look(world.server, world.person(who), dataset)
    (found,) = [one for one in view.tiers if one.tier == tier]
    return found


def steps(*spent: tuple[float, int]) -> list[Step]:
    """Return charges by days ago and total, of a budget of 1,000, with the present."""
    made = [Step(NOW - timedelta(days=days), 1000, total, charges=True) for days, total in spent]
    return [*made, Step(NOW, 1000, spent[-1][1])]


@pytest.mark.each_database
def test_what_is_left_is_what_the_account_has_after_each_charge(visits: World) -> None:
    visits.clock.forward(days=5)
    before = budgets.show(visits.server, visits.person("otto"), "sites").tiers
    visits.push("beds", levels={"public": {"epsilon": 0.1}})
    visits.clock.forward(days=5)
    view = burn_downs.look(visits.server, visits.person("otto"), "sites")
    after = budgets.show(visits.server, visits.person("otto"), "sites").tiers
    assert [tier.tier for tier in view.tiers] == ["public", "partner", "internal"]
    assert (view.times[-1] - view.times[0]).days == 10
    for told, old, new in zip(view.tiers, before, after, strict=True):
        assert told.shares[0] == pytest.approx(old.remaining_share)
        assert told.shares[1:] == pytest.approx([new.remaining_share] * 2)
        assert not told.hides


def test_what_is_left_is_of_the_budget_that_was_in_force(visits: World) -> None:
    old = course(visits, "otto", "internal").shares[-1]
    visits.clock.forward(days=1)
    fund(visits, internal=8.0)
    raised = course(visits, "otto", "internal").shares
    assert raised[0] == old
    assert old is not None
    assert raised[-1] is not None
    assert raised[-1] > old


def test_analysts_are_told_of_their_own_tier_alone(visits: World) -> None:
    view = burn_downs.look(visits.server, visits.person("pia"), "sites")
    assert [tier.tier for tier in view.tiers] == ["public"]
    with pytest.raises(NotFound):
        burn_downs.look(visits.server, visits.person("pia"), "absent")


def test_what_was_charged_for_a_query_out_of_sight_has_no_time_of_its_own(visits: World) -> None:
    """A tier above a deleted one is charged for what that one saw, and does not see it."""
    visits.push("beds", levels={"internal": {"epsilon": 0.3}})
    users.change(visits.server, OPERATOR, "ines", UserChange(clearance="partner"))
    tier_changes.delete(visits.server, OPERATOR, "internal")
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="upper", above="partner"))
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="upper"))
    visits.clock.forward(days=5)
    view = burn_downs.look(visits.server, visits.person("pia"), "sites")
    (told,) = view.tiers
    (budget,) = budgets.show(visits.server, visits.person("pia"), "sites").tiers
    assert [query.query for query in budget.queries] == ["visits"]
    assert told.hides
    assert told.shares[-1] == pytest.approx(budget.remaining_share)
    assert not course(visits, "otto", "upper").hides
    assert course(visits, "otto", "upper").shares[-2] == told.shares[-1]
    assert told.shares[0] == pytest.approx(1 - budget.queries[0].share)


def test_a_pace_needs_an_old_account_and_charges_on_three_days() -> None:
    assert ends_in(steps((40, 100), (20, 200), (10, 300), (5, 400))) == timedelta(days=60)
    assert ends_in(steps((25, 100), (20, 200), (10, 300), (5, 400))) is None
    assert ends_in(steps((40, 100), (20, 200), (5, 300), (5, 400))) is None
    assert ends_in(steps((90, 100), (80, 200), (70, 300), (60, 400))) is None
    assert ends_in(steps((40, 100), (20, 101), (10, 102), (5, 103))) is None
    assert ends_in(steps((40, 100), (20, 200), (10, 300), (5, 1000))) is None


def test_of_many_times_the_last_of_each_part_is_shown() -> None:
    times = [NOW + timedelta(hours=hour) for hour in range(5000)]
    few = thinned(times)
    assert few == sorted(set(few))
    assert (few[0], few[-1], len(few)) == (times[0], times[-1], burn_downs.MOST_TIMES)
    assert thinned(times[:60]) == times[:60]
    assert thinned([times[0], *times[-100:]])[-1] == times[-1]


def test_after_charges_were_lost_nobody_is_told_when_the_last_one_was(visits: World) -> None:
    assert not course(visits, "otto", "public").hides
    with visits.server.database.write() as session:
        dataset = dataset_by_name(session, "sites")
        tier = tier_by_name(session, "public")
        key, number = required(dataset.id), required(tier.id)
        at = visits.clock()
        session.add(SpentFloor(dataset_id=key, tier_id=number, loss=1, failure=0, at=at))
    assert course(visits, "otto", "public").hides
    before = steps((40, 100), (20, 200), (10, 300), (5, 400))
    assert ends_in([*before[:-1], replace(before[-1], lost=True)]) is None
