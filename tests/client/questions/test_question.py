"""Test that a question is lazy, and leads to the query that has the same statistic."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.client.questions.asking import PREVIEW, SHOW
from tests.client.servers.hosts import Host

from penstock_client import Client, Conflict, Forbidden, InvalidArgument, NotRegistered

Handler = Callable[[httpx.Request], httpx.Response]
SQL = "SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier"
PREVIEWED, REGISTERED = "/api/v1/queries/preview", "/api/v1/queries"


@pytest.fixture
def refusing(
    answers: dict[str, Any], refuse: Callable[..., httpx.Response], requests: list[httpx.Request]
) -> Callable[..., Handler]:
    """Return a function that makes a server with refusals by path, each used once or for good."""

    def make(**by_path: list[httpx.Response | None]) -> Handler:
        host = Host(answers, size=41)
        paths = {"preview": PREVIEWED, "register": REGISTERED}
        queues = {paths[name]: list(queue) for name, queue in by_path.items()}

        def handle(request: httpx.Request) -> httpx.Response:
            requests.append(request)
            queue = queues.get(request.url.path, []) if request.method == "POST" else []
            refusal = queue.pop(0) if queue else None
            answer = host.answer(request)
            if refusal is not None:
                return refusal
            return refuse(404, "NOT_FOUND") if answer is None else httpx.Response(200, json=answer)

        return handle

    return make


def sent(requests: list[httpx.Request], path: str) -> list[dict[str, Any]]:
    return [json.loads(each.content) for each in requests if each.url.path == path]


def test_a_question_sends_nothing_before_it_is_told_to(
    client: Client, requests: list[httpx.Request]
) -> None:
    question = client.sql(SQL, epsilon=0.5)
    assert SQL in repr(question)
    assert "COUNT(*)" in question._repr_html_()
    assert requests == []
    assert question.spec() == {
        "name": question.spec()["name"],
        "sql": SQL,
        "mechanism": "gaussian",
        "levels": {"partner": {"epsilon": 0.5}},
    }


def test_the_same_question_has_the_same_name_and_another_one_another(client: Client) -> None:
    name = client.sql(SQL, epsilon=0.5).spec()["name"]
    assert client.sql(SQL, share=0.1).spec()["name"] == name
    assert client.sql(SQL, epsilon=0.5, mechanism="laplace").spec()["name"] != name
    assert client.sql(SQL + " ", epsilon=0.5).spec()["name"] != name
    assert client.sql(SQL, epsilon=0.5, name="mine").spec()["name"] == "mine"


def test_a_result_registers_releases_and_reads(
    client: Client, requests: list[httpx.Request]
) -> None:
    result = client.sql(SQL, epsilon=0.5).result()
    assert (result.groups, result.statistics) == (("carrier",), ("n",))
    paths = [request.url.path for request in requests]
    assert paths == [PREVIEWED, REGISTERED, f"{REGISTERED}/flights_by_carrier/releases"]


def test_a_registered_statistic_is_not_registered_again(
    client_of: Callable[[Handler], Client],
    refusing: Callable[..., Handler],
    refuse: Callable[..., httpx.Response],
    requests: list[httpx.Request],
) -> None:
    twin = refuse(409, "CONFLICT", query="flights_by_carrier")
    client = client_of(refusing(preview=[twin]))
    question = client.sql(SQL, epsilon=0.5)
    cost = question.preview()
    assert (cost.registered, cost.fits) == ("flights_by_carrier", True)
    assert next(cost.rows())[3] == "nothing"
    assert question.register().name == "flights_by_carrier"
    assert question.release().query == "flights_by_carrier"
    with pytest.raises(Conflict, match="registered already"):
        question.request("a report")
    assert sent(requests, REGISTERED) == []


def test_a_statistic_that_somebody_registers_meanwhile_leads_there(
    client_of: Callable[[Handler], Client],
    refusing: Callable[..., Handler],
    refuse: Callable[..., httpx.Response],
) -> None:
    twin = refuse(409, "CONFLICT", query="flights_by_carrier")
    client = client_of(refusing(register=[twin]))
    assert client.sql(SQL, epsilon=0.5).result().release.query == "flights_by_carrier"
    other = client_of(refusing(register=[refuse(409, "CONFLICT")]))
    with pytest.raises(Conflict, match="What happened"):
        other.sql(SQL, epsilon=0.5).register()


def test_a_taken_name_is_replaced_if_nobody_chose_it(
    client_of: Callable[[Handler], Client],
    refusing: Callable[..., Handler],
    refuse: Callable[..., httpx.Response],
    requests: list[httpx.Request],
) -> None:
    taken = refuse(409, "NAME_TAKEN")
    client_of(refusing(preview=[taken])).sql(SQL, epsilon=0.5).register()
    first, second = (body["name"] for body in sent(requests, PREVIEWED))
    assert second.startswith(f"{first}-")
    assert sent(requests, REGISTERED)[0]["name"] == second
    mine = client_of(refusing(preview=[taken])).sql(SQL, epsilon=0.5, name="mine")
    with pytest.raises(Conflict) as refused:
        mine.register()
    assert refused.value.code == "NAME_TAKEN"
    twin = refuse(409, "CONFLICT", query="flights_by_carrier")
    again = client_of(refusing(preview=[taken, twin])).sql(SQL, epsilon=0.5, name="mine")
    assert again.register().name == "flights_by_carrier"


def test_other_conflicts_are_raised(
    client_of: Callable[[Handler], Client],
    refusing: Callable[..., Handler],
    refuse: Callable[..., httpx.Response],
) -> None:
    for code, members in (("CONFLICT", {}), ("BUDGET_EXHAUSTED", {"query": "other"})):
        client = client_of(refusing(preview=[refuse(409, code, **members)]))
        with pytest.raises(Conflict) as refused:
            client.sql(SQL, epsilon=0.5).preview()
        assert refused.value.code == code


def test_who_may_not_register_is_told_to_request(
    client_of: Callable[[Handler], Client],
    refusing: Callable[..., Handler],
    refuse: Callable[..., httpx.Response],
) -> None:
    question = client_of(refusing(register=[refuse(403, "FORBIDDEN")])).sql(SQL, epsilon=0.5)
    with pytest.raises(Forbidden, match=r"request\(purpose=\.\.\.\)") as refused:
        question.result()
    assert refused.value.request_id == "req-7"
    with pytest.raises(NotRegistered, match="request"):
        question.release()
    assert question.request("a report").state == "open"
    with pytest.raises(InvalidArgument, match="what the question is for"):
        question.request(" ")


def test_who_reads_no_releases_is_charged_for_none(
    client: Client, answers: dict[str, Any], requests: list[httpx.Request]
) -> None:
    answers["GET /api/v1/me"]["roles"] = ["admin"]
    with pytest.raises(InvalidArgument, match="for analysts, and your role is admin"):
        client.sql(SQL, share=0.1).result()
    assert requests == []


def test_a_question_is_tried_on_made_up_rows_without_a_level(
    client: Client, answers: dict[str, Any], requests: list[httpx.Request]
) -> None:
    numbers = [
        {"statistic": "n", "key": "AA", "value": 3.0},
        {"statistic": "sum:delay", "key": "AA", "value": None},
    ]
    answers["POST /api/v1/queries/dummy"] = {
        "dataset": "flights", "groups": ["carrier"], "numbers": numbers,
    }  # fmt: skip
    answer = client.sql(SQL, contribution={"max_groups": 2}).dummy(rows=20, seed=4)
    assert answer.wide() == {"carrier": ["AA"], "n": [3.0]}
    assert [(row.value, row.lower, row.upper) for row in answer] == [(3.0, 3.0, 3.0)]
    assert "made-up rows of 'flights': 1 number" in repr(answer)
    (body,) = sent(requests, "/api/v1/queries/dummy")
    assert (body["rows"], body["seed"]) == (20, 4)
    assert body["query"]["contribution"] == {"max_groups": 2}


def test_the_server_writes_the_sql(
    client: Client, requests: list[httpx.Request], answers: dict[str, Any]
) -> None:
    question = client.sql(SQL)
    assert question.sql() == answers[PREVIEW]["spec_sql"]
    (body,) = sent(requests, PREVIEWED)
    assert (body["sql"], body["share"]) == (SQL, 0.01)
    answers[PREVIEW]["spec_sql"] = None
    with pytest.raises(InvalidArgument, match="SQL has no words"):
        question.sql()
    with pytest.raises(InvalidArgument, match="no level yet"):
        question.preview()
    assert question.at(epsilon=0.5).preview().fits


def test_the_sql_of_a_registered_statistic_is_that_of_its_query(
    client_of: Callable[[Handler], Client],
    refusing: Callable[..., Handler],
    refuse: Callable[..., httpx.Response],
    answers: dict[str, Any],
) -> None:
    twin = refuse(409, "CONFLICT", query="flights_by_carrier")
    assert client_of(refusing(preview=[twin])).sql(SQL).sql() == answers[SHOW]["spec_sql"]
