"""Test the two-person rule over HTTP: 202 with a proposal, and another admin's approval."""

from collections.abc import Callable
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it publishes no annotations
import pytest
from tests.api.world import World, parsed

from penstock.api.openapi import document
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import Acknowledgment
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.proposals import ProposalView

BUDGETS = {"budgets": {"internal": {"epsilon": 9}}}


@pytest.fixture
def ruled(open_copy: Callable[..., World]) -> World:
    """Return the furnished world with a second admin, ada, in which the rule is in force."""
    world = open_copy(two_person_rule=True)
    users.create(world.server, OPERATOR, UserSpec(name="ada", roles=["admin"]))
    for caller, name in (("ada", "ada"), ("root", "root"), ("root again", "root")):
        issued = tokens.issue(world.server, OPERATOR, name, TokenSpec())
        world.tokens[caller] = issued.token
    return world


def approval(world: World, made: dict[str, Any], by: str) -> int:
    return world.call("POST", f"/api/v1/proposals/{made['id']}/approval", by=by).status_code


def test_a_larger_budget_is_answered_with_a_proposal(ruled: World) -> None:
    asked = ruled.call("PATCH", "/api/v1/datasets/sites", BUDGETS, by="root")
    assert asked.status_code == 202
    made = parsed(asked)
    assert (made["act"], made["state"], made["proposed_by"]) == ("change_budgets", "open", "root")
    assert made["request"] == {"dataset": "sites", "budgets": {"internal": {"epsilon": 9.0}}}
    assert approval(ruled, made, "root") == approval(ruled, made, "root again") == 403
    assert approval(ruled, made, "olga") == approval(ruled, made, "ann") == 403
    budgets = ruled.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"]
    assert budgets["internal"]["epsilon"] == 4
    assert approval(ruled, made, "ada") == 200
    budgets = ruled.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"]
    assert budgets["internal"]["epsilon"] == 9
    assert approval(ruled, made, "ada") == 409
    items = ruled.answer("GET", "/api/v1/proposals?state=approved", by="olga")["items"]
    assert [(one["id"], one["decided_by"]) for one in items] == [(made["id"], "ada")]
    events = ruled.answer("GET", "/api/v1/audit/events?kind=proposal", by="olga")["items"]
    assert [(event["actor"], event["state"]) for event in events] == [
        ("root", "open"),
        ("ada", "approved"),
    ]


def test_an_allowance_is_answered_with_a_proposal_and_taken_back_at_once(ruled: World) -> None:
    path = "/api/v1/datasets/sites/allowances/internal"
    asked = ruled.call("PUT", path, {"epsilon": 0.5}, by="root")
    made = parsed(asked)
    assert (asked.status_code, made["act"], made["state"]) == (202, "give_allowance", "open")
    assert ruled.answer("GET", "/api/v1/datasets/sites/allowances", by="root")["items"] == []
    assert approval(ruled, made, "root") == 403
    assert approval(ruled, made, "ada") == 200
    assert ruled.call("PUT", path, {"epsilon": 0.4}, by="root").status_code == 200
    assert ruled.call("DELETE", path, by="root").status_code == 200


def test_what_proposes_says_so_in_the_document(ruled: World) -> None:
    described = document()
    declared = {
        operation["operationId"]
        for path in described["paths"].values()
        for operation in path.values()
        if "202" in operation["responses"]
    }
    assert declared == {
        *("change_dataset", "withdraw_dataset", "give_allowance"),
        *("delete_tier", "retire_query", "retire_stream"),
    }
    asked = ruled.call("POST", "/api/v1/queries/visits/retire", by="root")
    path = described["paths"]["/api/v1/queries/{query}/retire"]["post"]
    schema = path["responses"]["202"]["content"]["application/json"]["schema"]
    whole = {**schema, "components": described["components"]}
    jsonschema.Draft202012Validator(whole).validate(parsed(asked))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(whole).validate({**parsed(asked), "state": "unknown"})


