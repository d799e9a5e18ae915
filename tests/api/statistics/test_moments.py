"""Test moments and regressions over HTTP: registered, previewed, released, refused."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.world import World, parsed

PATIENTS = 4000
ROWS = "person,ward,age,cost\n" + "".join(
    f"p{number},{'ab'[number % 2]},{number % 100},{(number % 100) / 2 + number * 7 % 31 - 15:g}\n"
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
        "ward": {"type": "string", "categories": ["a", "b"]},
        "age": {"type": "integer", "lower": 0, "upper": 100},
        "cost": {"type": "number", "lower": -20, "upper": 80},
    },
    "budgets": {"public": {"epsilon": 2}, "internal": {"epsilon": 40}},
}
MOMENTS: dict[str, Any] = {
    "name": "spread",
    "dataset": "patients",
    "aggregate": {"type": "moments", "columns": ["age", "cost"]},
    "contribution": {"max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.05}, "internal": {"rho": 0.5}},
}
SLOPE: dict[str, Any] = {
    **MOMENTS,
    "name": "slope",
    "aggregate": {"type": "regression", "outcome": "cost", "predictors": ["age"], "grid": 1024},
    "group_by": [{"column": "ward"}],
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
}
NAMES = [
    *("n", "sum:age", "sum:cost", "mean:age", "mean:cost", "variance:age", "variance:cost"),
    *("standard_deviation:age", "standard_deviation:cost"),
    *("covariance:age,cost", "correlation:age,cost"),
]
CHOSEN = {"n": 6, "sum:age": 8, "sum:cost": 8, "sum:age,age": 7, "sum:age,cost": 8}
CHOSEN["sum:cost,cost"] = 7
FIELDS = {"name", "key", "value", "lower", "upper", "standard_deviation", "interval"}


@pytest.fixture
def patients(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        path = folder / "patients.csv"
        path.write_text(ROWS)
        body = {**DATASET, "source": {"engine": "duckdb", "uri": str(path)}}
        world.answer("POST", "/api/v1/datasets", body, by="root")

    return grow("patients", fill)


def released(patients: World, query: dict[str, Any], more: str = "") -> dict[str, Any]:
    patients.answer("POST", "/api/v1/queries", query, by="root")
    path = f"/api/v1/queries/{query['name']}/releases{more}"
    found: dict[str, Any] = patients.answer("POST", path, {}, by="ann")
    return found


def test_a_release_has_the_sums_and_what_is_estimated_from_them(patients: World) -> None:
    release = released(patients, MOMENTS)
    assert release["keys"] == [
        *("n", "sum:age", "sum:cost", "sum:age,age", "sum:age,cost", "sum:cost,cost")
    ]
    estimates = release["estimates"]
    assert [each["name"] for each in estimates] == NAMES
    assert {*estimates[0]} == FIELDS
    assert {each["key"] for each in estimates} == {None}
    assert {each["interval"] for each in estimates} == {"noise"}
    age, cost = np.loadtxt(io.StringIO(ROWS), delimiter=",", skiprows=1, usecols=(2, 3)).T
    exact = [
        *(
            PATIENTS,
            age.sum(),
            cost.sum(),
            age.mean(),
            cost.mean(),
            age.var(),
            cost.var(),
            age.std(),
            cost.std(),
        ),
        *(np.cov(age, cost, bias=True)[0, 1], np.corrcoef(age, cost)[0, 1]),
    ]
    for each, expected in zip(estimates, exact, strict=True):
        assert each["lower"] < each["value"] < each["upper"]
        assert abs(each["value"] - expected) < 6 * each["standard_deviation"]


def test_sums_of_order_1_are_one_vector_in_one_charge(patients: World) -> None:
    sums = {**MOMENTS, "aggregate": {**MOMENTS["aggregate"], "order": 1}}
    preview = patients.answer("POST", "/api/v1/queries/preview", sums, by="root")
    release = released(patients, sums)
    assert preview["sensitivity"]["l1"] == 3
    assert release["keys"] == ["n", "sum:age", "sum:cost"]
    assert release["moments"]["order"] == 1
    assert [each["name"] for each in release["estimates"]] == NAMES[:5]
    age, cost = np.loadtxt(io.StringIO(ROWS), delimiter=",", skiprows=1, usecols=(2, 3)).T
    exact = [PATIENTS, age.sum(), cost.sum(), age.mean(), cost.mean()]
    for each, expected in zip(release["estimates"], exact, strict=True):
        assert each["lower"] < each["value"] < each["upper"]
        assert abs(each["value"] - expected) < 6 * each["standard_deviation"]
    path = f"/api/v1/releases/{release['id']}/values"
    assert patients.answer("GET", path, by="ann") == release
    wider = patients.answer("GET", f"{path}?interval=population", by="ann")["estimates"]
    assert [each["interval"] for each in wider] == [*["noise"] * 3, *["population"] * 2]
    refused = patients.call("GET", f"{path}?outcome=cost", by="ann")
    assert refused.status_code == 422
    assert "sums without products" in refused.text


def test_the_estimates_of_a_stored_release_are_the_same_again(patients: World) -> None:
    release = released(patients, MOMENTS)
    path = f"/api/v1/releases/{release['id']}/values"
    assert patients.answer("GET", path, by="ann") == release
    part = patients.answer("GET", f"{path}?from=1&to=2", by="ann")
    assert (part["values"], part["estimates"]) == (release["values"][1:3], release["estimates"])
    wider = patients.answer("GET", f"{path}?interval=population", by="ann")
    assert [each["interval"] for each in wider["estimates"]] == [
        *["noise"] * 3,
        *["population"] * 8,
    ]
    for told, each in zip(release["estimates"][3:], wider["estimates"][3:], strict=True):
        assert each["value"] == told["value"]
        assert each["standard_deviation"] > told["standard_deviation"]
    ends = patients.answer("GET", f"{path}?interval=population&from=1&to=2", by="ann")
    assert ends["estimates"] == wider["estimates"]


def test_a_regression_has_the_coefficients_of_each_group(patients: World) -> None:
    release = released(patients, SLOPE, "?interval=population")
    assert release["moments"]["outcome"] == "cost"
    estimates = {(each["name"], each["key"]): each for each in release["estimates"]}
    assert list(estimates) == [
        (name, ward) for ward in "ab" for name in ("n", "intercept", "coefficient:age")
    ]
    rows = list(csv.DictReader(io.StringIO(ROWS)))
    for ward in "ab":
        own = [row for row in rows if row["ward"] == ward]
        age, cost = (np.array([float(row[name]) for row in own]) for name in ("age", "cost"))
        slope, intercept = np.polyfit(age, cost, 1)
        for name, exact in (("intercept", intercept), ("coefficient:age", slope)):
            each = estimates[name, ward]
            assert abs(each["value"] - exact) < 6 * each["standard_deviation"]


def test_a_more_trusted_tier_has_narrower_intervals(patients: World) -> None:
    public = released(patients, MOMENTS)
    patients.answer("PATCH", "/api/v1/users/ann", {"clearance": "internal"}, by="root")
    internal = patients.answer("POST", "/api/v1/queries/spread/releases", {}, by="ann")
    for wide, narrow in zip(public["estimates"], internal["estimates"], strict=True):
        assert narrow["standard_deviation"] < wide["standard_deviation"]


def test_a_level_that_is_too_noisy_has_a_count_and_sums_and_no_other_number(
    patients: World,
) -> None:
    few = {**MOMENTS, "where": [{"column": "age", "op": "<", "value": 1}]}
    estimates = released(patients, few)["estimates"]
    assert estimates[0]["value"] is not None
    assert None not in {each["value"] for each in estimates[:3]}
    assert {each["value"] for each in estimates[3:]} == {None}


def test_the_spec_keeps_the_bounds_and_the_grid_that_were_planned(patients: World) -> None:
    released(patients, MOMENTS)
    spec = patients.answer("GET", "/api/v1/queries/spread", by="root")["spec"]
    assert spec["aggregate"] == {
        "type": "moments",
        "columns": ["age", "cost"],
        "bounds": {"age": [0.0, 100.0], "cost": [-20.0, 80.0]},
        "grid": 32768,
        "weights": CHOSEN,
    }
    preview = patients.answer("POST", "/api/v1/queries/preview", {"query": "spread"}, by="root")
    assert preview["registered"]


def test_a_preview_shows_the_weights_and_how_noisy_estimates_would_be(patients: World) -> None:
    preview = patients.answer("POST", "/api/v1/queries/preview", MOMENTS, by="root")
    for tier in preview["tiers"]:
        expected = tier["expected"]
        assert {each["name"]: each["weight"] for each in expected["weights"]} == CHOSEN
        assert [each["name"] for each in expected["estimates"]] == NAMES
        assert expected["rows"] == 1000
    release = released(patients, MOMENTS)
    assert release["moments"]["weights"] == [*CHOSEN.values()]
    deviations = release["errors"]["standard_deviations"]
    assert deviations[0] == pytest.approx(max(deviations))
    for one, weight in zip(deviations, CHOSEN.values(), strict=True):
        assert one == pytest.approx(deviations[0] * CHOSEN["n"] / weight)
    said = {each["name"]: each for each in preview["tiers"][0]["expected"]["estimates"]}
    for each in release["estimates"][:3]:
        expected = said[each["name"]]["standard_deviation"]
        assert each["standard_deviation"] == pytest.approx(expected, rel=1e-3)
    registered = {"query": "spread"}
    again = patients.answer("POST", "/api/v1/queries/preview", registered, by="root")
    assert [tier["expected"] for tier in again["tiers"]] == [
        tier["expected"] for tier in preview["tiers"]
    ]


def test_weights_of_ones_own_share_the_noise_and_equal_ones_are_another_statistic(
    patients: World,
) -> None:
    for_product = {**dict.fromkeys(CHOSEN, 1), "sum:age,cost": 64}
    deviations = []
    for name, weights in (("product", for_product), ("equal", "equal")):
        aggregate = {**MOMENTS["aggregate"], "weights": weights}
        levels = {"public": {"rho": 0.01}}
        body = {**MOMENTS, "name": name, "aggregate": aggregate, "levels": levels}
        release = released(patients, body)
        errors = release["errors"]
        each = errors and errors["standard_deviations"][4]
        deviations.append(each or release["error"]["standard_deviation"])
    # Nearly all of the sensitivity is that of one number in place of six.
    assert deviations[0] == pytest.approx(deviations[1] / 6**0.5, rel=0.02)
    spec = patients.answer("GET", "/api/v1/queries/product", by="root")["spec"]
    assert spec["aggregate"]["weights"] == for_product


@pytest.mark.parametrize(
    ("aggregate", "pointer"),
    [
        ({"type": "moments", "columns": []}, "/aggregate/columns"),
        ({"type": "moments", "columns": ["age", "age"]}, "/aggregate/columns"),
        ({"type": "moments", "columns": ["ward"]}, "/aggregate/columns/0"),
        ({"type": "moments", "columns": ["age", "height"]}, "/aggregate/columns/1"),
        ({"type": "moments", "columns": ["age"], "grid": 1000}, "/aggregate/grid"),
        ({"type": "moments", "columns": ["age"], "grid": 2}, "/aggregate/grid"),
        (
            {"type": "moments", "columns": ["age"], "bounds": {"cost": [0, 1]}},
            "/aggregate/bounds/cost",
        ),
        (
            {"type": "moments", "columns": ["age"], "bounds": {"age": [5, 5]}},
            "/aggregate/bounds/age",
        ),
        (
            {"type": "moments", "columns": ["age"], "bounds": {"age": [1e18, 1e18 + 256]}},
            "/aggregate/columns/0",
        ),
        (
            {"type": "regression", "outcome": "age", "predictors": ["age"]},
            "/aggregate/predictors",
        ),
        ({"type": "regression", "outcome": "ward", "predictors": ["age"]}, "/aggregate/outcome"),
        ({"type": "regression", "outcome": "age", "predictors": []}, "/aggregate/predictors"),
        ({"type": "moments", "columns": ["age"], "weights": {"n": 1}}, "/aggregate/weights"),
        ({"type": "moments", "columns": ["age"], "weights": "best"}, "/aggregate/weights"),
    ],
)
def test_what_has_no_meaning_is_refused_at_its_place_and_charged_to_nobody(
    patients: World, aggregate: dict[str, Any], pointer: str
) -> None:
    before = patients.answer("GET", "/api/v1/datasets/patients/budget", by="root")
    body = {**MOMENTS, "aggregate": aggregate}
    problem = parsed(patients.call("POST", "/api/v1/queries", body, by="root"))
    assert problem["status"] == 422
    assert [each["pointer"] for each in problem["errors"]] == [pointer]
    assert patients.answer("GET", "/api/v1/datasets/patients/budget", by="root") == before


def test_the_same_columns_in_another_order_are_the_same_statistic(patients: World) -> None:
    released(patients, MOMENTS)
    turned = {"type": "moments", "columns": ["cost", "age"]}
    body = {**MOMENTS, "name": "again", "aggregate": turned}
    assert patients.call("POST", "/api/v1/queries", body, by="root").status_code == 409


def test_moments_are_read_as_a_regression_that_costs_nothing(patients: World) -> None:
    release = released(patients, MOMENTS)
    before = patients.answer("GET", "/api/v1/datasets/patients/budget", by="root")
    path = f"/api/v1/releases/{release['id']}/values"
    read = patients.answer("GET", f"{path}?outcome=cost&interval=population", by="ann")
    assert (read["values"], read["moments"]) == (release["values"], release["moments"])
    n, intercept, slope = read["estimates"]
    assert (n["name"], intercept["name"]) == ("n", "intercept")
    assert (slope["name"], slope["interval"]) == ("coefficient:age", "population")
    assert slope["lower"] < 0.5 < slope["upper"]
    turned = patients.answer("GET", f"{path}?outcome=age", by="ann")
    assert [each["name"] for each in turned["estimates"]][2] == "coefficient:cost"
    assert patients.answer("GET", f"{path}?outcome=cost&predictors=age", by="ann") == (
        patients.answer("GET", f"{path}?outcome=cost", by="ann")
    )
    assert patients.answer("GET", "/api/v1/datasets/patients/budget", by="root") == before
    again = {**SLOPE, "group_by": [], "contribution": {"max_rows_per_group": 1}}
    again["aggregate"] = {"type": "regression", "outcome": "cost", "predictors": ["age"]}
    # With other weights it is another statistic, and with these the one that there is.
    again["aggregate"]["weights"] = CHOSEN
    refused = patients.call("POST", "/api/v1/queries", again, by="root")
    assert refused.status_code == 409
    assert "Read its releases with outcome and predictors." in refused.text


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("outcome=ward", "/outcome"),
        ("predictors=age", "/outcome"),
        ("outcome=cost&predictors=cost", "/predictors"),
        ("outcome=cost&predictors=age,age", "/predictors"),
        ("outcome=cost&predictors=age,,", "/predictors"),
    ],
)
def test_a_regression_of_other_columns_is_refused_at_its_place(
    patients: World, wanted: str, place: str
) -> None:
    release = released(patients, MOMENTS)
    path = f"/api/v1/releases/{release['id']}/values?{wanted}"
    refused = patients.call("GET", path, by="ann")
    assert refused.status_code == 422
    assert parsed(refused)["errors"][0]["pointer"] == place


def test_a_level_that_is_raised_reads_the_same_statement_again(patients: World) -> None:
    before = released(patients, SLOPE)
    spec = patients.answer("GET", "/api/v1/queries/slope", by="root")
    change = {"levels": {"internal": {"rho": 2}}}
    raised = patients.answer("PATCH", "/api/v1/queries/slope", change, by="root")
    assert raised["sql_sha256"] == spec["sql_sha256"]
    patients.answer("PATCH", "/api/v1/users/ann", {"clearance": "internal"}, by="root")
    after = patients.answer("POST", "/api/v1/queries/slope/releases", {}, by="ann")
    for wide, narrow in zip(before["estimates"], after["estimates"], strict=True):
        assert narrow["standard_deviation"] < wide["standard_deviation"] / 4
        assert abs(narrow["value"] - wide["value"]) < 6 * wide["standard_deviation"]


def test_bounds_that_are_declared_anew_change_no_query_that_has_its_own(patients: World) -> None:
    first = released(patients, MOMENTS)
    columns = {"age": {"type": "integer", "lower": 0, "upper": 1000}}
    patients.answer("PATCH", "/api/v1/datasets/patients", {"columns": columns}, by="root")
    path = f"/api/v1/releases/{first['id']}/values"
    assert patients.answer("GET", path, by="ann")["estimates"] == first["estimates"]
