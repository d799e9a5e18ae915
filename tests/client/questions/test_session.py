"""Test what a client sends for questions."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from penstock_client import Client, InvalidArgument, Proposed


def test_a_spec_is_registered_and_requested_with_its_purpose(
    client: Client, requests: list[httpx.Request]
) -> None:
    spec = {"name": "mine", "dataset": "flights", "aggregate": {"type": "count"}}
    assert client.register(spec).name == "flights_by_carrier"
    assert (requests[-1].method, requests[-1].url.path) == ("POST", "/api/v1/queries")
    assert json.loads(requests[-1].content) == spec
    assert client.request(spec, "a report").id == "req_1"
    assert requests[-1].url.path == "/api/v1/requests"
    assert json.loads(requests[-1].content) == {**spec, "purpose": "a report"}


def test_requests_are_listed_by_state(client: Client, requests: list[httpx.Request]) -> None:
    assert [request.state for request in client.requests()] == ["open"]
    assert "state" not in requests[-1].url.params
    client.requests("declined")
    assert requests[-1].url.params["state"] == "declined"


def test_allowances_are_listed_given_and_taken_back(
    client: Client, requests: list[httpx.Request]
) -> None:
    (own,) = client.allowances("flights")
    assert own == client.give_allowance("flights", "partner", 0.5)
    path = "/api/v1/datasets/flights/allowances/partner"
    assert (requests[-1].method, requests[-1].url.path) == ("PUT", path)
    assert json.loads(requests[-1].content) == {"epsilon": 0.5, "users": None}
    client.give_allowance("flights", "partner", 0.5, users=["ann"])
    assert json.loads(requests[-1].content) == {"epsilon": 0.5, "users": ["ann"]}
    assert client.take_allowance_back("flights", "partner") == own
    assert (requests[-1].method, requests[-1].url.path) == ("DELETE", path)


def test_an_allowance_that_takes_two_people_is_not_given_yet(
    client: Client, answers: dict[str, Any]
) -> None:
    proposal = {"id": "p1", "act": "give_allowance", "state": "open", "proposed_by": "root"}
    answers["PUT /api/v1/datasets/flights/allowances/partner"] = proposal
    with pytest.raises(Proposed, match="approve proposal p1") as proposed:
        client.give_allowance("flights", "partner", 0.5)
    assert proposed.value.proposal == "p1"


def test_a_request_is_looked_up_commented_on_and_withdrawn(
    client: Client, requests: list[httpx.Request]
) -> None:
    (sent,) = client.requests()
    assert client.request_status(sent) == client.request_status("req_1") == sent
    assert client.comment_on_request("req_1", "By town.").comments == sent.comments
    assert json.loads(requests[-1].content) == {"comment": "By town."}
    assert client.withdraw_request(sent).state == "withdrawn"
    assert requests[-1].url.path == "/api/v1/requests/req_1/withdraw"


def test_an_admin_decides_about_a_request(client: Client, requests: list[httpx.Request]) -> None:
    levels = {"internal": {"epsilon": 0.5}}
    decided = client.decide_request("req_1", "approve", levels=levels, comment="Of use.")
    assert (decided.state, decided.query) == ("approved", "mine")
    assert json.loads(requests[-1].content) == {
        "decision": "approve", "levels": levels, "comment": "Of use.",
    }  # fmt: skip
    client.decide_request("req_1", "decline")
    assert json.loads(requests[-1].content) == {"decision": "decline"}


@pytest.mark.parametrize(
    "act",
    [
        lambda client: client.register({"share": float("nan")}),
        lambda client: client.request({"share": {1, 2}}, "a report"),
        lambda client: client.give_allowance("flights", "partner", float("inf")),
        lambda client: client.sql("SELECT 1", epsilon=1, share=1),
        lambda client: client.request_status(""),
        lambda client: client.withdraw_request(".."),
    ],
)
def test_what_cannot_be_sent_is_refused(
    client: Client, requests: list[httpx.Request], act: Callable[[Client], object]
) -> None:
    with pytest.raises(InvalidArgument):
        act(client)
    assert requests == []
