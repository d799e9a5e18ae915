"""Test what a client sends for questions."""

import json
from collections.abc import Callable

import httpx
import pytest

from penstock_client import Client, InvalidArgument


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


@pytest.mark.parametrize(
    "act",
    [
        lambda client: client.register({"share": float("nan")}),
        lambda client: client.request({"share": {1, 2}}, "a report"),
        lambda client: client.sql("SELECT 1", epsilon=1, share=1),
    ],
)
def test_what_cannot_be_sent_is_refused(
    client: Client, requests: list[httpx.Request], act: Callable[[Client], object]
) -> None:
    with pytest.raises(InvalidArgument):
        act(client)
    assert requests == []
