"""Test SmartNoise's SQL under lomas's method names."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.client.questions.asking import PREVIEW, REGISTER

from penstock_client import Client, Forbidden, InvalidArgument, InvalidInput
from penstock_client._http.fields import Fields
from penstock_client.lomas.smartnoise_sql import SmartnoiseSQL
from penstock_client.models import Dataset

QUERY = "SELECT carrier, COUNT(*) AS nb FROM df GROUP BY carrier"
FLIGHTS = {"name": "my flights", "delta": 1e-6, "privacy_unit": {"rows": 1}}
DUMMY = "POST /api/v1/queries/dummy"
Bodies = Callable[[], list[dict[str, Any]]]


def of(client: Client, **changes: object) -> SmartnoiseSQL:
    return SmartnoiseSQL(client, Dataset.read(Fields({**FLIGHTS, **changes}, "dataset")), None)


@pytest.fixture
def sql(client: Client) -> SmartnoiseSQL:
    return of(client)


@pytest.fixture
def bodies(requests: list[httpx.Request]) -> Bodies:
    """Return a function that returns the bodies of all requests."""
    return lambda: [json.loads(each.content) for each in requests if each.content]


def test_a_query_has_a_frame_with_the_columns_that_it_selects(
    sql: SmartnoiseSQL, bodies: Bodies
) -> None:
    response = sql.query(query=QUERY, epsilon=0.5, delta=1e-5, postprocess=True)
    assert response.result.df["nb"].tolist() == [31987.5, 0.0]
    assert list(response.result.df.columns) == ["carrier", "nb"]
    assert response["query_response"] is response.result.df
    assert (response.epsilon, response.delta, response.requested_by) == (0.6294, 1e-6, "ann")
    first = bodies()[0]
    assert first["sql"] == 'SELECT carrier, COUNT(*) AS nb FROM "my flights" GROUP BY carrier'
    assert first["levels"] == {"partner": {"epsilon": 0.5}}
    assert first["mechanism"] == "gaussian"


def test_a_cost_is_that_of_the_callers_tier_and_nothing_once_it_is_registered(
    sql: SmartnoiseSQL,
    client_of: Callable[..., Client],
    refuse: Callable[..., httpx.Response],
    server: Callable[[httpx.Request], httpx.Response],
) -> None:
    assert sql.cost(query=QUERY, epsilon=0.1, delta=1e-5) == {"epsilon": 0.1, "delta": 1e-6}

    def handle(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/preview") and b'"sql"' in request.content:
            return refuse(409, "CONFLICT", query="flights_by_carrier")
        return server(request)

    cost = of(client_of(handle)).cost(QUERY, 0.1, 1e-5)
    assert cost == {"epsilon": 0.0, "delta": 0.0}


def test_a_dummy_query_is_answered_on_made_up_rows(
    sql: SmartnoiseSQL, answers: dict[str, Any], bodies: Bodies
) -> None:
    numbers = [{"statistic": "n", "key": key, "value": 7.0} for key in ("AA", "UA")]
    answers[DUMMY] = {"dataset": "flights", "groups": ["carrier"], "numbers": numbers}
    response = sql.query(QUERY, epsilon=100.0, delta=0.99, dummy=True, nb_rows=14, seed=3)
    assert response.result.df["nb"].tolist() == [7.0, 7.0]
    (body,) = bodies()
    assert (body["rows"], body["seed"]) == (14, 3)
    assert "my flights" in body["query"]["sql"]


def test_noise_is_that_of_the_dataset_or_the_one_that_is_named(
    client: Client, bodies: Bodies
) -> None:
    of(client, delta=0).query(QUERY, epsilon=0.5, delta=0)
    of(client).query(QUERY, 0.5, 1e-5, mechanisms={"count": "Laplace", "sum_int": "laplace"})
    assert {body["mechanism"] for body in bodies() if body} == {"laplace"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 1e-9}, "at its delta of 1e-06, which is more than delta=1e-09"),
        ({"mechanisms": {"count": "gaussian", "sum_int": "laplace"}}, "not gaussian, laplace"),
        ({"mechanisms": {"count": "geometric"}}, "not geometric"),
        ({"epsilon": 0}, "above 0"),
    ],
)
def test_what_cannot_be_is_refused(
    sql: SmartnoiseSQL,
    requests: list[httpx.Request],
    arguments: dict[str, Any],
    message: str,
) -> None:
    for call in (sql.query, sql.cost):
        with pytest.raises(InvalidArgument, match=message):
            call(**{"query": QUERY, "epsilon": 0.5, "delta": 1e-5, **arguments})
    assert requests == []


PLACE = {"pointer": "/sql", "detail": "Line 1: no joins."}
ROWS = {"pointer": "/contribution/max_rows_per_group", "detail": "Say how many rows."}


@pytest.mark.parametrize(
    ("path", "status", "errors", "raised", "message"),
    [
        (PREVIEW, 422, [PLACE], InvalidInput, "no joins"),
        (PREVIEW, 422, [ROWS], InvalidInput, r"Client\(\.\.\., contribution="),
        (REGISTER, 403, [], Forbidden, r"request\(purpose="),
    ],
)
def test_a_refusal_has_the_reason(
    client_of: Callable[..., Client],
    refuse: Callable[..., httpx.Response],
    server: Callable[[httpx.Request], httpx.Response],
    path: str,
    status: int,
    errors: list[dict[str, str]],
    raised: type[Exception],
    message: str,
) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        if f"{request.method} {request.url.path}" == path:
            return refuse(status, "FORBIDDEN" if status == 403 else "INVALID_INPUT", errors=errors)
        return server(request)

    with pytest.raises(raised, match=message):
        of(client_of(handle)).query(QUERY, epsilon=0.5, delta=1e-5)
