"""Test queries that analysts register by themselves: charged to all above, and seen there alone."""

from collections import Counter
from functools import partial
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.allowances.asking import ask, exhaust, give, left, of_value
from tests.unit.services.exposure.crowds import together
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.errors import (
    BudgetExhausted,
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    PenstockError,
    QuotaUsedUp,
)
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Allowance, AllowanceCharge, Charge, Clearance, Query, Tier
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, users
from penstock.services.queries import pending, queries, registration
from penstock.services.queries.charging import own_queries
from penstock.services.schemas.datasets import AllowanceSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import PushedVectorRequest
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.each_database


def spent(world: World) -> dict[str, float]:
    shown = budgets.show(world.server, OPERATOR, "stays")
    return {tier.tier: tier.spent_share for tier in shown.tiers}


def names(world: World, who: str) -> list[str]:
    page = queries.listing(world.server, world.person(who), Window())
    return [query.name for query in page.items]


def move(world: World, who: str, tier: str) -> None:
    users.change(world.server, OPERATOR, who, UserChange.model_validate({"clearance": tier}))


def test_an_analyst_registers_at_their_tier_and_all_above_pay(stays: World) -> None:
    give(stays)
    made = ask(stays, "paul", "mine")
    assert made.name == "mine"
    assert [tier.tier for tier in made.tiers] == ["partner"]
    assert made.allowance is not None
    assert (made.allowance.tier, made.allowance.by) == ("partner", None)
    shares = spent(stays)
    assert shares["public"] == 0
    assert 0 < shares["internal"] < shares["partner"]
    assert 0 < left(stays).spent_share < 1
    assert [(one.query, one.by) for one in left(stays).queries] == [("mine@partner", "paul")]
    assert stays.ask("paul", "mine").view.tier == "partner"
    assert stays.ask("ines", "mine").view.level == stays.ask("paul", "mine").view.level
    assert verify(stays.server, OPERATOR).problems == []


def test_it_is_seen_there_and_above_and_never_below(stays: World) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    assert names(stays, "pia") == []
    assert names(stays, "paul") == names(stays, "ines") == names(stays, "ada") == ["mine"]
    for name in ("mine", "mine@partner"):
        with pytest.raises(NotFound, match="There is no query"):
            queries.show(stays.server, stays.person("pia"), name)
        with pytest.raises(NotFound, match="There is no query"):
            stays.ask("pia", name)
        assert queries.show(stays.server, stays.person("ines"), name).name == "mine"
        assert stays.ask("ines", name).view.query == "mine@partner"


def test_a_share_is_of_the_tier_of_the_allowance(stays: World) -> None:
    give(stays, epsilon=3.0)
    made = ask(stays, "paul", "mine", None, share=0.125)
    assert [tier.tier for tier in made.tiers] == ["partner"]
    shares = spent(stays)
    assert shares["partner"] == pytest.approx(0.125, rel=0.05)
    assert 0 < shares["internal"] < 0.125


@pytest.mark.parametrize(
    ("change", "problem", "words"),
    [
        ({"tier": "public"}, InvalidInput, "Leave 'public' out"),
        ({"tier": "internal"}, InvalidInput, "Leave 'internal' out"),
        ({"name": "n" * 60}, InvalidInput, "choose a shorter one"),
        ({"dataset": "nothing"}, NotFound, "There is no dataset"),
        ({"dataset": "sites"}, Forbidden, "takes the role admin, or an allowance"),
    ],
)
def test_what_an_allowance_does_not_permit_is_refused(
    stays: World, change: dict[str, Any], problem: type[PenstockError], words: str
) -> None:
    give(stays)
    with pytest.raises(problem, match=words):
        ask(stays, "paul", **{"name": "mine", **change})
    assert spent(stays)["partner"] == 0


def test_without_an_allowance_of_their_tier_nobody_registers(stays: World) -> None:
    give(stays, "partner", 1.0, "ines")
    for who, tier in (("pia", "public"), ("paul", "partner"), ("ines", "internal")):
        with pytest.raises(Forbidden, match="Ask an admin for an allowance"):
            ask(stays, who, "mine", tier)
    with pytest.raises(Forbidden, match="takes the role analyst or admin"):
        ask(stays, "otto", "mine")


def test_pushed_vectors_are_for_admins(stays: World) -> None:
    allowances.give(stays.server, OPERATOR, "sites", "partner", AllowanceSpec(epsilon=0.5))
    vector = PushedVectorRequest.model_validate(
        {
            "name": "mine",
            "dataset": "sites",
            "values": [1],
            "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
            "mechanism": "gaussian",
            "levels": {"partner": {"epsilon": 0.1}},
        }
    )
    with pytest.raises(Forbidden, match="vectors take the role admin"):
        registration.register(stays.server, stays.person("paul"), vector)


def test_who_is_demoted_or_promoted_loses_it_at_once(stays: World) -> None:
    give(stays)
    for tier, words in (("public", "held tier 'partner'"), ("internal", "Ask an admin for an")):
        move(stays, "paul", tier)
        with pytest.raises(Forbidden, match=words):
            ask(stays, "paul", "mine", tier)


