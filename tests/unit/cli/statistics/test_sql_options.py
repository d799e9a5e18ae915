"""Test ``--sql`` of ``penstock query register`` and ``preview``."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.program_runs import Run
from tests.unit.services.datasets.stays import BY_TOWN, STAYS, written

STATEMENT = "SELECT town, COUNT(DISTINCT person) FROM stays GROUP BY town"
TERMS = ("--name", "by_town", "--mechanism", "laplace")
OPTIONS = (
    *(*TERMS, "--sql", STATEMENT, "--max-groups", "1"),
    *("--level", "public=0.5", "--level", "internal=4"),
)


@pytest.fixture
def stays(here: Run, tmp_path: Path) -> Run:
    written(tmp_path)
    spec: dict[str, Any] = {**STAYS, "source": {"engine": "duckdb", "uri": "stays.csv"}}
    (tmp_path / "stays.json").write_text(json.dumps(spec))
    assert here("dataset", "register", "stays.json").code == 0
    return here


def test_a_query_is_written_by_options_alone(stays: Run) -> None:
    preview = stays("query", "preview", *OPTIONS)
    assert preview.code == 0, preview.err
    assert '    SELECT "town", COUNT(DISTINCT "person")' in preview.out
    made = stays("query", "register", *OPTIONS, "--format", "json")
    assert made.code == 0, made.err
    assert made.json["spec"]["aggregate"] == {"type": "count_units"}
    assert 'FROM "stays"' in stays("query", "show", "by_town").out


def test_a_mechanism_that_is_not_named_is_the_usual_one(stays: Run) -> None:
    preview = stays("query", "preview", "--name", "by_town", *OPTIONS[len(TERMS) :])
    assert preview.code == 0, preview.err
    assert "gaussian noise" in preview.out


def test_a_statement_in_a_file_goes_with_terms_in_another(stays: Run, tmp_path: Path) -> None:
    terms = {name: BY_TOWN[name] for name in ("name", "contribution", "mechanism", "levels")}
    (tmp_path / "terms.json").write_text(json.dumps(terms))
    (tmp_path / "by_town.sql").write_text(STATEMENT)
    made = stays("query", "register", "terms.json", "--sql", "by_town.sql", "--format", "json")
    assert made.code == 0, made.err
    assert made.json["spec"]["group_by"][0]["column"] == "town"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Name a FILE, or write the query with --sql."),
        (("terms.json", "--name", "x"), "--name is for a query with --sql."),
        (
            ("--sql", "SELECT 1", "--name", "x", "--share", "0.1", "--mechanism", "laplace"),
            "Name the dataset",
        ),
        ((*TERMS, "--sql", STATEMENT), "share"),
        (("--sql", STATEMENT), "Name the query with --name."),
    ],
)
def test_what_is_missing_is_said(stays: Run, arguments: tuple[str, ...], words: str) -> None:
    refused = stays("query", "preview", *arguments)
    assert refused.code != 0
    assert words in refused.err


def test_a_missing_bound_is_named_by_its_option(stays: Run) -> None:
    rows = "SELECT town, COUNT(*) FROM stays GROUP BY town"
    options = ("--sql", rows, "--name", "rows", "--max-groups", "1", "--share", "0.1")
    for command in ("preview", "register"):
        refused = stays("query", command, *options)
        assert refused.code != 0
        assert "The place is --max-rows-per-group." in refused.err
    assert stays("query", "preview", *options, "--max-rows-per-group", "2").code == 0


def test_a_missing_bound_of_a_file_is_named_by_its_place(stays: Run, tmp_path: Path) -> None:
    spec = {**BY_TOWN, "aggregate": {"type": "count"}, "contribution": {"max_groups": 1}}
    (tmp_path / "rows.json").write_text(json.dumps(spec))
    refused = stays("query", "preview", "rows.json")
    assert "The place is /contribution/max_rows_per_group." in refused.err
