"""Test quantiles over HTTP: registered, previewed, released, read again, refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.world import World, parsed

from penstock.structures.bin_tree import BinTree

PATIENTS = 4000
AGES = [number * 37 % 101 if number % 3 else number * 11 % 40 for number in range(PATIENTS)]
HOSTILE = ["nan", "inf", "-inf", "", "x", "1e400"]
ROWS = (
    "person,ward,age,cost\n"
    + "".join(
        f"p{number},{'ab'[number % 2]},{age},{age / 2 + number % 7}\n"
        for number, age in enumerate(AGES)
    )
    + "".join(f"h{number},a,,{cell}\n" for number, cell in enumerate(HOSTILE))
)
DATASET: dict[str, Any] = {
    "name": "patients",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "columns": {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": ["a", "b", "empty"]},
        "age": {"type": "integer", "lower": 0, "upper": 100},
        "cost": {"type": "number", "lower": 0, "upper": 60},
        "flat": {"type": "number", "lower": 5, "upper": 5},
        "many": {"type": "integer", "categories": list(range(2000))},
    },
    "budgets": {"public": {"epsilon": 2}, "internal": {"epsilon": 40}},
}
QUANTILES: dict[str, Any] = {
    "name": "ages",
    "dataset": "patients",
    "aggregate": {"type": "quantiles", "column": "age", "probabilities": [0.25, 0.5, 0.75]},
    "contribution": {"max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.05}, "internal": {"rho": 5}},
}
BY_WARD: dict[str, Any] = {
    **QUANTILES,
    "name": "costs",
    "aggregate": {"type": "quantiles", "column": "cost", "probabilities": 0.5},
    "group_by": ["ward"],
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
}
ALWAYS = ("median", "interquartile_range", "minimum", "maximum")
PARTS = ("lower", "shares", "upper")
FIELDS = {"name", "key", "value", "lower", "upper", "standard_deviation", "interval"}


@pytest.fixture
def patients(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        path = folder / "patients.csv"
        path.write_text(ROWS.replace("cost\n", "cost,flat,many\n", 1).replace("\n", ",5,1\n"))
        path.write_text(path.read_text().replace("flat,many,5,1\n", "flat,many\n", 1))
        body = {**DATASET, "source": {"engine": "duckdb", "uri": str(path)}}
        world.answer("POST", "/api/v1/datasets", body, by="root")

    return grow("quantiles", fill)


def released(patients: World, query: dict[str, Any], by: str = "ann") -> dict[str, Any]:
    patients.answer("POST", "/api/v1/queries", query, by="root")
    found: dict[str, Any] = patients.answer(
        "POST", f"/api/v1/queries/{query['name']}/releases", {}, by=by
    )
    return found


def exact(probability: float) -> float:
    return float(np.sort(AGES)[int(np.ceil(probability * PATIENTS)) - 1])


def test_a_release_has_counts_of_bins_and_what_is_estimated_from_them(patients: World) -> None:
    release = released(patients, QUANTILES)
    assert len(release["values"]) == 101 + 26 + 7 + 2
    assert (release["keys"][0], release["keys"][-1]) == ("[0, 1)", "[64, 101] (64 bins)")
    estimates = {each["name"]: each for each in release["estimates"]}
    assert list(estimates) == [
        *("n", "quantile:0.25", "quantile:0.5", "quantile:0.75"),
        *ALWAYS,
    ]
    assert {*release["estimates"][0]} == FIELDS
    for probability in (0.25, 0.5, 0.75):
        each = estimates[f"quantile:{probability}"]
        assert each["lower"] <= each["value"] <= each["upper"]
        assert abs(each["value"] - exact(probability)) <= 3
        assert each["value"] == int(each["value"])
    assert estimates["median"]["value"] == estimates["quantile:0.5"]["value"]
    least, most = estimates["minimum"], estimates["maximum"]
    assert least["lower"] == 0 <= least["value"] <= least["upper"] < 20
    assert 80 < most["lower"] <= most["value"] <= most["upper"] == 100
    assert least["standard_deviation"] is most["standard_deviation"] is None
    (distribution,) = release["distributions"]
    assert distribution["key"] is None
    for part in PARTS:
        assert distribution[part] == sorted(distribution[part])
        assert len(distribution[part]) == len(release["quantiles"]["edges"]) - 1


def test_any_further_probability_is_read_from_the_same_release(patients: World) -> None:
    release = released(patients, QUANTILES)
    before = patients.answer("GET", "/api/v1/datasets/patients/budget", by="root")
    path = f"/api/v1/releases/{release['id']}/values"
    assert patients.answer("GET", path, by="ann") == release
    more = patients.answer("GET", f"{path}?probabilities=0.9,0.1", by="ann")
    assert [each["name"] for each in more["estimates"]] == [
        *("n", "quantile:0.1", "quantile:0.9", *ALWAYS)
    ]
    assert more["values"] == release["values"]
    wider = patients.answer("GET", f"{path}?probabilities=0.1&interval=population", by="ann")
    narrow, wide = more["estimates"][1], wider["estimates"][1]
    assert (wide["interval"], narrow["interval"]) == ("population", "noise")
    assert wide["lower"] <= narrow["lower"] <= narrow["upper"] <= wide["upper"]
    assert wide["standard_deviation"] > narrow["standard_deviation"]
    assert patients.answer("GET", "/api/v1/datasets/patients/budget", by="root") == before
    again = {**QUANTILES, "name": "again"}
    again["aggregate"] = {**QUANTILES["aggregate"], "probabilities": [0.01]}
    refused = parsed(patients.call("POST", "/api/v1/queries", again, by="root"))
    assert refused["status"] == 409
    assert "ages" in refused["detail"]


@pytest.mark.parametrize("text", ["0", "1", "0.5,1.5", "nan", "x", ""])
def test_probabilities_outside_of_0_and_1_are_refused(patients: World, text: str) -> None:
    release = released(patients, QUANTILES)
    path = f"/api/v1/releases/{release['id']}/values?probabilities={text}"
    problem = parsed(patients.call("GET", path, by="ann"))
    assert (problem["status"], problem["errors"][0]["pointer"]) == (422, "/probabilities")


def test_only_quantiles_have_probabilities(patients: World) -> None:
    release = released(patients, {**QUANTILES, "name": "count", "aggregate": {"type": "count"}})
    path = f"/api/v1/releases/{release['id']}/values?probabilities=0.5"
    assert "has no quantiles" in str(parsed(patients.call("GET", path, by="ann")))


def test_groups_have_quantiles_of_their_own_and_an_empty_one_has_none(patients: World) -> None:
    release = released(patients, BY_WARD)
    by_key = {(each["key"], each["name"]): each for each in release["estimates"]}
    for ward in "ab":
        costs = np.sort(
            [age / 2 + number % 7 for number, age in enumerate(AGES) if "ab"[number % 2] == ward]
        )
        each = by_key[ward, "quantile:0.5"]
        assert abs(each["value"] - np.median(costs)) < 3
    # Cells that are no numbers are left out; nobody is in the last ward.
    count = by_key["empty", "n"]
    assert abs(count["value"]) < 6 * count["standard_deviation"]
    # Noise alone is taken for rows as often as the interval of their number says.
    unclear = count["lower"] <= 0
    distribution = release["distributions"][2]
    assert distribution["key"] == "empty"
    for value in (by_key["empty", "median"]["value"], *map(distribution.get, PARTS)):
        assert (value is None) == unclear


def test_bins_at_powers_of_two_tell_which_bounds_fit(patients: World) -> None:
    aggregate = {"type": "quantiles", "column": "cost", "scale": "log", "probabilities": 0.95}
    release = released(patients, {**QUANTILES, "name": "fit", "aggregate": aggregate})
    assert len(release["quantiles"]["edges"]) == 255
    highest = release["estimates"][1]
    assert (highest["lower"], highest["upper"]) in [(32, 64), (32, 128)]
    budget = patients.answer("GET", "/api/v1/datasets/patients/budget", by="root")
    assert [each["query"] for each in budget["tiers"][0]["queries"]] == ["fit"]


def test_a_preview_states_the_sensitivity_of_one_path_through_the_tree(patients: World) -> None:
    preview = patients.answer("POST", "/api/v1/queries/preview", QUANTILES, by="root")
    assert preview["dimension"] == 136
    assert preview["sensitivity"] == {"l1": 4, "l2": 2, "linf": 1}


def test_a_preview_states_the_error_of_ranks_and_reads_nothing(patients: World) -> None:
    wanted = {**QUANTILES["aggregate"], "probabilities": [0.1, 0.9]}
    body = {**QUANTILES, "aggregate": wanted}
    preview = patients.answer("POST", "/api/v1/queries/preview", body, by="root")
    tree = BinTree(101).spread
    for tier in preview["tiers"]:
        assert [rank["probability"] for rank in tier["ranks"]] == [0.1, 0.5, 0.9]
        for rank in tier["ranks"]:
            node, own = tier["error"], rank["error"]
            largest = np.sqrt(tree.around(rank["probability"]).max()) * node["standard_deviation"]
            assert own["standard_deviation"] == pytest.approx(largest)
            assert own["half_width"] == pytest.approx(1.959964 * largest, rel=1e-4)
            assert own["confidence"] == node["confidence"]
    count = {**QUANTILES, "aggregate": {"type": "count"}}
    other = patients.answer("POST", "/api/v1/queries/preview", count, by="root")
    assert {tier["ranks"] for tier in other["tiers"]} == {None}


@pytest.mark.parametrize(
    ("aggregate", "more", "pointer"),
    [
        ({"probabilities": [0.5, 1]}, {}, "/aggregate/probabilities/1"),
        ({"probabilities": []}, {}, "/aggregate/probabilities"),
        ({"column": "flat"}, {}, "/aggregate/upper"),
        ({"column": "ward"}, {}, "/aggregate/column"),
        ({"column": "many"}, {}, "/aggregate/lower"),
        ({"lower": 3, "upper": 3}, {}, "/aggregate/upper"),
        ({"bins": 1}, {}, "/aggregate/bins"),
        ({"scale": "log", "lower": 0}, {}, "/aggregate/lower"),
        ({"whole": False}, {}, "/aggregate/whole"),
        ({"column": "cost"}, {"group_by": ["many"]}, "/aggregate/bins"),
    ],
)
def test_what_has_no_quantiles_is_refused_by_its_place(
    patients: World, aggregate: dict[str, Any], more: dict[str, Any], pointer: str
) -> None:
    wrong = {**QUANTILES, "aggregate": {**QUANTILES["aggregate"], **aggregate}, **more}
    if more:
        wrong["contribution"] = {"max_groups": 1, "max_rows_per_group": 1}
    problem = parsed(patients.call("POST", "/api/v1/queries", wrong, by="root"))
    assert problem["status"] == 422
    assert pointer in {each["pointer"] for each in problem["errors"]}
    spent = patients.answer("GET", "/api/v1/datasets/patients/budget", by="root")
    assert {tier["spent"]["epsilon"] for tier in spent["tiers"]} == {0}
