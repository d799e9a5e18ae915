"""Test that names and statistics tell nobody of a query that is out of their sight."""

from typing import Any

import pytest
from tests.unit.services.allowances.asking import ask, give, of_value, request_of
from tests.unit.worlds import World

from penstock.errors import Conflict, InvalidInput, NameTaken
from penstock.services.access.principals import OPERATOR
from penstock.services.pagination import Window
from penstock.services.queries import queries, registration
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.each_database


def names(world: World, who: str) -> list[str]:
    page = queries.listing(world.server, world.person(who), Window())
    return sorted(query.name for query in page.items)


def by_an_admin(world: World, name: str, tier: str = "internal", **changes: Any) -> None:
    registration.register(world.server, OPERATOR, request_of(name, tier, **changes))


def test_a_name_and_a_statistic_above_are_in_nobodys_way(stays: World) -> None:
    give(stays, "partner")
    give(stays, "public")
    by_an_admin(stays, "counts")
    ask(stays, "paul", "counts")
    ask(stays, "pia", "counts", "public")
    assert names(stays, "pia") == ["counts"]
    assert names(stays, "paul") == ["counts@partner", "counts@public"], "both answer to it"
    assert stays.ask("pia", "counts").view.query == "counts@public"
    assert stays.ask("paul", "counts").view.query == "counts@partner"
    assert stays.ask("ines", "counts").view.query == "counts"
    assert names(stays, "ines") == ["counts", "counts@partner", "counts@public"]
    assert verify(stays.server, OPERATOR).problems == []


def test_what_is_in_sight_leads_there_at_no_charge(stays: World) -> None:
    give(stays, "public")
    give(stays, "partner")
    ask(stays, "pia", "counts", "public")
    with pytest.raises(NameTaken, match="'counts'"):
        ask(stays, "paul", "counts", **of_value("north"))
    with pytest.raises(Conflict, match="as query 'counts'") as refusal:
        ask(stays, "paul", "others")
    assert refusal.value.data == {"query": "counts"}
    with pytest.raises(Conflict, match="as query 'counts'"):
        by_an_admin(stays, "mine", "partner")
    with pytest.raises(NameTaken):
        by_an_admin(stays, "counts", **of_value("north"))


def test_an_admin_may_register_for_tiers_below_what_an_analyst_asked_above(stays: World) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    with pytest.raises(Conflict, match="as query 'mine'"):
        by_an_admin(stays, "other", "internal")
    by_an_admin(stays, "published", "public")
    assert names(stays, "pia") == ["published"]


def test_admins_choose_no_name_of_an_analysts_query(stays: World) -> None:
    with pytest.raises(InvalidInput, match="end with '@partner'") as refusal:
        by_an_admin(stays, "mine@Partner")
    assert [place for place, _ in refusal.value.errors] == ["/name"]
    by_an_admin(stays, "mine@home")


def test_a_name_that_ends_with_the_tier_already_is_taken_as_it_is(stays: World) -> None:
    give(stays)
    assert ask(stays, "paul", "mine@partner").name == "mine"
    with pytest.raises(NameTaken):
        ask(stays, "paul", "mine", **of_value("north"))
