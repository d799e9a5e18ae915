"""Test the way of a request through the API: made, commented and decided."""

import pytest
from tests.api.routes.requested import COMMENT, REQUEST, REQUESTS, request_in
from tests.api.sight.scheduled import schedule_in
from tests.api.world import QUANTUM, World, parsed


@pytest.fixture
def stays(world: World) -> World:
    schedule_in(world)
    return world


def test_a_request_has_every_field_of_the_contract(stays: World) -> None:
    answer = stays.call("POST", REQUESTS, REQUEST, by="ian")
    assert answer.status_code == 201
    request = parsed(answer)
    preview = request.pop("preview")
    assert request == {
        "id": request["id"],
        "state": "open",
        "query": None,
        "name": "people",
        "dataset": "stays",
        "dataset_version": 1,
        "purpose": "The yearly report",
        "spec": {name: part for name, part in REQUEST.items() if name != "purpose"},
        "requested_by": "ian",
        "requested_at": "2026-11-20T12:00:00Z",
        "comments": [],
        "decided_by": None,
        "decided_at": None,
        "askers": [],
        "registered_as": None,
        "problem": None,
    }
    assert [tier["tier"] for tier in preview["tiers"]] == ["internal"]


def test_a_request_is_made_commented_approved_and_released(stays: World) -> None:
    made = request_in(stays)
    path = f"{REQUESTS}/{made}"
    stays.answer("POST", f"{path}/comments", COMMENT, by="root")
    (listed,) = stays.answer("GET", f"{REQUESTS}?state=open", by="root")["items"]
    assert (listed["id"], listed["askers"][0]["user"]) == (made, "ian")
    decision = {"decision": "approve", "levels": {"internal": 0.25}, "comment": "Fine."}
    approved = stays.answer("POST", f"{path}/decision", decision, by="root")
    assert (approved["state"], approved["query"]) == ("approved", "people")
    assert approved["spec"]["levels"] == {"internal": {"epsilon": 0.25}}
    own = stays.answer("GET", path, by="ian")
    assert [each["comment"] for each in own["comments"]] == ["Which year?", "Fine."]
    assert own["preview"]["registered"]
    assert stays.answer("POST", "/api/v1/queries/people/releases", {}, by="ian")["values"]
    again = stays.answer("POST", REQUESTS, {**REQUEST, "name": "mine"}, by="ian")
    assert (again["state"], again["query"], again["id"]) == ("answered", "people", None)


def test_a_request_is_withdrawn_and_not_decided_after_that(stays: World) -> None:
    made = request_in(stays)
    withdrawn = stays.answer("POST", f"{REQUESTS}/{made}/withdraw", by="ian")
    assert withdrawn["state"] == "withdrawn"
    decision = {"decision": "decline"}
    refused = stays.call("POST", f"{REQUESTS}/{made}/decision", decision, by="root")
    assert refused.status_code == 409


def test_the_answer_to_a_request_is_sent_at_a_time_quantum(stays: World) -> None:
    stays.stopwatch.slept.clear()
    path = f"{REQUESTS}/{request_in(stays)}"
    stays.answer("GET", path, by="ian")
    stays.answer("POST", f"{path}/comments", COMMENT, by="ian")
    stays.answer("POST", f"{path}/withdraw", by="ian")
    assert stays.stopwatch.slept == [pytest.approx(QUANTUM)] * 4


def test_exact_values_are_refused_and_not_repeated(stays: World) -> None:
    body = {**REQUEST, "values": [31337]}
    refused = stays.call("POST", REQUESTS, body, by="ian")
    assert refused.status_code == 422
    assert parsed(refused)["errors"][0]["pointer"] == "/values"
    assert "31337" not in refused.text
