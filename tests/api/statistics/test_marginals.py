"""Test marginals over HTTP: registered, previewed, released, reported in forms, refused."""

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.world import World, parsed

from penstock.services.synthetic_rows import apart

PATIENTS = 3000
ROWS = "person,ward,age,urgent,alone,whole\n" + "".join(
    f"p{number},{'abc'[number % 3]},{number % 101 - 1},{'yes' if number % 7 else 'true'},x,all\n"
    for number in range(PATIENTS)
)
DATASET: dict[str, Any] = {
    "name": "patients",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 10_000,
    "columns": {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": ["a", "b", "c", "=d"]},
        "age": {"type": "integer"},
        "urgent": {"type": "boolean", "missing": False},
        "alone": {"type": "string", "categories": ["x"]},
        "whole": {"type": "string", "categories": ["all", "some"]},
    },
    "budgets": {"public": {"epsilon": 2}, "internal": {"epsilon": 40}},
}
AGE = {"column": "age", "bins": [0, 18, 65, 100]}
MARGINALS: dict[str, Any] = {
    "name": "tables",
    "dataset": "patients",
    "aggregate": {"type": "marginals", "columns": ["ward", AGE, "urgent"]},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.05}, "internal": {"rho": 0.5}},
}
FORMS = "?report=nonnegative,whole,total_preserving"


