"""Test what each command prints, as a table, CSV and JSON."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.client.servers.previews import ANSWER, INDEPENDENT, PATH

RELEASE = "POST /api/v1/queries/flights_by_carrier/releases"


def test_a_release_is_a_table_rounded_by_its_error(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("release", "flights_by_carrier") == 0
    assert capsys.readouterr().out == (
        "flights_by_carrier\n"
        "  dataset flights, tier partner\n"
        "  gaussian noise, variance 2,028\n"
        "  epsilon 0.629, delta 1e-06 (zcdp, rho 0.0118)\n"
        "  ±88.3 at 95%, standard deviation 45\n"
        "  release rel_1 of 2026-11-20 12:00:00Z, leaf 41 of the log\n"
        "\n"
        "key   value   lower   upper\n"
        "AA   31,988  31,899  32,076\n"
        "UA        0     -88      88\n"
    )


def test_csv_has_a_column_for_each_part_of_a_key(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    answers[RELEASE]["keys"] = [["a,b", "x"], ["c", "y\nz"]]
    assert run("--format", "csv", "release", "flights_by_carrier") == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == ["key_1", "key_2", "value", "lower", "upper"]
    assert [row[:2] for row in rows[1:]] == [["a,b", "x"], ["c", "y\nz"]]


def test_tables_say_what_was_found(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    run("datasets")
    assert capsys.readouterr().out.splitlines() == [
        "dataset  version  privacy unit    neighboring  tier     epsilon  delta",
        "flights        1  column tailnum  add_remove   public       0.5  1e-06",
        "flights        1  column tailnum  add_remove   partner    0.629  1e-06",
    ]
    run("exposure", "--users", "ann,bob", "--dataset", "flights")
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "ann, bob",
        "",
        "figure       of                  parameter  level  epsilon  delta",
        "query        flights_by_carrier  variance   2,028    0.629  1e-06",
        "could be                                              1.25  1e-06",
        "released                                             0.629  1e-06",
        "independent                                            2.5  1e-06",
        "reach        internal                                    3  1e-06",
    ]
    assert "'could be' is the bound" in captured.err
    assert "'registrars' that of those who chose these queries" in captured.err
    run("budget", "flights")
    row = capsys.readouterr().out.splitlines()[1]
    assert " ".join(row.split()) == "partner 1 0.629 0.3 1e-06 flights_by_carrier 25.0%"


def test_an_empty_list_says_so_beside_the_data(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    answers["GET /api/v1/queries"] = {"items": [], "next_cursor": None}
    assert run("queries") == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "No query is visible to you.\n")
    assert run("--format", "csv", "queries") == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("query,dataset,")
    assert captured.err == ""


def test_made_up_rows_are_a_table_json_and_csv(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"town": "north", "visits": 3}, {"town": None, "visits": -1}]

    def handler(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/api/v1/datasets/stays/dummy"
        assert dict(request.url.params) == {"rows": "2", "seed": "7"}
        return httpx.Response(200, json={"items": rows})

    arguments = ("dummy", "stays", "--rows", "2", "--seed", "7")
    assert run(*arguments, handler=handler) == 0
    assert capsys.readouterr().out == "town   visits\nnorth  3\n       -1\n"
    assert run("--format", "json", *arguments, handler=handler) == 0
    assert json.loads(capsys.readouterr().out) == {"items": rows}
    assert run("--format", "csv", *arguments, handler=handler) == 0
    assert capsys.readouterr().out == "town,visits\nnorth,3\n,-1\n"


def test_of_a_query_that_is_paid_for_no_room_is_shown(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    paid = {**ANSWER["tiers"][0], "room": None}
    answers[PATH] = {**ANSWER, "dimension": 1, "refusal": None, "tiers": [paid]}
    assert run("preview", "visits") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("  1 number, ")
    assert lines[-2].endswith("charged share")
    assert lines[-1].endswith("1.64%")
    assert run("preview", "visits", "--format", "csv") == 0
    assert (
        capsys.readouterr()
        .out.splitlines()[0]
        .endswith("largest_share,fits,composed_epsilon,expected_maximum,epsilon_at_delta")
    )


def test_the_command_shows_what_adds_up(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    answers[PATH] = INDEPENDENT
    assert run("preview", "visits") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "  The tiers have 2 levels."
    assert lines[-2].endswith("expected maximum  epsilon at delta")
    assert lines[-1].split()[-2:] == ["91.3", "1.63"]
    assert "1.12" in lines[-1]
