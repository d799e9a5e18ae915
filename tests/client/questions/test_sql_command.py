"""Test ``penstock-client sql``: what it sends, what it prints, and how it ends."""

import csv
import io
import json
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.client.questions.asking import COST, OPEN, QUERY

from penstock_client import Forbidden, InvalidField, InvalidInput, PenstockError
from penstock_client.questions.question import ADVICE, Question
from penstock_client.questions.terms import NoClearance, NoLevel

SQL = "SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier"
Run = Callable[..., int]


def test_the_result_is_printed_in_three_formats(
    run: Run, capsys: pytest.CaptureFixture[str], requests: list[httpx.Request]
) -> None:
    assert run("sql", SQL, "--epsilon", "0.5") == 0
    assert "31,988" in capsys.readouterr().out
    assert run("sql", SQL, "--epsilon", "0.5", "--format", "csv") == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["carrier", "statistic", "value", "lower", "upper"]
    assert rows[1][:3] == ["AA", "n", "31987.5"]
    assert run("--format", "json", "sql", SQL, "--epsilon", "0.5") == 0
    assert json.loads(capsys.readouterr().out)["query"] == "flights_by_carrier"
    body = json.loads(requests[0].content)
    assert (body["sql"], body["levels"]) == (SQL, {"partner": {"epsilon": 0.5}})


def test_a_preview_registers_nothing(
    run: Run, capsys: pytest.CaptureFixture[str], requests: list[httpx.Request]
) -> None:
    options = ("--max-groups", "2", "--max-rows-per-group", "3", "--mechanism", "laplace")
    assert run("sql", SQL, "--preview", "--level", "partner=0.5", *options) == 0
    printed = capsys.readouterr()
    assert "1.64%" in printed.out
    assert "left of the budget of partner: epsilon 0.3" in printed.out
    assert "Nothing is charged yet" in printed.err
    body = json.loads(requests[0].content)
    assert body["levels"] == {"partner": {"epsilon": 0.5}}
    assert body["contribution"] == {"max_groups": 2, "max_rows_per_group": 3}
    assert body["mechanism"] == "laplace"
    assert {request.url.path for request in requests} == {
        "/api/v1/queries/preview",
        "/api/v1/datasets/flights/budget",
    }
    assert run("sql", SQL, "--preview", "--share", "0.1", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == COST


def test_a_question_is_registered_or_requested(
    run: Run, capsys: pytest.CaptureFixture[str], requests: list[httpx.Request]
) -> None:
    assert run("sql", SQL, "--register", "--share", "0.1", "--name", "mine") == 0
    assert "flights_by_carrier" in capsys.readouterr().out
    assert json.loads(requests[-1].content)["name"] == "mine"
    assert run("sql", SQL, "--register", "--share", "0.1", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == QUERY
    assert run("sql", SQL, "--request", "--purpose", "a report", "--epsilon", "0.5") == 0
    assert "req_1" in capsys.readouterr().out
    assert run("--format", "json", "sql", SQL, "--request", "--purpose", "x", "--share", "0.1") == 0
    assert json.loads(capsys.readouterr().out) == OPEN


NOT_VALID = InvalidInput(
    *(422, "INVALID_INPUT", "Not valid", "Two places."),
    errors=(
        InvalidField("/contribution/max_rows_per_group", "Say how many rows."),
        InvalidField("/sql", "Unknown."),
    ),
)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NOT_VALID, "--max-rows-per-group: Say how many rows.\n  /sql: Unknown."),
        (Forbidden(403, "FORBIDDEN", "No", f"No. {ADVICE}"), "No. You may send it to the admin"),
        (NoLevel("epsilon="), "give --epsilon (at your clearance), --share"),
        (NoClearance("epsilon="), "give --level TIER=EPSILON, or --share"),
    ],
)
def test_errors_name_options_and_nothing_of_python(
    run: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: PenstockError,
    words: str,
) -> None:
    def refuse(_: Question) -> None:
        raise error

    monkeypatch.setattr(Question, "result", refuse)
    assert run("sql", SQL, "--epsilon", "0.5") != 0
    complaint = capsys.readouterr().err
    assert words in complaint
    for other in ("epsilon=", "purpose=", "/contribution"):
        assert other not in complaint


def test_a_question_without_a_level_asks_for_an_option(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("sql", SQL) != 0
    assert "give --epsilon" in capsys.readouterr().err


def test_the_text_may_come_from_standard_input(
    run: Run, requests: list[httpx.Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(SQL))
    assert run("sql", "-", "--epsilon", "0.5") == 0
    assert json.loads(requests[0].content)["sql"] == SQL


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--epsilon", "0.5", "--share", "0.1"),
        ("--epsilon", "0.5", "--preview", "--register"),
        ("--epsilon", "0.5", "--request"),
        ("--epsilon", "0.5", "--purpose", "a report"),
        ("--epsilon", "0.5", "--request", "--purpose", " "),
        ("--level", "partner"),
        ("--level", "=0.5"),
        ("--level", "partner=0"),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(
    run: Run, requests: list[httpx.Request], options: tuple[str, ...]
) -> None:
    assert run("sql", SQL, *options) == 2
    assert requests == []


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [(403, "FORBIDDEN", 3), (409, "BUDGET_EXHAUSTED", 3), (422, "INVALID_INPUT", 1)],
)
def test_refusals_have_the_exit_codes_of_other_commands(
    run: Run,
    capsys: pytest.CaptureFixture[str],
    refuse: Callable[..., httpx.Response],
    server: Callable[[httpx.Request], httpx.Response],
    status: int,
    code: str,
    exit_code: int,
) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        registers = (request.method, request.url.path) == ("POST", "/api/v1/queries")
        return refuse(status, code) if registers else server(request)

    members: dict[str, Any] = {"handler": handle}
    assert run("sql", SQL, "--epsilon", "0.5", **members) == exit_code
    assert capsys.readouterr().out == ""