@pytest.fixture
def patients(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        path = folder / "patients.csv"
        path.write_text(ROWS)
        body = {**DATASET, "source": {"engine": "duckdb", "uri": str(path)}}
        world.answer("POST", "/api/v1/datasets", body, by="root")
        world.answer("POST", "/api/v1/queries", MARGINALS, by="root")

    return grow("marginals", fill)


def released(patients: World, more: str = "", **request: object) -> dict[str, Any]:
    path = f"/api/v1/queries/tables/releases{more}"
    found: dict[str, Any] = patients.answer("POST", path, request, by="ann")
    return found


def tables(release: dict[str, Any], field: str = "value") -> dict[tuple[str, ...], Any]:
    return {
        tuple(each["columns"]): {tuple(cell["key"]): cell[field] for cell in each["cells"]}
        for each in release["marginals"]
    }


def test_marginals_agree_with_each_other_to_the_last_digit(patients: World) -> None:
    found = tables(released(patients))
    assert list(found) == [
        *[("ward",), ("age",), ("urgent",)],
        *[("ward", "age"), ("ward", "urgent"), ("age", "urgent")],
    ]
    for columns, table in found.items():
        for place, column in enumerate(columns):
            if len(columns) == 2:
                for label, value in found[column,].items():
                    assert sum(table[key] for key in table if key[place] == label[0]) == value
    assert len({sum(table.values()) for table in found.values()}) == 1


def test_cells_are_near_to_the_counts_and_rows_outside_of_the_keys_are_in_no_table(
    patients: World,
) -> None:
    release = released(patients)
    exact = dict.fromkeys(tables(release)["ward", "age"], 0)
    labels = ["[0, 18)", "[18, 65)", "[65, 100]"]
    for number in range(PATIENTS):
        age = number % 101 - 1
        if age >= 0:
            exact["abc"[number % 3], labels[(age >= 18) + (age >= 65)]] += 1
    found = tables(release)["ward", "age"]
    deviations = set(tables(release, "standard_deviation")["ward", "age"].values())
    assert len(deviations) == 1
    deviation = deviations.pop()
    assert all(abs(found[key] - exact[key]) < 6 * deviation for key in exact)
    assert 1 < deviation < 10


def test_values_are_the_cells_with_their_errors(patients: World) -> None:
    release = released(patients)
    assert release["keys"][:5] == [
        *(["a", "all", "all"], ["b", "all", "all"], ["c", "all", "all"], ["=d", "all", "all"]),
        ["all", "[0, 18)", "all"],
    ]
    cells = [cell for each in release["marginals"] for cell in each["cells"]]
    assert [cell["value"] for cell in cells] == release["values"]
    deviations = [cell["standard_deviation"] for cell in cells]
    assert deviations == release["errors"]["standard_deviations"]
    assert max(deviations) == release["error"]["standard_deviation"]
    residuals = release["covariance"]["marginals"]
    labels, whole = residuals["labels"], residuals["residuals"]
    for each in release["marginals"]:
        variance = (
            sum(
                residual["variance"]
                * math.prod(1 - 1 / labels[name] for name in residual["columns"])
                for residual in whole
                if set(residual["columns"]) <= set(each["columns"])
            )
            / math.prod(labels[name] for name in each["columns"]) ** 2
        )
        assert each["cells"][0]["standard_deviation"] == pytest.approx(math.sqrt(variance))
    path = f"/api/v1/releases/{release['id']}/values?format=csv"
    table = list(csv.reader(io.StringIO(patients.call("GET", path, by="ann").text)))
    assert table[0][:4] == ["key_1", "key_2", "key_3", "value"]
    assert table[4][0] == "'=d"
    assert len(table) == 1 + len(cells)


def test_forms_are_beside_the_raw_values_and_the_same_for_every_reader(patients: World) -> None:
    raw, formed = released(patients), released(patients, FORMS)
    assert raw["report"] is None
    assert {cell["reported"] for each in raw["marginals"] for cell in each["cells"]} == {None}
    assert formed["report"] == {
        "forms": ["nonnegative", "whole", "total_preserving"],
        "lossless": "weakly",
    }
    assert tables(formed) == tables(raw)
    reported = tables(formed, "reported")
    total = round(sum(tables(raw)["ward",].values()))
    for table in reported.values():
        assert sum(table.values()) == total
        assert all(value >= 0 and value == int(value) for value in table.values())
    path = f"/api/v1/releases/{raw['id']}/values{FORMS}"
    assert patients.answer("GET", path, by="ann")["marginals"] == formed["marginals"]
    problem = patients.call("GET", f"/api/v1/releases/{raw['id']}/values?report=round", by="ann")
    assert parsed(problem)["errors"][0]["pointer"] == "/report"


def test_synthetic_rows_are_drawn_from_all_marginals(
    patients: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, asked = released(patients), []

    def drawn(document: Any) -> Any:
        asked.append(document)
        fits = [{"columns": ["ward"], "distance": 0.1, "fitted": True}]
        return {"codes": {"ward": [3, 0], "age": [2, 1], "urgent": [0, 1]}, "fits": fits}

    monkeypatch.setattr(apart, "drawn", drawn)
    rows = patients.answer("GET", f"/api/v1/releases/{release['id']}/synthetic", by="ann")
    assert rows["columns"]["ward"] == ["=d", "a"]
    assert rows["columns"]["age"] == ["[65, 100]", "[18, 65)"]
    (document,) = asked
    assert document["sizes"] == {"ward": 4, "age": 3, "urgent": 2}
    assert [each["columns"] for each in document["marginals"]] == [
        each["columns"] for each in release["marginals"]
    ]
    values = [value for each in document["marginals"] for value in each["values"]]
    assert values == release["values"]
    assert document["total"] == sum(tables(release)["ward",].values())


def test_a_preview_states_the_error_that_cells_have(patients: World) -> None:
    body = {**MARGINALS, "name": "more", "aggregate": {**MARGINALS["aggregate"], "up_to": 1}}
    preview = patients.answer("POST", "/api/v1/queries/preview", body, by="root")
    tiers = {each["tier"]: each for each in preview["tiers"]}
    assert tiers["internal"]["error"]["standard_deviation"] < 3
    ratio = tiers["public"]["error"]["half_width"] / tiers["internal"]["error"]["half_width"]
    assert ratio == pytest.approx(np.sqrt(10), rel=0.01)
    target = {"internal": {"half_width": 12}}
    body = {**body, "levels": target}
    [tier] = patients.answer("POST", "/api/v1/queries/preview", body, by="root")["tiers"]
    assert tier["error"]["half_width"] == pytest.approx(12, rel=0.01)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"aggregate": {"type": "marginals", "columns": ["age"]}}, "/aggregate/columns/0/column"),
        (
            {"aggregate": {"type": "marginals", "columns": ["ward", "alone"]}},
            "/aggregate/columns/1",
        ),
        ({"aggregate": {"type": "marginals", "columns": ["whole"]}}, "/aggregate/columns/0"),
        (
            {"aggregate": {**MARGINALS["aggregate"], "sets": [["ward"], ["urgent", "person"]]}},
            "/aggregate/sets/1/1",
        ),
        (
            {"aggregate": {**MARGINALS["aggregate"], "sets": [["ward", "age"], ["age", "ward"]]}},
            "/aggregate/sets/1",
        ),
        ({"aggregate": {**MARGINALS["aggregate"], "sets": [["ward"]], "up_to": 1}}, "/aggregate"),
        ({"group_by": ["ward"]}, "/group_by"),
        ({"mechanism": "laplace"}, "/mechanism"),
        ({"contribution": {"max_rows_per_group": 1}}, "/contribution/max_groups"),
        ({"structure": "correlated"}, "/structure"),
    ],
)
def test_what_has_no_marginals_is_refused_at_its_place(
    patients: World, change: dict[str, Any], pointer: str
) -> None:
    answer = patients.call(
        "POST", "/api/v1/queries", {**MARGINALS, "name": "wrong", **change}, by="root"
    )
    assert answer.status_code == 422
    assert pointer in parsed(answer)["errors"][0]["pointer"]
    assert patients.call("GET", "/api/v1/queries/wrong", by="root").status_code == 404


def test_a_level_is_drawn_beyond_others_and_raised(patients: World) -> None:
    beyond, own = released(patients, rho=0.02), released(patients)
    assert beyond["error"]["half_width"] > own["error"]["half_width"]
    change = {"levels": {"internal": {"rho": 1}}}
    patients.answer("PATCH", "/api/v1/queries/tables", change, by="root")
    patients.answer("PATCH", "/api/v1/users/ann", {"clearance": "internal"}, by="root")
    raised = released(patients)
    assert raised["error"]["half_width"] < own["error"]["half_width"] / 4
    assert released(patients, tier="public")["marginals"] == own["marginals"]


def test_the_same_marginals_in_another_order_are_the_same_statistic(patients: World) -> None:
    sets = [["age", "ward"], ["urgent"], ["urgent", "age"], ["ward"], ["ward", "urgent"], ["age"]]
    turned = {"type": "marginals", "columns": ["urgent", AGE, "ward"], "sets": sets}
    body = {**MARGINALS, "name": "again", "aggregate": turned}
    assert patients.call("POST", "/api/v1/queries", body, by="root").status_code == 409
