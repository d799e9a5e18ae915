"""Test that each method sends the contract's request and reads its answer."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import numpy as np
import pytest

from penstock_client import Client, InvalidArgument, NotFound, ProtocolError, Release

Handler = Callable[[httpx.Request], httpx.Response]


def test_a_release_holds_what_the_contract_states(client: Client) -> None:
    release = client.release("flights_by_carrier")
    assert release.keys == ("AA", "UA")
    assert release.values == (31987.5, 0.0)
    assert (release.level.parameter, release.level.value) == ("variance", 2028)
    assert (release.guarantee.rho, release.guarantee.epsilon) == (0.01183, 0.6294)
    assert (release.error.confidence, release.error.half_width) == (0.95, 88.26)
    assert release.released_at == datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert release.receipt.index == 41
    assert release.receipt.checkpoint is not None
    assert release.receipt.checkpoint.splitlines()[1] == "42"


def test_the_token_goes_along_as_a_bearer(
    client: Client, requests: list[httpx.Request], token: str
) -> None:
    client.datasets()
    assert requests[0].headers["authorization"] == f"Bearer {token}"
    assert requests[0].headers["user-agent"].startswith("penstock-client/")


def test_me_says_who_and_until_when(client: Client) -> None:
    me = client.me()
    assert (me.name, me.roles, me.clearance) == ("ann", ("analyst",), "partner")
    assert me.token_expires == datetime(2026, 12, 20, 12, tzinfo=UTC)


def test_datasets_have_their_budgets(client: Client) -> None:
    (dataset,) = client.datasets()
    assert dataset.budgets["public"].epsilon == 0.5
    assert dataset.privacy_unit == {"column": "tailnum"}
    assert dataset.accountant is None, "as a server answers that knows one accountant"


def test_the_server_is_asked_for_the_queries_of_a_dataset(
    client: Client, requests: list[httpx.Request]
) -> None:
    assert [query.name for query in client.queries()] == ["flights_by_carrier", "visits"]
    client.queries("sites")
    assert [request.url.params.get("dataset") for request in requests] == [None, "sites"]


def test_a_search_of_queries_is_the_catalogues(
    client: Client, requests: list[httpx.Request]
) -> None:
    client.queries(search="beds by area", tag="health", sort="name")
    expected = {"search": "beds by area", "tag": "health", "sort": "name"}
    assert expected.items() <= dict(requests[-1].url.params).items()


def test_history_filters_by_query_and_user(client: Client, requests: list[httpx.Request]) -> None:
    (item,) = client.history("flights_by_carrier", user="ann")
    assert (item.user, item.query, item.id) == ("ann", "flights_by_carrier", "rel_1")
    assert requests[0].url.params["query"] == "flights_by_carrier"
    assert requests[0].url.params["user"] == "ann"
    client.history()
    assert "query" not in requests[1].url.params


def test_exposure_is_asked_for_users_together(
    client: Client, requests: list[httpx.Request]
) -> None:
    exposure = client.exposure(["ann", "bob"], "flights")
    assert requests[0].url.params["users"] == "ann,bob"
    assert exposure.could_be.epsilon == 1.25
    assert exposure.reach is not None
    assert (exposure.reach.tier, exposure.reach.budget.epsilon) == ("internal", 3)
    assert exposure.registrars is None
    client.exposure("ann", "flights")
    assert requests[1].url.params["users"] == "ann"
    client.exposure("ann")
    assert "dataset" not in requests[2].url.params


@pytest.mark.parametrize("users", [[], [""], ["a,b"], ""])
def test_exposure_of_nobody_is_not_sent(
    client: Client, requests: list[httpx.Request], users: list[str] | str
) -> None:
    with pytest.raises(InvalidArgument):
        client.exposure(users, "flights")
    assert not requests


def test_a_budget_says_which_queries_spent_it(client: Client) -> None:
    (tier,) = client.budget("flights").tiers
    assert (tier.granted.epsilon, tier.spent.epsilon, tier.remaining.epsilon) == (1, 0.6294, 0.3)
    assert (tier.queries[0].query, tier.queries[0].share) == ("flights_by_carrier", 0.25)


@pytest.mark.parametrize(
    ("wish", "body"),
    [
        ({}, {}),
        ({"tier": "public"}, {"tier": "public"}),
        ({"epsilon": 0.1}, {"epsilon": 0.1}),
        ({"rho": np.float64(0.5)}, {"rho": 0.5}),
        ({"level": 42}, {"level": 42.0}),
    ],
)
def test_a_release_is_asked_for_in_one_way(
    client: Client, requests: list[httpx.Request], wish: dict[str, Any], body: dict[str, Any]
) -> None:
    client.release("flights_by_carrier", **wish)
    assert json.loads(requests[0].content) == body


@pytest.mark.parametrize(
    "wish",
    [
        {"tier": "public", "epsilon": 1},
        {"epsilon": 0},
        {"epsilon": -1.0},
        {"rho": float("nan")},
        {"level": float("inf")},
        {"level": 10**400},
        {"epsilon": True},
        {"epsilon": "1"},
        {"epsilon": [1]},
    ],
)
def test_a_wish_that_cannot_be_meant_is_not_sent(
    client: Client, requests: list[httpx.Request], wish: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument):
        client.release("flights_by_carrier", **wish)
    assert not requests


@pytest.mark.parametrize("name", ["a b", "a/../../me", "ü?x=1#y", "100%"])
def test_a_name_stays_one_part_of_the_path(
    client_of: Callable[[Handler], Client], answers: dict[str, Any], name: str
) -> None:
    seen: list[bytes] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path)
        return httpx.Response(200, json=answers["POST /api/v1/queries/flights_by_carrier/releases"])

    with pytest.raises(ProtocolError, match=r"me\.name"):  # it tells nobody who they are
        client_of(handle).release(name)
    assert seen[0].count(b"/") == 5
    assert b"?" not in seen[0]


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_is_no_part_of_a_path_is_not_sent(
    client: Client, requests: list[httpx.Request], name: str
) -> None:
    with pytest.raises(InvalidArgument):
        client.release(name)
    assert not requests


def test_fields_of_newer_servers_are_kept_and_not_in_the_way(
    client: Client, answers: dict[str, Any]
) -> None:
    newer = answers["POST /api/v1/queries/flights_by_carrier/releases"]
    newer["surprise"] = {"deep": [1]}
    newer["level"]["unit"] = "flights"
    assert client.release("flights_by_carrier").answer["surprise"] == {"deep": [1]}


def test_keys_may_be_numbers_lists_or_left_out(client: Client, answers: dict[str, Any]) -> None:
    answer = answers["POST /api/v1/queries/flights_by_carrier/releases"]

    def keys() -> Release:
        return client.release("flights_by_carrier")

    answer["keys"] = [["AA", "[0, 15)"], ["UA", 3]]
    assert keys().keys == (("AA", "[0, 15)"), ("UA", 3))
    answer["keys"] = [7, 1.5]
    assert keys().keys == (7, 1.5)
    del answer["keys"]
    assert keys().keys == (0, 1)


def _pages(pages: dict[str | None, Any], seen: list[dict[str, str]]) -> Handler:
    def handle(request: httpx.Request) -> httpx.Response:
        parameters = dict(request.url.params)
        seen.append(parameters)
        return httpx.Response(200, json=pages[parameters.get("cursor")])

    return handle


def test_all_pages_are_read(client_of: Callable[[Handler], Client]) -> None:
    seen: list[dict[str, str]] = []
    pages: dict[str | None, Any] = {
        None: {"items": [{"name": "a", "dataset": "d"}], "next_cursor": "x/+="},
        "x/+=": {"items": [], "next_cursor": "y"},
        "y": {"items": [{"name": "b", "dataset": "d"}], "next_cursor": None},
    }
    queries = client_of(_pages(pages, seen)).queries()
    assert [query.name for query in queries] == ["a", "b"]
    assert [parameters["limit"] for parameters in seen] == ["1000"] * 3


def test_pages_that_lead_back_are_refused(client_of: Callable[[Handler], Client]) -> None:
    page = {"items": [], "next_cursor": "x"}
    with pytest.raises(ProtocolError, match="same page"):
        client_of(_pages({None: page, "x": page}, [])).datasets()


def test_the_address_and_the_token_come_from_the_environment(
    server: Handler,
    requests: list[httpx.Request],
    monkeypatch: pytest.MonkeyPatch,
    token: str,
) -> None:
    monkeypatch.setenv("PENSTOCK_URL", "https://penstock.example.org/behind/")
    monkeypatch.setenv("PENSTOCK_TOKEN", f"{token}\n")
    with Client(transport=httpx.MockTransport(server)) as client, pytest.raises(NotFound):
        client.me()
    assert str(requests[0].url) == "https://penstock.example.org/behind/api/v1/me"
    assert requests[0].headers["authorization"] == f"Bearer {token}"
