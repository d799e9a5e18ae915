"""Test every field of every body and every argument, set to all kinds of invalid values."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.world import DATASET, QUERY, World, parsed

from penstock.api import OPERATIONS
from penstock.api.openapi import refusals

STRANGE: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 0.5, 1e-300, 1e300, -1e300, 5e-324, 2**31, 2**63, -(2**63)),
    *(2**64, 10**40, "", " ", "x", "x" * 2000, "\u0000", "a/b", "../..", "\ud7ff\u200b", "\u202e"),
    *("NaN", "1", "public", "PUBLIC", "visits", "sites", "operator", [], [[]], [None], {}),
    *({"": None}, {"a": {"b": {}}}, ["a", "a"], [1, 2], [0.1], [1e300], ["x"] * 200),
]
SHARES = 4
"""Into how many parts it is dealt; one of them is tried at every change, the others at night."""

COMPUTED: dict[str, Any] = {
    "name": "new",
    "dataset": "sites",
    "where": [{"column": "month", "op": ">=", "value": 6}],
    "group_by": [{"column": "carrier"}, {"column": "delay", "bins": [0, 1, 2]}],
    "aggregate": {"type": "sum", "column": "delay", "lower": 0, "upper": 1},
    "contribution": {"max_groups": 3, "max_rows_per_group": 4},
    "mechanism": "gaussian",
    "share": 0.001,
}
FILE: dict[str, Any] = {
    **DATASET,
    "source": {"engine": "duckdb", "uri": "absent.parquet"},
    "privacy_unit": {"column": "person"},
    "columns": {"person": {"type": "string"}, "age": {"type": "number", "lower": 0, "upper": 9}},
    "max_units": 1000,
}
BODIES: list[tuple[str, str, Any, str]] = [
    ("create_tier", "/api/v1/tiers", {"name": "new", "rank": 20, "description": ""}, "root"),
    ("create_tier", "/api/v1/tiers", {"name": "new", "above": "public"}, "root"),
    (
        "create_user",
        "/api/v1/users",
        {"name": "new", "roles": ["analyst"], "clearance": None},
        "root",
    ),
    (
        "import_users",
        "/api/v1/users/import",
        {"users": [{"name": "new", "roles": ["analyst"], "clearance": None}], "dry_run": True},
        "root",
    ),
    (
        "invite",
        "/api/v1/invitations",
        {"name": "new", "roles": ["analyst"], "clearance": None, "expires_in": 60},
        "root",
    ),
    (
        "change_user",
        "/api/v1/users/noa",
        {"roles": ["analyst"], "clearance": None},
        "root",
    ),
    (
        "issue_token",
        "/api/v1/users/ann/tokens",
        {"expires_in": 60, "scopes": ["analyst"]},
        "root",
    ),
    ("register_dataset", "/api/v1/datasets", {**DATASET, "name": "new"}, "root"),
    ("register_dataset", "/api/v1/datasets", FILE, "root"),
    (
        "register_query",
        "/api/v1/queries",
        {**QUERY, "name": "new", "step": 1, "bound": 200, "max_levels": 4},
        "root",
    ),
    (
        "register_query",
        "/api/v1/queries",
        {**QUERY, "name": "new", "mechanism": "poisson", "levels": {"public": {"level": 1e4}}},
        "root",
    ),
    ("register_query", "/api/v1/queries", COMPUTED, "root"),
    ("request_release", "/api/v1/queries/visits/releases", {"tier": "public"}, "ian"),
    ("request_release", "/api/v1/queries/visits/releases", {"epsilon": 0.2}, "ian"),
    ("request_release", "/api/v1/queries/visits/releases", {"rho": 0.01}, "ian"),
    ("request_release", "/api/v1/queries/visits/releases", {"level": 100}, "ian"),
]
DOCUMENTED = {
    operation.name: {operation.status, *refusals(operation)} - {500, 503}
    for operation in OPERATIONS
}


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every node of a document."""
    yield path
    if isinstance(node, dict):
        for name, inner in node.items():
            yield from places(inner, (*path, name))
    elif isinstance(node, list):
        for number, inner in enumerate(node):
            yield from places(inner, (*path, number))


def spoiled(body: Any, share: int, shares: int) -> Iterator[Any]:
    """Yield copies of ``body`` with one node set to something strange, or left out.

    Of what is strange each node gets one of ``shares``, neighbours another one each.
    """
    for place, path in enumerate(places(body)):
        for strange in STRANGE[(place + share) % shares :: shares]:
            changed = {"": copy.deepcopy(body)}
            node: Any = changed
            for part in ("", *path)[:-1]:
                node = node[part]
            node[("", *path)[-1]] = strange
            yield changed[""]
        if path and share == 0:
            changed = copy.deepcopy(body)
            node = changed
            for part in path[:-1]:
                node = node[part]
            del node[path[-1]]
            yield changed


@pytest.mark.parametrize(
    ("name", "path", "body", "by"),
    BODIES,
    ids=[f"{number}-{name}" for number, (name, _, _, _) in enumerate(BODIES)],
)
@pytest.mark.parametrize(
    "share", [0, *(pytest.param(one, marks=pytest.mark.nightly) for one in range(1, SHARES))]
)
def test_no_strange_body_gets_anything_but_a_documented_answer(
    world: World, name: str, path: str, body: Any, by: str, share: int
) -> None:
    verb = next(operation.verb for operation in OPERATIONS if operation.name == name)
    for changed in spoiled(body, share, SHARES):
        response = world.call(verb, path, changed, by=by)
        assert response.status_code in DOCUMENTED[name], (changed, response.text)
        if response.status_code >= 400:
            assert parsed(response)["detail"], changed


READINGS = [
    ("/api/v1/users/{}", "root"),
    ("/api/v1/users/{}/tokens", "root"),
    ("/api/v1/datasets/{}", "root"),
    ("/api/v1/datasets/{}/budget", "root"),
    ("/api/v1/queries/{}", "root"),
    ("/api/v1/queries?dataset={}", "root"),
    ("/api/v1/queries?limit={}", "root"),
    ("/api/v1/queries?cursor={}", "root"),
    ("/api/v1/releases/{}", "ann"),
    ("/api/v1/releases/{}/values", "ann"),
    ("/api/v1/releases?query={}", "olga"),
    ("/api/v1/releases?user={}", "olga"),
    ("/api/v1/audit/events?user={}", "olga"),
    ("/api/v1/audit/events?kind={}", "olga"),
    ("/api/v1/audit/events?since={}", "olga"),
    ("/api/v1/audit/exposure?users={}", "olga"),
    ("/api/v1/audit/exposure?users=ann&dataset={}", "olga"),
]
WORDS = [
    *("", "%00", "%ff%fe", "%F0%9F%98%80", "..%2f..", "%2e%2e", "x" * 3000, "'", "%25", "1e9"),
    *("-1", "99999999999999999999", "null", "a,b,,c", ",", "%0d%0aSet-Cookie:%20a=b", "{{7*7}}"),
    *("2026-13-45T00:00:00Z", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00%2B23:59"),
    *("YWZ0ZXI6LTE", "YWZ0ZXI6OTk5OTk5OTk5OTk5OTk5OTk5", "%E2%80%AE", "*", "%", "_"),
]


@pytest.mark.parametrize(("path", "by"), READINGS)
def test_no_strange_name_or_argument_gets_anything_but_a_refusal_or_nothing(
    world: World, path: str, by: str
) -> None:
    for word in WORDS:
        response = world.call("GET", path.format(word), by=by)
        assert response.status_code in {200, 403, 404, 422}, (word, response.text)
        assert "Set-Cookie" not in response.headers