def test_who_ever_held_a_higher_tier_registers_nothing_at_a_lower_one(stays: World) -> None:
    """What they read there may be in the question, which the lower tier would see."""
    for tier in ("public", "partner"):
        give(stays, tier)
    move(stays, "ines", "public")
    with pytest.raises(Forbidden, match="ines held tier 'internal' before, which is above 'publ"):
        ask(stays, "ines", "chosen", "public")
    assert allowances.listing(stays.server, stays.person("ines"), "stays") == []
    assert names(stays, "pia") == []
    move(stays, "ines", "partner")
    tier_changes.delete(stays.server, OPERATOR, "internal")
    with pytest.raises(Forbidden, match="Request the query instead"):
        ask(stays, "ines", "chosen")
    move(stays, "paul", "public")
    move(stays, "paul", "partner")
    assert ask(stays, "paul", "chosen").name == "chosen", "who is back at their highest does"


def test_the_last_of_an_allowance_is_refused_with_what_is_needed_and_left(stays: World) -> None:
    give(stays, epsilon=0.35)
    ask(stays, "paul", "first")
    before = spent(stays)
    with pytest.raises(BudgetExhausted, match="The allowance of tier 'partner'") as refusal:
        ask(stays, "paul", "second", **of_value("north"))
    data: Any = refusal.value.data
    assert data["allowance"] == data["tier"] == "partner"
    assert data["needed_share"] > data["remaining_share"] == left(stays).remaining_share
    assert [one["query"] for one in data["spent_by"]] == ["first@partner"]
    assert spent(stays) == before


def test_a_tier_above_is_never_overdrawn_and_never_told_of(stays: World) -> None:
    exhaust(stays, "internal")
    give(stays)
    before = spent(stays)
    with pytest.raises(BudgetExhausted, match="a tier above 'partner'") as refusal:
        ask(stays, "paul", "mine", **of_value("north"))
    assert "spent 0" not in str(refusal.value)
    assert "internal" not in str(refusal.value)
    assert refusal.value.data == {}
    assert spent(stays) == before


def test_their_own_budget_refuses_with_the_numbers_of_their_tier_alone(stays: World) -> None:
    exhaust(stays, "partner")
    give(stays)
    with pytest.raises(BudgetExhausted, match="The budget of tier 'partner'") as refusal:
        ask(stays, "paul", "mine", **of_value("north"))
    assert "internal" not in str(refusal.value)


def test_an_interrupted_registration_is_finished_by_its_maker_and_charged_once(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(stays)
    cut_off_before_the_anchor(monkeypatch, lambda: ask(stays, "paul", "mine"))
    charged = spent(stays), left(stays)
    assert ask(stays, "paul", "mine").status == "active"
    assert (spent(stays), left(stays)) == charged
    with pytest.raises(Conflict, match="already"):
        ask(stays, "paul", "mine")


def test_a_day_has_room_for_so_many(stays: World) -> None:
    give(stays)
    object.__setattr__(stays.server.settings, "registrations_per_day", 1)
    try:
        ask(stays, "paul", "first")
        with pytest.raises(QuotaUsedUp, match="registered 1 queries in the last 24 hours"):
            ask(stays, "paul", "second", **of_value("north"))
        stays.clock.forward(days=1, seconds=1)
        assert ask(stays, "paul", "second", **of_value("north")).name == "second"
    finally:
        object.__setattr__(stays.server.settings, "registrations_per_day", 100)


def test_of_many_who_race_for_the_last_of_it_exactly_one_is_let_through(stays: World) -> None:
    """The allowance has room for one of them, and every budget for all."""
    give(stays, epsilon=0.3)
    towns = ("north", "south", "west")
    acts = [
        partial(ask, stays, "paul", f"mine {number}", **of_value(towns[number % 3]), mechanism=kind)
        for number, kind in enumerate(("gaussian", "gaussian", "gaussian", *["laplace"] * 3))
    ]
    before = spent(stays)
    outcomes = Counter(together(acts))
    assert outcomes == {"done": 1, BudgetExhausted.__name__: len(acts) - 1}
    with stays.server.database.read() as session:
        (charge,) = session.exec(select(AllowanceCharge)).all()
        (query,) = session.exec(select(Query)).all()
        allowance = session.exec(select(Allowance)).one()
        charges = session.exec(select(Charge)).all()
    assert charge.query_id == query.id
    assert charge.loss_total == charge.loss <= allowance.limit_loss
    assert len(charges) == 2, "one query is charged, to two tiers"
    assert spent(stays) != before
    assert verify(stays.server, OPERATOR).problems == []


def test_who_loses_it_while_their_query_is_priced_is_refused_and_charged_nothing(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(stays)
    product = pending.locked

    def lose(*arguments: Any) -> Any:
        seen = product(*arguments)
        session = arguments[0]
        tier = session.exec(select(Tier).where(Tier.name == "public")).one()
        user = required(stays.person("paul").user_id)
        session.add(Clearance(user_id=user, version=2, tier_id=tier.id, at=stays.clock(), by="x"))
        session.flush()
        return seen

    monkeypatch.setattr(own_queries, "locked", lose)
    with pytest.raises(Forbidden, match="held tier 'partner' before"):
        ask(stays, "paul", "mine")
    assert spent(stays)["partner"] == 0
