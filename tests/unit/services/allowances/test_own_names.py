"""Test that names and statistics tell nobody of a query that is out of their sight."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.services.allowances.asking import ask, give, of_value, request_of
from tests.unit.worlds import World

from penstock.computing import Bounds, LocalTurns, Pool
from penstock.connectors.planning.refusals import checked
from penstock.errors import Conflict, InvalidInput, NameTaken, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.computations.pooled import MODULE, Pooled
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, users
from penstock.services.queries import queries, registration
from penstock.services.releases import history
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.each_database


@pytest.fixture
def elsewhere(stays: World) -> Iterator[World]:
    """Yield the world with its computations in a process of their own, as a server has them."""
    pool = Pool(
        MODULE,
        processes=1,
        queue=1,
        bounds=Bounds(60.0, 2**31),
        turns=LocalTurns(),
        noted=lambda *_: None,
    )
    yield replace(stays, server=replace(stays.server, computing=Pooled(pool)))
    pool.close()


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


def test_a_query_is_priced_in_another_process_under_its_name(elsewhere: World) -> None:
    give(elsewhere)
    assert ask(elsewhere, "paul", "counts").name == "counts"
    assert elsewhere.ask("paul", "counts").view.query == "counts@partner"


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


def tier(world: World, name: str, above: str, who: str) -> None:
    """Create a tier above another one, and give it to somebody, with an allowance."""
    tier_changes.create(world.server, OPERATOR, TierSpec(name=name, above=above))
    users.change(world.server, OPERATOR, who, UserChange(clearance=name))
    give(world, name)


def test_a_hidden_name_with_the_readers_tier_behind_it_is_in_nobodys_way(stays: World) -> None:
    """The name of an admin's query, of a stream, and of one at a tier with such a name."""
    by_an_admin(stays, "pay@partner")
    stream = {
        "name": "flow@partner",
        "dataset": "sites",
        "mechanism": "gaussian",
        "structure": "binary",
        "length": 16,
        "max_steps_per_unit": 1,
        "levels": {"internal": {"epsilon": 0.1}},
    }
    streams.open_stream(stays.server, OPERATOR, checked(StreamRequest, stream))
    tier(stays, "vip@partner", "internal", "ines")
    ask(stays, "ines", "visits", "vip@partner", **of_value("south"))
    give(stays)
    for name, town in (("pay", "north"), ("flow", "west"), ("visits", "south")):
        assert ask(stays, "paul", name, **of_value(town)).name == name
        assert stays.ask("paul", name).view.query == f"{name}@partner"
    assert names(stays, "paul") == ["flow", "pay", "visits"]
    several = ["visits@partner", "visits@vip@partner"]
    assert names(stays, "ines") == ["flow", "pay", "pay@partner", *several]
    assert verify(stays.server, OPERATOR).problems == []


def test_a_tier_made_later_or_again_is_not_told_of_hidden_names_that_end_with_its_own(
    stays: World,
) -> None:
    by_an_admin(stays, "pay@gold")
    tier(stays, "gold", "public", "pia")
    assert ask(stays, "pia", "pay", "gold", **of_value("north")).name == "pay"
    give(stays)
    ask(stays, "paul", "mine", **of_value("south"))
    users.change(stays.server, OPERATOR, "paul", UserChange(clearance="internal"))
    tier_changes.delete(stays.server, OPERATOR, "partner")
    tier(stays, "partner", "gold", "pia")
    with pytest.raises(NotFound):
        queries.show(stays.server, stays.person("pia"), "mine")
    assert ask(stays, "pia", "mine", "partner", **of_value("west")).name == "mine"
    mine = [name for name in names(stays, "ines") if name.startswith("mine")]
    assert len(set(mine)) == len(mine) == 2, "each has a name of its own"
    shown = [queries.show(stays.server, stays.person("ines"), name) for name in mine]
    assert [each.name for each in shown] == mine
    assert {each.spec["where"][0]["value"] for each in shown} == {"south", "west"}
    assert verify(stays.server, OPERATOR).problems == []


