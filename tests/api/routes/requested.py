"""Provide a request for a query over a dataset in a file, made by an analyst who sees that."""

from typing import Any

from tests.api.world import World

REQUESTS = "/api/v1/requests"
QUERY: dict[str, Any] = {
    "name": "people",
    "dataset": "stays",
    "aggregate": {"type": "count_units"},
    "mechanism": "laplace",
    "levels": {"internal": {"epsilon": 0.5}},
}
REQUEST: dict[str, Any] = {**QUERY, "purpose": "The yearly report"}
COMMENT = {"comment": "Which year?"}
APPROVAL = {"decision": "approve"}


def request_in(world: World) -> str:
    """Request the query as ian, once its dataset is registered, and return the identifier."""
    identifier: str = world.answer("POST", REQUESTS, REQUEST, by="ian")["id"]
    return identifier
