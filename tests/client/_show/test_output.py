"""Test documents written as tables, CSV and JSON."""

import csv
import io
import json
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from penstock_client._show.output import Column, Document, Format, written

RELEASE = "POST /api/v1/queries/flights_by_carrier/releases"


def test_csv_never_rounds(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--format", "csv", "release", "flights_by_carrier") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0]["key"] == "AA"
    assert [float(row["value"]) for row in rows] == [31987.5, 0.0]
    assert float(rows[1]["upper"]) == 88.26


def test_csv_holds_no_formula_and_loses_nothing(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    keys = ["=1+1", "'=1+1", "-5", "plain"]
    answers[RELEASE] |= {"keys": keys, "values": [-1.5, 0.1, 1e-300, 2.0]}
    assert run("release", "flights_by_carrier", "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["key"] for row in rows] == ["'=1+1", "''=1+1", "'-5", "plain"]
    assert [row["key"].removeprefix("'") for row in rows] == keys
    assert [float(row["value"]) for row in rows] == [-1.5, 0.1, 1e-300, 2.0]


def test_wide_characters_keep_columns_straight(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    answers[RELEASE]["keys"] = ["東京", "e\u0301"]
    run("release", "flights_by_carrier")
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "東京  31,988  31,899  32,076",
        "e\u0301          0     -88      88",
    ]


DOCUMENT = Document(
    answer=MappingProxyType({"items": [1]}),
    columns=[Column("a_name"), Column("count", right=True), Column("hidden", None)],
    rows=[("x\x1b", 1, 2), (None, 10, 3)],
    facts=["A fact"],
    note="A note",
    below=Document(None, [Column("b")], [("y",)]),
)


def test_each_format_holds_what_is_for_it() -> None:
    assert written(DOCUMENT, Format.TABLE) == (
        "A fact\n\na name   count\nx\\u001b      1\n            10\n\nb\ny\n"
    )
    assert written(DOCUMENT, Format.CSV) == "a_name,count,hidden\nx\x1b,1,2\n,10,3\n"
    assert json.loads(written(DOCUMENT, Format.JSON)) == {"items": [1]}


def test_what_json_does_not_have_is_not_written() -> None:
    for answer in (float("nan"), object()):
        with pytest.raises((ValueError, TypeError)):
            written(Document(answer, [], []), Format.JSON)
