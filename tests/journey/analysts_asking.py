"""Let analysts ask for queries on a server: on made-up rows, by requests, and on an allowance."""

from typing import Any

from tests.api.world import World, parsed

API = "/api/v1"
TOWNS = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
LEVELS = {"public": {"rho": 0.001}, "internal": {"rho": 0.002}}
RUNNERS: dict[str, Any] = {
    "name": "runners",
    "dataset": "people",
    "mechanism": "gaussian",
    "where": [{"column": "runs", "op": "=", "value": True}],
    "aggregate": {"type": "count"},
    "contribution": {"max_rows_per_group": 1},
    "levels": LEVELS,
}


def ask_for_queries(server: World) -> None:
    """Request queries and decide about them, and register one on an allowance."""
    _request_and_decide(server)
    _register_on_an_allowance(server)


def _request_and_decide(server: World) -> None:
    asked = {
        "name": "residents",
        "sql": TOWNS,
        "mechanism": "gaussian",
        "contribution": {"max_groups": 1, "max_rows_per_group": 1},
        "levels": LEVELS,
        "purpose": "To plan where the next office opens.",
    }
    trial = {"query": {field: asked[field] for field in asked if field != "purpose"}, "rows": 50}
    tried = server.answer("POST", f"{API}/queries/dummy", trial, by="ann")
    assert tried["dataset"] == "people"
    made = server.answer("POST", f"{API}/requests", asked, by="ann")
    assert (made["state"], made["spec"]["name"]) == ("open", "residents")
    path = f"{API}/requests/{made['id']}"
    for by, text in (("ann", "Any level does."), ("root", "Public is enough.")):
        server.answer("POST", f"{path}/comments", {"comment": text}, by=by)
    decision = {"decision": "approve", "levels": {"public": {"rho": 0.001}}}
    decided = server.answer("POST", f"{path}/decision", decision, by="root")
    assert (decided["state"], decided["query"]) == ("approved", "residents")
    shown = server.answer("GET", path, by="ann")
    assert [comment["comment"] for comment in shown["comments"]] == [
        "Any level does.",
        "Public is enough.",
    ]
    released = server.answer("POST", f"{API}/queries/residents/releases", {}, by="ann")
    assert released["keys"] == ["north", "south"]
    again = server.answer("POST", f"{API}/requests", {**asked, "name": "towns"}, by="ian")
    assert (again["state"], again["query"]) == ("answered", "residents")
    other = server.answer("POST", f"{API}/requests", {**RUNNERS, "purpose": "None."}, by="ian")
    gone = server.answer("POST", f"{API}/requests/{other['id']}/withdraw", {}, by="ian")
    assert gone["state"] == "withdrawn"
    states = [
        request["state"] for request in server.answer("GET", f"{API}/requests", by="root")["items"]
    ]
    assert sorted(states) == ["approved", "withdrawn"]


def _register_on_an_allowance(server: World) -> None:
    path = f"{API}/datasets/people/allowances"
    own = {**RUNNERS, "levels": {"internal": {"rho": 0.001}}}
    refused = server.call("POST", f"{API}/queries", own, by="ian")
    assert refused.status_code == 403, parsed(refused)
    server.answer("PUT", f"{path}/internal", {"epsilon": 0.5}, by="root")
    made = server.answer("POST", f"{API}/queries", own, by="ian")
    assert made["name"] == "runners"
    (allowance,) = server.answer("GET", path, by="ian")["items"]
    assert 0 < allowance["spent_share"] < 1
    assert server.call("GET", f"{API}/queries/runners@internal", by="ann").status_code == 404
    server.answer("POST", f"{API}/queries/runners@internal/releases", {}, by="ian")
    server.answer("DELETE", f"{path}/internal", by="root")
    assert server.answer("GET", path, by="ian")["items"] == []
