"""Request a count of loans at the API as an analyst, to be looked at on the pages."""

from typing import Any

from tests.api.world import World

PURPOSE = "The yearly report on loans"
ASK: dict[str, Any] = {
    "name": "late loans",
    "dataset": "loans",
    "aggregate": {"type": "count"},
    "where": [{"column": "book", "op": ">", "value": 9}],
    "contribution": {"max_groups": 1, "max_rows_per_group": 3},
    "mechanism": "gaussian",
    "levels": {"internal": {"epsilon": 0.5}},
    "purpose": PURPOSE,
}
SECRET: dict[str, Any] = {**ASK, "name": "kept back", "levels": {"internal": {"epsilon": 0.25}}}
"""A query that only internal sees, the same statistic as ``ASK``."""


def request_in(world: World, by: str = "ian", **changes: Any) -> str:
    """Request a count of loans, and return the address of its page."""
    body = {**ASK, **changes}
    return f"/requests/{world.answer('POST', '/api/v1/requests', body, by=by)['id']}"


def register(world: World, **changes: Any) -> None:
    """Register a query as an admin."""
    body = {name: part for name, part in {**ASK, **changes}.items() if name != "purpose"}
    world.answer("POST", "/api/v1/queries", body, by="root")


def view(world: World, address: str, by: str = "root") -> dict[str, Any]:
    """Return a request as the API shows it."""
    answer: dict[str, Any] = world.answer("GET", f"/api/v1{address}", by=by)
    return answer
