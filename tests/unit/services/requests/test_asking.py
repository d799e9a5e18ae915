"""Test that analysts request queries, and learn nothing of those that are hidden from them."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.services.datasets.stays import BY_TOWN
from tests.unit.services.requests.requesting import (
    LEVELS,
    PURPOSE,
    ask,
    decide,
    identifier,
    leaves,
    listed,
    problems,
    sent,
    shown,
)
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, InvalidInput, NameTaken, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import key_rotation
from penstock.services.queries import queries, registration
from penstock.services.requests import asking
from penstock.services.schemas.queries import ComputedQueryRequest
from penstock.services.schemas.requests.views import RequestView

SQL = "SELECT town, COUNT(DISTINCT person) FROM stays GROUP BY town"

pytestmark = pytest.mark.each_database


def register(world: World, **changes: Any) -> str:
    request = ComputedQueryRequest.model_validate({**BY_TOWN, "levels": LEVELS, **changes})
    return registration.register(world.server, OPERATOR, request).name


def told(view: RequestView) -> dict[str, Any]:
    """Return what an answer says beside its identifier and its time."""
    return vars(replace(view, id="", requested_at=None))


def test_a_request_has_its_preview_and_charges_nothing(stays: World) -> None:
    view = ask(stays)
    assert (view.state, view.query, view.purpose) == ("open", None, PURPOSE)
    assert view.preview is not None
    assert [tier.tier for tier in view.preview.tiers] == ["internal"]
    assert listed(stays, "ines") == [replace(view, preview=None)]
    assert [leaf["act"] for leaf in leaves(stays)] == ["ask"]
    assert leaves(stays)[0]["actor_exposure"] == {}
    assert problems(stays) == []


def test_a_request_for_others_alone_is_refused(stays: World) -> None:
    """Its sender would be told that it is approved, and never see the query."""
    with pytest.raises(InvalidInput, match="you would not see the query") as refused:
        ask(stays, "pia")
    assert refused.value.errors[0][0] == "/levels"
    assert leaves(stays) == []


def test_a_request_is_visible_to_its_sender_and_admins_alone(stays: World) -> None:
    view = ask(stays)
    assert shown(stays, "ada", view).requested_by == "ines"
    for other in ("iris", "pia"):
        with pytest.raises(NotFound, match="There is no request"):
            shown(stays, other, view)
        assert listed(stays, other) == []
    with pytest.raises(Forbidden):
        shown(stays, "otto", view)


def test_equal_requests_of_two_people_are_one_for_admins_and_hidden_from_each_other(
    stays: World,
) -> None:
    alone = told(ask(stays, "iris", name="by iris"))
    asking.withdraw(stays.server, stays.person("iris"), identifier(listed(stays, "iris")[0]))
    first = ask(stays, "ines", name="by ines", purpose="Another purpose")
    second = ask(stays, "iris", name="by iris")
    assert told(second) == alone
    assert second.id != first.id
    (whole,) = listed(stays, "ada", "open")
    active = [asker for asker in whole.askers if not asker.withdrawn]
    assert [asker.user for asker in active] == ["ines", "iris"]
    assert [asker.purpose for asker in active] == ["Another purpose", PURPOSE]
    for view in (first, second):
        seen = shown(stays, "ada", view)
        assert (seen.id, seen.name, seen.askers) == (view.id, view.name, whole.askers)
    assert problems(stays) == []


def test_a_request_that_equals_a_visible_query_leads_there_and_stores_nothing(
    stays: World,
) -> None:
    name = register(stays, name="towns")
    view = ask(stays, "ines", where=[])
    assert (view.id, view.state, view.query) == (None, "answered", name)
    assert view.preview is not None
    assert view.preview.registered
    assert listed(stays, "ada") == []
    assert leaves(stays) == []


def test_a_request_that_equals_a_hidden_query_is_answered_as_if_there_were_none(
    stays: World,
) -> None:
    levels = {"public": {"epsilon": 0.1}}
    before = told(ask(stays, "pia", levels=levels))
    asking.withdraw(stays.server, stays.person("pia"), identifier(listed(stays, "pia")[0]))
    register(stays, name="hidden")
    after = ask(stays, "pia", levels=levels)
    assert told(after) == before
    assert shown(stays, "pia", after).state == "open"
    assert [view.state for view in listed(stays, "pia", "answered")] == []
    whole = shown(stays, "ada", after)
    assert (whole.state, whole.registered_as) == ("open", "hidden")


def test_an_open_request_leads_to_an_equal_query_as_soon_as_that_is_visible(stays: World) -> None:
    view = ask(stays)
    register(stays, name="towns")
    assert shown(stays, "ines", view).query == "towns"
    assert [each.state for each in listed(stays, "ines", "answered")] == ["answered"]
    assert listed(stays, "ines", "open") == []
    assert decide(stays, "ada", view, "approve").query == "towns"
    assert shown(stays, "ines", view).state == "approved"


def test_the_name_of_a_hidden_query_is_taken_only_for_those_who_see_it(stays: World) -> None:
    register(stays, name="towns", where=[{"column": "town", "op": "=", "value": "north"}])
    with pytest.raises(NameTaken):
        ask(stays, "ines", name="towns")
    view = ask(stays, "pia", name="towns", levels={"public": {"epsilon": 0.1}})
    with pytest.raises(NameTaken, match="The request stays open"):
        decide(stays, "ada", view, "approve")
    approved = decide(stays, "ada", view, "approve", name="towns of all")
    assert approved.query == "towns of all"


def test_a_repeated_request_is_the_same_and_another_purpose_is_refused(stays: World) -> None:
    view = ask(stays)
    assert ask(stays).id == view.id
    with pytest.raises(Conflict, match="requested this statistic already"):
        ask(stays, purpose="Something else")
    assert len(leaves(stays)) == 1


def test_a_withdrawn_request_is_over_and_may_be_made_again(stays: World) -> None:
    view = ask(stays)
    asking.withdraw(stays.server, stays.person("ines"), identifier(view))
    asking.withdraw(stays.server, stays.person("ines"), identifier(view))
    assert shown(stays, "ines", view).state == "withdrawn"
    assert shown(stays, "ada", view).state == "withdrawn"
    with pytest.raises(Conflict, match="withdrawn"):
        decide(stays, "ada", view, "approve")
    again = ask(stays)
    assert again.id != view.id
    assert shown(stays, "ada", again).state == "open"
    assert [leaf["act"] for leaf in leaves(stays)] == ["ask", "withdraw", "ask"]
    assert problems(stays) == []


def test_only_its_sender_withdraws_a_request(stays: World) -> None:
    view = ask(stays)
    with pytest.raises(NotFound):
        asking.withdraw(stays.server, stays.person("iris"), identifier(view))
    with pytest.raises(Conflict, match="alone can withdraw"):
        asking.withdraw(stays.server, stays.person("bea"), identifier(view))


def test_exact_values_cannot_be_requested() -> None:
    with pytest.raises(InvalidInput, match="never stored") as refusal:
        sent(values=[1, 2])
    assert refusal.value.errors[0][0] == "/values"


def test_a_request_that_registering_would_refuse_is_refused(stays: World) -> None:
    with pytest.raises(NotFound):
        ask(stays, dataset="none")
    with pytest.raises(InvalidInput):
        ask(stays, levels={"secret": {"epsilon": 0.5}})
    with pytest.raises(Forbidden):
        asking.ask(stays.server, stays.person("ada"), sent())


def test_a_request_that_equals_a_retired_query_in_sight_is_refused(stays: World) -> None:
    register(stays, name="towns")
    queries.retire(stays.server, OPERATOR, "towns")
    with pytest.raises(Conflict, match="'towns', which is retired"):
        ask(stays)
    assert ask(stays, "pia", levels={"public": {"epsilon": 0.1}}).problem is None


def test_a_query_over_shredded_data_is_not_requested(stays: World) -> None:
    before = ask(stays)
    key_rotation.shred(stays.server, OPERATOR, "stays")
    with pytest.raises(Conflict, match="shredded"):
        ask(stays, name="north", where=[{"column": "town", "op": "=", "value": "north"}])
    assert "shredded" in (shown(stays, "ada", before).problem or "")


def test_a_statement_is_requested_as_the_spec_that_it_is_read_as(stays: World) -> None:
    view = ask(stays)
    request = {"sql": SQL, "name": "in sql", "contribution": {"max_groups": 1}}
    plain = dict.fromkeys(("dataset", "group_by", "aggregate"))
    other = ask(stays, "iris", **{**plain, **request})
    assert other.spec["group_by"]
    (whole,) = listed(stays, "ada")
    assert {asker.id for asker in whole.askers} == {view.id, other.id}
