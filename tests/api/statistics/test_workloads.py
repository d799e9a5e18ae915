"""Test workloads over HTTP: registered, previewed by strategy, released with answers, refused."""

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.world import World, parsed

from penstock_client import Release
from penstock_client._http.fields import Fields
from penstock_client.derived import answers, combination

PATIENTS = 1200
ROWS = "person,ward,age,urgent,alone\n" + "".join(
    f"p{number},{'abc'[number % 3]},{number % 101 - 1},{'yes' if number % 7 else 'true'},x\n"
    for number in range(PATIENTS)
)
EDGES = list(range(0, 105, 5))
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
    },
    "budgets": {"public": {"epsilon": 2}, "internal": {"epsilon": 40}},
}
WARDS = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, -2, 0]]
OWN = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 0]]
WORKLOAD: dict[str, Any] = {
    "name": "ranges",
    "dataset": "patients",
    "aggregate": {
        "type": "workload",
        "columns": ["ward", {"column": "age", "bins": EDGES}],
        "queries": [WARDS, "all_ranges"],
        "strategy": [OWN, "tree"],
    },
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.05}, "internal": {"rho": 0.5}},
}


@pytest.fixture
def patients(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        path = folder / "patients.csv"
        path.write_text(ROWS)
        body = {**DATASET, "source": {"engine": "duckdb", "uri": str(path)}}
        world.answer("POST", "/api/v1/datasets", body, by="root")
        world.answer("POST", "/api/v1/queries", WORKLOAD, by="root")

    return grow("workload", fill)


def released(patients: World, **request: object) -> dict[str, Any]:
    path = "/api/v1/queries/ranges/releases"
    release: dict[str, Any] = patients.answer("POST", path, request, by="ann")
    return release


def cells() -> np.ndarray:
    """Return the number of rows of each ward and bin of ages."""
    counts = np.zeros((4, len(EDGES) - 1))
    for number in range(PATIENTS):
        age = number % 101 - 1
        if age >= 0:
            counts[number % 3, min(age // 5, len(EDGES) - 2)] += 1
    return counts


def test_values_are_the_sums_of_the_strategy_and_estimates_the_answers(patients: World) -> None:
    release = released(patients)
    labels = ["a", "b", "c to =d", "row 4"]
    assert [key[0] for key in release["keys"][:: len(release["keys"]) // 4]] == labels
    nodes = np.array(OWN) @ cells()
    leaves = np.array(release["values"]).reshape(4, -1)[:, : len(EDGES) - 1]
    deviation = release["error"]["standard_deviation"]
    assert abs(leaves - nodes).max() < 6 * deviation
    assert len(release["estimates"]) == 3 * 20 * 21 // 2
    answers = {tuple(each["key"]): each for each in release["estimates"]}
    exact = np.array(WARDS) @ cells()
    for place, ward in enumerate(["a to b", "c to =d", "row 3"]):
        for ages, start, end in (("all", 0, 20), ("[0, 5) to [10, 15)", 0, 3), ("[5, 10)", 1, 2)):
            answer = answers[ward, ages]
            assert (answer["name"], answer["interval"]) == ("answer", "noise")
            off = answer["value"] - exact[place, start:end].sum()
            assert abs(off) < 6 * answer["standard_deviation"]
            width = answer["upper"] - answer["value"]
            assert width == pytest.approx(1.96 * answer["standard_deviation"], rel=1e-3)
    assert release["covariance"] is None


def test_answers_have_their_joint_covariance_and_the_client_computes_with_it(
    patients: World,
) -> None:
    document = released(patients)
    stated = document["answers_covariance"]
    assert [len(each) for each in stated["factors"]] == [3, 20 * 21 // 2]
    assert stated["variance"] == pytest.approx(document["error"]["standard_deviation"] ** 2)
    diagonal = np.kron(*(np.diag(np.array(each)) for each in stated["factors"]))
    deviations = [each["standard_deviation"] for each in document["estimates"]]
    assert np.sqrt(stated["variance"] * diagonal) == pytest.approx(deviations)
    shown = answers(Release.read(Fields(document, "release")))
    # All ages are those below 50 and the others, in every ward.
    parts = {("a to b", "all"): 1, ("a to b", "[0, 5) to [45, 50)"): -1}
    rest = combination(shown, {**parts, ("a to b", "[50, 55) to [95, 100]"): -1})
    assert rest.standard_deviation < 1e-6 * deviations[0]
    others = combination(shown, parts)
    single = combination(shown, {("a to b", "[50, 55) to [95, 100]"): 1})
    assert others.value == pytest.approx(single.value)
    assert others.standard_deviation == pytest.approx(single.standard_deviation)


def test_values_are_a_table_with_a_column_for_each_part_of_a_key(patients: World) -> None:
    release = released(patients)
    path = f"/api/v1/releases/{release['id']}/values?format=csv"
    table = list(csv.reader(io.StringIO(patients.call("GET", path, by="ann").text)))
    assert table[0][:3] == ["key_1", "key_2", "value"]
    assert len(table) == 1 + len(release["values"])


def test_a_preview_compares_the_strategies_at_the_same_charge(patients: World) -> None:
    body = {**WORKLOAD, "name": "more", "aggregate": {**WORKLOAD["aggregate"], "queries": "prefix"}}
    body["aggregate"]["strategy"] = "identity"
    preview = patients.answer("POST", "/api/v1/queries/preview", body, by="root")
    shown = {each["strategy"]: each for each in preview["strategies"]}
    assert list(shown) == ["identity", "tree", "marginals"]
    assert [each["requested"] for each in shown.values()] == [True, False, False]
    assert [each["dimension"] for each in shown.values()] == [80, 4 * 27, 5 * 21]
    [public, _] = shown["identity"]["tiers"]
    node = preview["tiers"][0]["error"]["standard_deviation"]
    assert public["largest"]["standard_deviation"] == pytest.approx(node * math.sqrt(80))
    mean = math.sqrt(np.mean([k * m for k in range(1, 5) for m in range(1, 21)]))
    assert public["mean_deviation"] == pytest.approx(node * mean)
    # Registering another strategy at the same level has the error that is stated here.
    own = {**body, "aggregate": {**body["aggregate"], "strategy": "tree"}}
    again = patients.answer("POST", "/api/v1/queries/preview", own, by="root")["strategies"]
    assert (again[0]["strategy"], again[0]["requested"]) == ("tree", True)
    for tier, other in zip(shown["tree"]["tiers"], again[0]["tiers"], strict=True):
        assert tier["mean_deviation"] == pytest.approx(other["mean_deviation"], rel=0.01)
    mixed = {**body, "aggregate": {**WORKLOAD["aggregate"], "strategy": [OWN, "marginals"]}}
    first = patients.answer("POST", "/api/v1/queries/preview", mixed, by="root")["strategies"][0]
    assert (first["strategy"], first["requested"]) == (None, True)
    assert (
        patients.answer("POST", "/api/v1/queries/preview", {"query": "ranges"}, by="root")[
            "strategies"
        ]
        is None
    )


AGGREGATE: dict[str, Any] = WORKLOAD["aggregate"]


def changed(**parts: object) -> dict[str, Any]:
    return {"aggregate": {**AGGREGATE, **parts}}


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        (changed(columns=["age", "ward"]), "/aggregate/columns/0/column", "Keys are declared"),
        (changed(columns=["ward", "alone"]), "/aggregate/columns/1", "one key alone"),
        (changed(queries="tree"), "/aggregate/queries", "named matrices"),
        (changed(queries=["total"]), "/aggregate/queries", "1 entries"),
        (changed(queries=[[[1, 1, 1]], "total"]), "/aggregate/queries/0", "has 4 keys"),
        (changed(queries=[[[0, 0, 0, 0]], "total"]), "/aggregate/queries/0/0", "all 0"),
        (changed(queries=[[[1, 0, 0, 1.5]], "total"]), "/aggregate/queries/0", "integers from"),
        (changed(queries=[[[1, 0, 0, True]], "total"]), "/aggregate/queries/0", "integers from"),
        (changed(queries=[[[1, 0, 0, 2**70]], "total"]), "/aggregate/queries/0", "-1000 to"),
        (changed(queries=[[[1], [1, 2]], "total"]), "/aggregate/queries/0", "list of 1 to"),
        (changed(queries=[[], "total"]), "/aggregate/queries/0", "list of 1 to"),
        (changed(queries=5), "/aggregate/queries", "for each column"),
        (changed(strategy="prefix"), "/aggregate/strategy", "named matrices"),
        (changed(strategy="total"), "/aggregate/strategy", "no combination"),
        (
            changed(strategy=[[[1, 0, 0, 0], [0, 1, 1, 0]], "tree"]),
            "/aggregate/strategy/0",
            "all rows of the strategy of ward are 0 for the key =d",
        ),
        (
            changed(strategy=[[[1, 1, 0, 0], [0, 1, 1, 1]], "tree"]),
            "/aggregate/strategy/0",
            "query c to =d of ward is no combination",
        ),
        ({"group_by": ["ward"]}, "/group_by", "in columns"),
        ({"mechanism": "laplace"}, "/mechanism", "gaussian noise alone"),
        ({"contribution": {"max_rows_per_group": 1}}, "/contribution/max_groups", "Say in how"),
        ({"structure": "correlated"}, "/structure", ""),
    ],
)
def test_what_is_no_workload_is_refused_at_its_place(
    patients: World, change: dict[str, Any], pointer: str, words: str
) -> None:
    body = {**WORKLOAD, "name": "wrong", **change}
    answer = patients.call("POST", "/api/v1/queries", body, by="root")
    assert answer.status_code == 422
    [first, *_] = parsed(answer)["errors"]
    assert first["pointer"] == pointer
    assert words.lower() in first["detail"].lower()
    assert patients.call("GET", "/api/v1/queries/wrong", by="root").status_code == 404


def test_too_many_cells_sums_and_answers_are_refused(patients: World) -> None:
    age = {"column": "age", "bins": [number / 16 for number in range(4001)]}
    few = {"column": "age", "bins": list(range(1001))}
    for columns, queries, strategy, pointer, words in (
        ([age, "ward"], "total", "tree", "/aggregate/strategy", "at most 1024"),
        ([few, "ward"], "all_ranges", "identity", "/aggregate/queries", "5005000 answers"),
    ):
        aggregate = {"type": "workload", "columns": columns, "queries": queries}
        body = {**WORKLOAD, "name": "wide", "aggregate": {**aggregate, "strategy": strategy}}
        answer = patients.call("POST", "/api/v1/queries/preview", body, by="root")
        assert parsed(answer)["errors"][0]["pointer"] == pointer
        assert words in parsed(answer)["errors"][0]["detail"]


def test_a_level_is_drawn_beyond_others_and_raised(patients: World) -> None:
    beyond, own = released(patients, rho=0.02), released(patients)
    assert beyond["error"]["half_width"] > own["error"]["half_width"]
    change = {"levels": {"internal": {"rho": 1}}}
    patients.answer("PATCH", "/api/v1/queries/ranges", change, by="root")
    patients.answer("PATCH", "/api/v1/users/ann", {"clearance": "internal"}, by="root")
    raised = released(patients)
    assert raised["error"]["half_width"] < own["error"]["half_width"] / 4
    again = released(patients, tier="public")
    assert (again["values"], again["estimates"]) == (own["values"], own["estimates"])


def test_other_queries_of_the_same_strategy_are_the_same_statistic(patients: World) -> None:
    turned = {
        "type": "workload",
        "columns": [{"column": "age", "bins": EDGES}, "ward"],
        "queries": "identity",
        "strategy": ["tree", OWN],
    }
    body = {**WORKLOAD, "name": "again", "aggregate": turned}
    answer = patients.call("POST", "/api/v1/queries", body, by="root")
    assert answer.status_code == 409
    assert "ranges" in parsed(answer)["detail"]