def test_the_history_of_a_query_is_found_by_the_name_that_is_shown_and_is_no_others(
    stays: World,
) -> None:
    by_an_admin(stays, "counts")
    stays.ask("ines", "counts")
    users.change(stays.server, OPERATOR, "ines", UserChange(clearance="partner"))
    ines, paul = stays.person("ines"), stays.person("paul")
    give(stays)
    shown = ask(stays, "paul", "counts", **of_value("north")).name
    assert history.levels(stays.server, ines, shown) == [], "not those of the hidden one"
    (old,) = history.listing(stays.server, ines, Window(), query="counts").items
    assert old.query == "counts"
    for who in ("paul", "ines"):
        stays.ask(who, shown)
    for name in (shown, "counts@partner"):
        for reader in (ines, paul):
            (level,) = history.levels(stays.server, reader, name)
            (value,) = history.of_query(stays.server, reader, name, most=9)
            (line,) = history.listing(stays.server, reader, Window(), query=name).items
            assert level.query == value.query == line.query == "counts@partner"
    with pytest.raises(NotFound, match="There is no query 'counts'"):
        history.listing(stays.server, stays.person("pia"), Window(), query="counts")
    audited = history.listing(stays.server, OPERATOR, Window(), query="counts@partner")
    assert len(audited.items) == 2


def test_an_admins_name_that_an_analysts_query_answers_to_is_refused(stays: World) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    for name in ("mine", "mine@Partner"):
        with pytest.raises(NameTaken):
            by_an_admin(stays, name, **of_value("north"))
    by_an_admin(stays, "mine@home", **of_value("north"))


def test_a_name_that_ends_with_the_tier_already_is_taken_as_it_is(stays: World) -> None:
    give(stays)
    assert ask(stays, "paul", "mine@partner").name == "mine"
    with pytest.raises(NameTaken):
        ask(stays, "paul", "mine", **of_value("north"))


@pytest.mark.parametrize("name", ["mine@internal", "mine@nobody", "a@", "a@partner@partner"])
def test_a_name_with_the_mark_of_tiers_is_refused_whether_there_is_such_a_tier(
    stays: World, name: str
) -> None:
    give(stays)
    give(stays, "internal")
    ask(stays, "ines", "mine", "internal", **of_value("north"))
    with pytest.raises(InvalidInput) as refused:
        ask(stays, "paul", name)
    (mistake,) = refused.value.errors
    assert mistake[0] == "/name"
    assert mistake[1] == (
        "The name of a query of your own has no '@', which stands before the tier of who"
        " registered it; choose a name without it."
    )
    assert queries.show(stays.server, OPERATOR, "mine@internal").name == "mine"


def test_a_name_that_several_queries_have_is_refused_with_the_names_that_are_seen(
    stays: World,
) -> None:
    give(stays)
    give(stays, "internal")
    ask(stays, "ines", "mine", "internal", **of_value("north"))
    ask(stays, "paul", "mine")
    several = "mine@internal, mine@partner. Use one of these names"
    with pytest.raises(NotFound, match=several):
        queries.show(stays.server, OPERATOR, "mine")
    with pytest.raises(NotFound, match=several):
        queries.retire(stays.server, OPERATOR, "mine")
    with pytest.raises(NotFound, match="There is no query 'mine'"):
        queries.show(stays.server, stays.person("pia"), "mine")
    for who, name in (("ines", "mine@internal"), ("paul", "mine")):
        assert queries.show(stays.server, stays.person(who), "mine").name == name


def test_a_retired_statistic_is_not_recommended(stays: World) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    queries.retire(stays.server, OPERATOR, "mine")
    with pytest.raises(Conflict, match="'mine', which is retired") as refused:
        ask(stays, "paul", "again")
    assert "use that one" not in refused.value.detail
