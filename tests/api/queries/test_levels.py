"""Test tiers, levels and budgets changed over HTTP, with what each refusal says."""

from typing import Any

import pytest
from tests.api.world import World, parsed

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec

API = "/api/v1"


def refused(world: World, verb: str, path: str, body: Any, status: int) -> Any:
    response = world.call(verb, API + path, body, by="root")
    assert response.status_code == status, response.text
    return parsed(response)


def test_a_query_goes_through_its_whole_life(world: World) -> None:
    lower = {"levels": {"internal": {"epsilon": 0.3}}}
    shown = world.answer("PATCH", f"{API}/queries/visits", lower, by="root")
    assert shown["tiers"][-1]["guarantee"]["epsilon"] == pytest.approx(0.3, rel=0.02)
    problem = parsed(
        world.call("POST", f"{API}/queries/visits/releases", {"epsilon": 0.5}, by="ian")
    )
    assert problem["code"] == "CLEARANCE_TOO_LOW"
    finer = {"levels": {"internal": {"epsilon": 0.8}}}
    problem = refused(world, "PATCH", "/queries/visits", finer, 422)
    assert problem["errors"][0]["pointer"] == "/values"
    problem = refused(world, "PATCH", "/queries/visits", {**finer, "values": [120, 8]}, 409)
    assert problem["code"] == "CONFLICT"
    world.answer("PATCH", f"{API}/queries/visits", {**finer, "values": [120, 7]}, by="root")
    given = world.answer("POST", f"{API}/queries/visits/releases", {}, by="ian")
    assert given["guarantee"]["epsilon"] == pytest.approx(0.8, rel=0.02)
    retired = world.answer("POST", f"{API}/queries/visits/retire", by="root")
    assert retired["status"] == "retired"
    again = world.call("POST", f"{API}/queries/visits/releases", {}, by="ian")
    assert again.status_code == 409
    values = world.answer("GET", f"{API}/releases/{given['id']}/values", by="ian")
    assert values["values"] == given["values"]


def test_no_number_of_guesses_finds_a_count(world: World) -> None:
    known = {"levels": {"internal": {"epsilon": 0.5}}}
    finer = {"levels": {"internal": {"epsilon": 0.8}}}
    guesses = [[number, 7] for number in (116, 117, 118, 119, 120, 121)]
    # A level that is there already: nothing tells 120 from the others.
    told = [
        refused(world, "PATCH", "/queries/visits", {**known, "values": g}, 422) for g in guesses
    ]
    assert len({one["detail"] for one in told}) == 1
    assert {one["errors"][0]["pointer"] for one in told} == {"/values"}
    # A finer one: three are compared, and from the fourth on the right one is refused as well.
    told = [
        refused(world, "PATCH", "/queries/visits", {**finer, "values": g}, 409) for g in guesses
    ]
    assert len({one["detail"] for one in told[3:]}) == 1
    leaves = world.answer("GET", f"{API}/audit/events?query=visits&kind=query", by="olga")
    found = [one["mismatches"] for one in leaves["items"] if "mismatches" in one]
    assert found == [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/queries/visits", {}, "/levels"),
        ("/queries/visits", {"levels": {}}, "/levels"),
        ("/queries/visits", {"levels": {"x": {"epsilon": 1}}}, "/levels/x"),
        ("/queries/visits", {"levels": {"public": {"epsilon": 1, "rho": 1}}}, "/levels/public"),
        ("/queries/visits", {"levels": {"public": {"epsilon": 9}}}, "/levels/public"),
        ("/queries/visits", {"levels": {"internal": {"epsilon": 0.05}}}, "/levels"),
        ("/queries/visits", {"levels": {"internal": {"epsilon": 99}}}, "/levels/internal"),
        ("/queries/visits", {"levels": {"internal": {"epsilon": 1}}, "values": 3}, "/values"),
        ("/datasets/sites", {}, ""),
        ("/datasets/sites", {"budgets": {"public": {"epsilon": 0}}}, "/budgets/public/epsilon"),
        ("/datasets/sites", {"budgets": {"x": {"epsilon": 1}}}, "/budgets/x"),
        ("/datasets/sites", {"deltas": 0.1}, "/deltas"),
        ("/tiers/public", {"rank": 30}, "/rank"),
        ("/tiers/public", {"name": "other"}, "/name"),
        ("/tiers/public", {"above": "nobody"}, "/above"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place(
    world: World, path: str, body: Any, pointer: str
) -> None:
    problem = refused(world, "PATCH", path, body, 422)
    assert pointer in {one["pointer"] for one in problem["errors"]}


def test_what_does_not_exist_is_not_found(world: World) -> None:
    levels = {"levels": {"public": {"epsilon": 0.1}}}
    refused(world, "PATCH", "/queries/nothing", levels, 404)
    refused(world, "POST", "/queries/nothing/retire", None, 404)
    refused(world, "PATCH", "/datasets/nothing", {"budgets": {"public": {"epsilon": 1}}}, 404)
    refused(world, "PATCH", "/tiers/nothing", {"rank": 3}, 404)
    refused(world, "DELETE", "/tiers/nothing", None, 404)


def test_a_budget_below_what_is_spent_and_an_overdrawn_account_say_their_numbers(
    world: World,
) -> None:
    problem = refused(
        world, "PATCH", "/datasets/sites", {"budgets": {"internal": {"epsilon": 0.01}}}, 409
    )
    assert problem["code"] == "BUDGET_EXHAUSTED"
    assert (problem["tier"], problem["largest_share"]) == ("internal", 0)
    heavy = {"levels": {"public": {"epsilon": 0.97}, "internal": {"epsilon": 0.97}}}
    problem = refused(world, "PATCH", "/queries/visits", {**heavy, "values": [120, 7]}, 409)
    assert problem["code"] == "BUDGET_EXHAUSTED"
    assert {"needed_share", "remaining_share", "largest_share", "spent_by"} <= set(problem)


def test_a_tier_is_deleted_when_nobody_holds_it(world: World) -> None:
    problem = refused(world, "DELETE", "/tiers/internal", None, 409)
    assert problem["held_by"] == ["ian"]
    world.answer("PATCH", f"{API}/users/ian", {"clearance": "public"}, by="root")
    world.answer("DELETE", f"{API}/tiers/internal", by="root")
    listed = world.answer("GET", f"{API}/tiers", by="root")["items"]
    assert [tier["name"] for tier in listed] == ["public"]


def test_every_leaf_of_an_admin_says_what_they_had_read(world: World) -> None:
    roles = {"roles": ["admin", "analyst"], "clearance": "internal"}
    world.answer("PATCH", f"{API}/users/root", roles, by="root")
    world.tokens["root"] = tokens.issue(world.server, OPERATOR, "root", TokenSpec()).token
    given = world.answer("POST", f"{API}/queries/visits/releases", {}, by="root")
    world.answer(
        "PATCH", f"{API}/datasets/sites", {"budgets": {"internal": {"epsilon": 5}}}, by="root"
    )
    events = world.answer("GET", f"{API}/audit/events?limit=1000", by="olga")["items"]
    exposures = [one["actor_exposure"] for one in events if one["kind"] != "release"]
    assert exposures[0] == {}
    assert exposures[-1] == {"visits": given["level"]["value"]}