def test_what_enlarges_nothing_is_done_at_once(ruled: World) -> None:
    body = {"budgets": {"public": {"epsilon": 2}}}
    assert ruled.call("PATCH", "/api/v1/datasets/sites", body, by="root").status_code == 200


STREAM = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "length": 10,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.1}},
}


@pytest.mark.parametrize(
    ("verb", "path", "act"),
    [
        ("DELETE", "/api/v1/tiers/spare", "delete_tier"),
        ("POST", "/api/v1/queries/visits/retire", "retire_query"),
        ("POST", "/api/v1/streams/hits/retire", "retire_stream"),
    ],
)
def test_what_takes_away_for_ever_is_proposed(ruled: World, verb: str, path: str, act: str) -> None:
    ruled.answer("POST", "/api/v1/tiers", {"name": "spare"}, by="root")
    ruled.answer("POST", "/api/v1/streams", STREAM, by="root")
    asked = ruled.call(verb, path, by="ada")
    assert (asked.status_code, parsed(asked)["act"]) == (202, act)
    assert approval(ruled, parsed(asked), "root") == 200
    repeated = ruled.call(verb, path, by="ada")
    # Retiring again changes nothing; the tier is gone.
    assert repeated.status_code == (404 if verb == "DELETE" else 200)


def test_a_proposal_is_withdrawn_and_stays_in_the_list(ruled: World) -> None:
    made = parsed(ruled.call("POST", "/api/v1/queries/visits/retire", by="root"))
    path = f"/api/v1/proposals/{made['id']}"
    assert ruled.answer("DELETE", path, by="root")["state"] == "withdrawn"
    assert ruled.call("DELETE", path, by="root").status_code == 409
    assert approval(ruled, made, "ada") == 409
    assert ruled.answer("GET", path, by="olga")["state"] == "withdrawn"
    assert ruled.call("GET", "/api/v1/proposals/nothing", by="root").status_code == 404


def test_a_restore_is_approved_while_the_server_is_suspended(ruled: World) -> None:
    (ruled.server.settings.witness_path / "log.json").unlink()
    made = proposals.do_or_propose(ruled.server, OPERATOR, Acknowledgment())
    assert isinstance(made, ProposalView)
    assert ruled.call("GET", "/readyz").status_code == 503
    items = ruled.answer("GET", "/api/v1/proposals?state=open", by="ada")["items"]
    assert [one["act"] for one in items] == ["acknowledge_restore"]
    assert ruled.call("POST", "/api/v1/tiers", {"name": "no"}, by="ada").status_code == 503
    assert approval(ruled, items[0], "ada") == 200
    assert ruled.call("GET", "/readyz").status_code == 200
    assert ruled.call("POST", "/api/v1/tiers", {"name": "yes"}, by="ada").status_code == 201


def test_a_repeat_under_its_key_is_the_same_proposal(ruled: World) -> None:
    def ask() -> Any:
        return ruled.call(
            "POST",
            "/api/v1/queries/visits/retire",
            by="root",
            headers={"Idempotency-Key": "one"},
        )

    first, second = ask(), ask()
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.data == second.data
    assert second.headers["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("POST", "/api/v1/users", {"name": "sock", "roles": ["admin"]}),
        ("PATCH", "/api/v1/users/ann", {"roles": ["analyst", "admin"]}),
        ("POST", "/api/v1/users/ada/tokens", {}),
    ],
)
def test_no_admin_makes_themselves_a_second_one(
    ruled: World, verb: str, path: str, body: dict[str, Any]
) -> None:
    refused = ruled.call(verb, path, body, by="root")
    assert refused.status_code == 403
    assert "only the operator" in parsed(refused)["detail"]


def test_other_tokens_are_issued_as_ever(ruled: World) -> None:
    issue = ruled.call("POST", "/api/v1/users/root/tokens", {}, by="root")
    assert issue.status_code == 201
    assert ruled.call("POST", "/api/v1/users/ann/tokens", {}, by="root").status_code == 201
    assert ruled.call("DELETE", "/api/v1/users/ann", by="root").status_code == 200
