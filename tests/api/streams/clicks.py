"""Provide a stream of clicks: opened, pushed and read over HTTP."""

from typing import Any

from tests.api.world import World, parsed

API = "/api/v1"


CLICKS: dict[str, Any] = {
    "name": "clicks",
    "source": {"engine": "vector"},
    "privacy_unit": "event",
    "neighboring": "add_remove",
    "delta": 1e-6,
    "budgets": {"public": {"epsilon": 4}, "internal": {"epsilon": 8}},
}


HITS: dict[str, Any] = {
    "name": "hits",
    "dataset": "clicks",
    "mechanism": "laplace",
    "structure": "kary",
    "length": 100,
    "levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 1}},
}


def push(world: World, first: int, values: list[Any], status: int = 200) -> Any:
    body = {"from": first, "values": values}
    response = world.call("POST", f"{API}/streams/hits/elements", body, by="root")
    assert response.status_code == status, response.text
    return parsed(response)


def read(world: World, by: str, query: str = "", status: int = 200) -> Any:
    response = world.call("GET", f"{API}/streams/hits/releases{query}", by=by)
    assert response.status_code == status, response.text
    return parsed(response)


def totals(answer: Any) -> list[list[float]]:
    return [item["values"] for item in answer["items"]]
