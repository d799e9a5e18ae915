"""Test the commands that release a query, and make up rows from a release."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.servers.answers import RELEASE

Run = Callable[..., int]
Handler = Callable[[httpx.Request], httpx.Response]
Refuse = Callable[..., httpx.Response]

ROWS: dict[str, Any] = {
    "release": "rel_5m2k",
    "query": "flights_by_carrier",
    "dataset": "flights",
    "tier": "partner",
    "rows": 2,
    "columns": {"ward": ["a", "=b"], "urgent": ["yes", "no"]},
    "fits": [
        {"columns": ["ward"], "distance": 0.0123, "fitted": True},
        {"columns": ["urgent"], "distance": 0.4, "fitted": False},
    ],
}
VALUES = f"GET /api/v1/releases/{RELEASE['id']}/values"


def marginals(*reported: float | None) -> dict[str, Any]:
    """Return a release of one marginal of two cells, whose values are 4.25 and -1.5."""
    cells = [
        {"key": [key], "value": value, "standard_deviation": 45.03, "reported": form}
        for key, value, form in zip("ab", (4.25, -1.5), reported, strict=True)
    ]
    forms = ["nonnegative", "whole"]
    formed = {"report": {"forms": forms, "lossless": "weakly"}} if reported[0] is not None else {}
    tables = [{"columns": ["ward"], "cells": cells}]
    return {**RELEASE, "keys": ["a", "b"], "values": [4.25, -1.5], "marginals": tables, **formed}


def test_a_report_stands_beside_the_raw_values(
    run: Run,
    capsys: pytest.CaptureFixture[str],
    answers: dict[str, Any],
    requests: list[httpx.Request],
) -> None:
    answers["POST /api/v1/queries/flights_by_carrier/releases"] = marginals(None, None)
    answers[VALUES] = marginals(4.0, 0.0)
    command = ("release", "flights_by_carrier", "--report", "nonnegative,whole")
    assert run(*command) == 0
    table = capsys.readouterr().out
    assert "reported: nonnegative, whole; weakly lossless" in table
    assert table.splitlines()[-1].split() == ["b", "-2", "-90", "87", "0"]
    assert requests[-1].url.params["report"] == "nonnegative,whole"
    assert run(*command, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["value"], row["reported"]) for row in rows] == [("4.25", "4.0"), ("-1.5", "0.0")]
    assert run("release", "flights_by_carrier", "--format", "csv") == 0
    assert "reported" not in capsys.readouterr().out


def test_counts_are_read_with_the_size_of_another_release(
    run: Run, answers: dict[str, Any], requests: list[httpx.Request]
) -> None:
    answers[VALUES] = answers["POST /api/v1/queries/flights_by_carrier/releases"]
    assert run("release", "flights_by_carrier", "--size", "rel_2") == 0
    assert requests[-1].url.params["size_release"] == "rel_2"


def test_a_report_of_what_has_no_marginals_is_the_release(
    run: Run, capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    answers[VALUES] = answers["POST /api/v1/queries/flights_by_carrier/releases"]
    assert run("release", "flights_by_carrier", "--report", "whole") == 0
    said = capsys.readouterr()
    assert "has no marginals; --report changes nothing" in said.err
    assert "reported" not in said.out


def handler(answered: list[httpx.Request]) -> Handler:
    """Return a server that answers with rows, or with the name of a format as the file."""

    def handle(request: httpx.Request) -> httpx.Response:
        answered.append(request)
        form = request.url.params.get("format")
        if form is None:
            return httpx.Response(200, json=ROWS)
        kinds = {"csv": "text/csv; charset=utf-8"}
        kind = kinds.get(form, request.headers["accept"])
        return httpx.Response(200, content=form.encode(), headers={"content-type": kind})

    return handle


def test_rows_are_a_table_with_how_well_they_fit(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    answered: list[httpx.Request] = []
    assert run("synthetic", "rel_5m2k", "--rows", "2", handler=handler(answered)) == 0
    said = capsys.readouterr()
    assert [line.split() for line in said.out.splitlines()] == [
        *(["ward", "urgent"], ["a", "yes"], ["=b", "no"])
    ]
    assert "at most 40% from those of the rows. 1 of 2 tables were left out" in said.err
    assert answered[0].url.path == "/api/v1/releases/rel_5m2k/synthetic"
    assert answered[0].url.params["rows"] == "2"
    assert run("--format", "json", "synthetic", "rel_5m2k", handler=handler(answered)) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["columns"] == ROWS["columns"]
    assert printed["fits"] == ROWS["fits"]
    assert "rows" not in answered[1].url.params


@pytest.mark.parametrize(
    ("options", "form"),
    [
        (["--output", "rows.parquet"], "parquet"),
        (["--output", "rows.arrow"], "arrow"),
        (["--output", "rows.csv", "--rows", "7"], "csv"),
        (["--output", "rows", "--format", "parquet"], "parquet"),
        (["--output", "rows.csv", "--format", "arrow"], "arrow"),
    ],
)
def test_a_file_is_the_servers_own_in_the_format_of_its_name(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    form: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answered: list[httpx.Request] = []
    assert run("synthetic", "rel_5m2k", *options, handler=handler(answered)) == 0
    assert (tmp_path / options[1]).read_bytes() == form.encode()
    assert answered[0].url.params["format"] == form
    assert answered[0].url.params.get("rows") == ("7" if "7" in options else None)
    assert capsys.readouterr() == ("", "")


def test_bytes_are_not_written_to_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    answered: list[httpx.Request] = []
    words = ("synthetic", "rel_5m2k", "--format", "parquet")
    assert run(*words, handler=handler(answered)) == 0
    assert capfdbinary.readouterr().out == b"parquet"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(*words, handler=handler(answered)) == 2
    assert len(answered) == 1
    assert b"--output" in capfdbinary.readouterr().err


def test_a_server_without_the_library_says_what_to_install(
    run: Run, refuse: Refuse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    detail = "Synthetic rows are drawn by mbi, which is not installed here."

    def handle(_: httpx.Request) -> httpx.Response:
        return refuse(503, "UNAVAILABLE", detail=detail)

    file = tmp_path / "rows.parquet"
    assert run("synthetic", "rel_5m2k", "--output", str(file), handler=handle) == 1
    assert detail in capsys.readouterr().err
    assert not file.exists()
