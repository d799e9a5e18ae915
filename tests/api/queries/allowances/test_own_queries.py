"""Test, over HTTP, analysts who register queries by themselves under an allowance."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.queries.people import PEOPLE, ROWS
from tests.api.world import World, parsed

ALLOWANCE = "/api/v1/datasets/people/allowances/internal"
ASKED: dict[str, Any] = {
    "name": "mine",
    "sql": "SELECT COUNT(*) FROM people",
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"internal": {"epsilon": 0.3}},
}


@pytest.fixture
def people(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        path = folder / "people.csv"
        path.write_text(ROWS)
        body = {**PEOPLE, "source": {"engine": "duckdb", "uri": str(path)}}
        world.answer("POST", "/api/v1/datasets", body, by="root")

    return grow("people", fill)


def test_an_analyst_asks_in_sql_and_nobody_below_learns_of_it(people: World) -> None:
    refused = people.call("POST", "/api/v1/queries", ASKED, by="ian")
    assert (refused.status_code, parsed(refused)["code"]) == (403, "FORBIDDEN")
    given = people.answer("PUT", ALLOWANCE, {"epsilon": 0.5}, by="root")
    assert set(given) == {
        *("dataset", "dataset_version", "tier", "epsilon", "delta", "users", "spent_share"),
        *("remaining_share", "queries", "given_at", "given_by", "notes"),
    }
    assert given["notes"] == []
    preview = people.answer("POST", "/api/v1/queries/preview", ASKED, by="ian")
    assert preview["allowance"]["fits"] is True
    made = people.answer("POST", "/api/v1/queries", ASKED, by="ian")
    assert (made["name"], made["allowance"]) == ("mine", {"tier": "internal", "by": None})
    assert people.answer("GET", "/api/v1/queries/mine", by="root")["allowance"]["by"] == "ian"
    release = people.answer("POST", "/api/v1/queries/mine/releases", {}, by="ian")
    assert release["query"] == "mine@internal"
    for path in ("/api/v1/queries/mine", "/api/v1/queries/mine@internal"):
        assert people.call("GET", path, by="ann").status_code == 404
    assert people.answer("GET", "/api/v1/queries?dataset=people", by="ann")["items"] == []


def test_the_last_of_it_is_refused_and_taking_it_back_takes_nothing(people: World) -> None:
    people.answer("PUT", ALLOWANCE, {"epsilon": 0.35}, by="root")
    people.answer("POST", "/api/v1/queries", ASKED, by="ian")
    more = {**ASKED, "name": "more", "mechanism": "laplace"}
    refused = people.call("POST", "/api/v1/queries", more, by="ian")
    assert (refused.status_code, parsed(refused)["code"]) == (409, "BUDGET_EXHAUSTED")
    assert parsed(refused)["allowance"] == "internal"
    assert parsed(refused)["needed_share"] > parsed(refused)["remaining_share"]
    (shown,) = people.answer("GET", "/api/v1/datasets/people/allowances", by="ian")["items"]
    assert [each["query"] for each in shown["queries"]] == ["mine@internal"]
    people.answer("DELETE", ALLOWANCE, by="root")
    assert people.call("POST", "/api/v1/queries", more, by="ian").status_code == 403
    assert people.answer("POST", "/api/v1/queries/mine/releases", {}, by="ian")["values"]
