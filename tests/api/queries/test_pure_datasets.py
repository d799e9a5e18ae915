"""Test a dataset with delta 0 over HTTP: registered, refused by name, previewed, released, read."""

import pytest
from tests.api.world import World, parsed

PURE = {
    "name": "pure",
    "source": {"engine": "vector"},
    "neighboring": "add_remove",
    "delta": 0,
    "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 2}},
}

COUNTS = {
    "name": "counts",
    "dataset": "pure",
    "values": [120, 7, 0],
    "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
    "mechanism": "laplace",
    "granularity": 1,
    "levels": {"public": {"epsilon": 0.25}, "internal": {"epsilon": 0.5}},
}


@pytest.fixture
def pure(world: World) -> World:
    """Return the world with a dataset of delta 0."""
    assert world.answer("POST", "/api/v1/datasets", PURE, by="root")["delta"] == 0
    return world


def test_a_release_is_previewed_registered_and_read(pure: World) -> None:
    seen = pure.answer("POST", "/api/v1/queries/preview", COUNTS, by="root")
    charges = [tier["charge"] for tier in seen["tiers"]]
    assert [charge["order"] for charge in charges] == [None, None]
    assert [charge["failure"] for charge in charges] == [0, 0]
    pure.answer("POST", "/api/v1/queries", COUNTS, by="root")
    release = pure.answer("POST", "/api/v1/queries/counts/releases", {}, by="ian")
    assert release["granularity"] == 1
    assert all(float(value).is_integer() for value in release["values"])
    assert release["guarantee"]["delta"] == 0
    assert release["guarantee"]["definition"] == "pure"
    again = pure.answer("POST", "/api/v1/queries/counts/releases", {"epsilon": 0.1}, by="ian")
    assert again["guarantee"]["epsilon"] <= 0.1
    left = pure.answer("GET", "/api/v1/datasets/pure/budget", by="olga")
    spent = {line["tier"]: line["spent"] for line in left["tiers"]}
    assert spent["internal"]["delta"] == 0
    assert spent["internal"]["epsilon"] == pytest.approx(0.5, rel=2e-3)


@pytest.mark.parametrize("mechanism", ["gaussian", "poisson", "skellam"])
@pytest.mark.parametrize("path", ["/api/v1/queries", "/api/v1/queries/preview"])
def test_other_noise_is_refused_by_name(pure: World, mechanism: str, path: str) -> None:
    body = {**COUNTS, "mechanism": mechanism, "granularity": None}
    response = pure.call("POST", path, body, by="root")
    assert response.status_code == 422
    problem = parsed(response)
    assert f"{mechanism} noise breaks every epsilon" in response.text
    assert problem["errors"][0]["pointer"] == "/mechanism"


def test_a_skellam_query_is_registered_and_released(world: World) -> None:
    body = {**COUNTS, "dataset": "sites", "mechanism": "skellam", "granularity": None}
    seen = world.answer("POST", "/api/v1/queries/preview", body, by="root")
    assert {tier["level"]["parameter"] for tier in seen["tiers"]} == {"variance"}
    world.answer("POST", "/api/v1/queries", body, by="root")
    release = world.answer("POST", "/api/v1/queries/counts/releases", {}, by="ian")
    assert all(float(value).is_integer() for value in release["values"])
    assert release["guarantee"]["epsilon"] == pytest.approx(0.5, rel=2e-2)
    assert release["error"]["standard_deviation"] ** 2 == pytest.approx(release["level"]["value"])
    refused = world.call("POST", "/api/v1/queries/counts/releases", {"rho": 1e-3}, by="ian")
    assert refused.status_code == 422
    assert "skellam mechanism has no rho" in refused.text
