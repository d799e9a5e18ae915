"""Test queries in SQL over HTTP: previewed, registered, shown and refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.queries.people import PEOPLE, ROWS
from tests.api.world import World, parsed

STATEMENT = "SELECT town, COUNT(*) FROM people WHERE NOT smokes OR runs GROUP BY town"
SENT: dict[str, Any] = {
    "name": "healthy",
    "sql": STATEMENT,
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.005}, "internal": {"rho": 0.5}},
}
PREVIEW = "/api/v1/queries/preview"


@pytest.fixture
def people(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        path = folder / "people.csv"
        path.write_text(ROWS)
        body = {**PEOPLE, "source": {"engine": "duckdb", "uri": str(path)}}
        world.answer("POST", "/api/v1/datasets", body, by="root")

    return grow("people", fill)


def test_a_statement_is_previewed_registered_and_released(people: World) -> None:
    preview = people.answer("POST", PREVIEW, {**SENT, "levels": {"public": 0.1}}, by="ann")
    assert preview["spec_sql"].startswith('SELECT "town", COUNT(*)\nFROM "people"\nWHERE ')
    assert preview["notes"] == []
    made = people.answer("POST", "/api/v1/queries", SENT, by="root")
    assert made["spec"]["where"] == [
        {
            "any": [
                {"column": "smokes", "op": "=", "value": False},
                {"column": "runs", "op": "=", "value": True},
            ]
        }
    ]
    assert made["spec_sql"] == preview["spec_sql"]
    assert "sql" not in made["spec"]
    assert made["sql"].startswith("WITH")
    release = people.answer("POST", "/api/v1/queries/healthy/releases", {}, by="ian")
    exact = [
        sum(
            (number % 3 > 0) == (town == "north") and (number % 2 == 1 or number % 5 == 0)
            for number in range(400)
        )
        for town in ("north", "south")
    ]
    assert release["keys"] == ["north", "south"]
    assert release["values"] == pytest.approx(exact, abs=20)


def test_marginals_are_previewed_with_notes_and_released(people: World) -> None:
    sets = "SELECT town, smokes, COUNT(*) FROM people{} GROUP BY GROUPING SETS (town, smokes, ())"
    sent = {**SENT, "sql": sets.format("")}
    preview = people.answer("POST", PREVIEW, {**sent, "levels": {"public": 0.1}}, by="ann")
    assert [note.split(": ")[1][:30] for note in preview["notes"]] == [
        "A row counts here only where i",
        "The set () is no table of its ",
    ]
    made = people.answer("POST", "/api/v1/queries", sent, by="root")
    assert made["spec"]["aggregate"]["up_to"] == 1
    assert made["spec_sql"] == preview["spec_sql"]
    assert made["spec_sql"].endswith("GROUP BY GROUPING SETS ((1), (2))")
    release = people.answer("POST", "/api/v1/queries/healthy/releases", {}, by="ian")
    assert release["keys"] == [
        ["north", "all"],
        ["south", "all"],
        ["all", "false"],
        ["all", "true"],
    ]
    assert sum(release["values"][:2]) == pytest.approx(sum(release["values"][2:]))
    for text in (made["spec_sql"], sets.format(" WHERE town IN ('south', 'north')")):
        again = people.call(
            "POST", "/api/v1/queries", {**sent, "name": "b", "sql": text}, by="root"
        )
        assert (again.status_code, parsed(again)["query"]) == (409, "healthy")


def test_a_second_registration_of_the_statistic_is_refused(people: World) -> None:
    people.answer("POST", "/api/v1/queries", SENT, by="root")
    spec = {name: part for name, part in SENT.items() if name != "sql"} | {
        "name": "other",
        "dataset": "people",
        "group_by": "town",
        "where": {
            "not": {
                "all": [
                    {"column": "smokes", "op": "!=", "value": False},
                    {"column": "runs", "op": "!=", "value": True},
                ]
            }
        },
        "aggregate": {"type": "count"},
    }
    response = people.call("POST", "/api/v1/queries", spec, by="root")
    assert (response.status_code, parsed(response)["query"]) == (409, "healthy")
    again = people.call("POST", "/api/v1/queries", {**SENT, "name": "again"}, by="root")
    assert (again.status_code, parsed(again)["query"]) == (409, "healthy")


def test_a_key_makes_a_registration_in_sql_happen_once(people: World) -> None:
    headers = {"Idempotency-Key": "once"}
    first, second = (
        people.call("POST", "/api/v1/queries", SENT, by="root", headers=headers) for _ in range(2)
    )
    assert (first.status_code, second.status_code) == (201, 201)
    assert parsed(first) == parsed(second)


@pytest.mark.parametrize(
    ("changes", "status", "pointer"),
    [
        ({"sql": "SELECT COUNT(*) FROM people LIMIT 3"}, 422, "/sql"),
        ({"sql": "SELECT AVG(age) FROM people"}, 422, "/sql"),
        ({"sql": "DROP TABLE people"}, 422, "/sql"),
        ({"sql": 3}, 422, "/sql"),
        ({"sql": ""}, 422, "/sql"),
        ({"sql": "(" * 20_000}, 422, "/sql"),
        ({"sql": "SELECT COUNT(*) FROM absent"}, 404, None),
        ({"where": []}, 422, "/where"),
        ({"aggregate": {"type": "count"}}, 422, "/aggregate"),
        ({"dataset": "people"}, 422, "/dataset"),
        ({"mechanism": "none"}, 422, "/mechanism"),
        ({"contribution": {"max_groups": 1}}, 422, "/contribution/max_rows_per_group"),
    ],
)
def test_what_is_refused_names_its_place(
    people: World, changes: dict[str, Any], status: int, pointer: str | None
) -> None:
    for path in (PREVIEW, "/api/v1/queries"):
        response = people.call("POST", path, {**SENT, **changes}, by="root")
        assert response.status_code == status, response.text
        if pointer is not None:
            assert parsed(response)["errors"][0]["pointer"] == pointer


def test_analysts_register_nothing_in_sql(people: World) -> None:
    assert people.call("POST", "/api/v1/queries", SENT, by="ian").status_code == 403
