"""Test ``penstock release``.

The same at every time and in every format, and refused with numbers.
"""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run
from tests.unit.sites import VISITS


def write(folder: Path, name: str, content: object) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text)
    return name


def test_a_release_is_the_same_in_every_format_and_at_every_time(here: Run) -> None:
    answer = here("release", "visits", "--as", "paul", "--format", "json").json
    again = here("release", "visits", "--as", "paul", "--format", "json").json
    assert again == answer
    rows = list(
        csv.DictReader(
            io.StringIO(here("release", "visits", "--as", "paul", "--format", "csv").out)
        )
    )
    assert [row["key"] for row in rows] == answer["keys"] == ["a", "b", "c"]
    assert [float(row["value"]) for row in rows] == answer["values"]
    half = answer["error"]["half_width"]
    assert [float(row["lower"]) for row in rows] == [value - half for value in answer["values"]]
    assert [float(row["upper"]) for row in rows] == [value + half for value in answer["values"]]
    table = here("release", "visits", "--as", "paul").out
    assert "at tier partner" in table
    assert answer["id"] in table
    shown = table.splitlines()[-3:]
    for line, value in zip(shown, answer["values"], strict=True):
        assert float(line.split()[1].replace(",", "")) == pytest.approx(value, abs=0.5)


@pytest.mark.parametrize(
    ("options", "low", "high"),
    [
        (["--tier", "public"], 0.0999, 0.1),
        (["--epsilon", "0.2"], 0.199, 0.2),
        (["--level", "5000"], 0, 0.1),
        (["--rho", "0.0001"], 0, 0.1),
    ],
)
def test_a_more_private_level_can_be_named_in_every_way(
    here: Run, options: list[str], low: float, high: float
) -> None:
    release = here("release", "visits", "--as", "ines", *options, "--format", "json").json
    assert low <= release["guarantee"]["epsilon"] <= high


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["visits", "--as", "pia", "--tier", "partner"], 3, "partner"),
        (["visits", "--as", "pia", "--epsilon", "0.5"], 3, "public"),
        (["visits", "--as", "ada"], 3, "analyst"),
        (["visits", "--as", "otto"], 3, "analyst"),
        (["visits", "--as", "nobody"], 1, "nobody"),
        (["nothing", "--as", "pia"], 1, "nothing"),
        (["visits", "--as", "pia", "--tier", "nothing"], 1, "nothing"),
        (["visits"], 2, "--as"),
        (["visits", "--as", "pia", "--epsilon", "-1"], 2, "above 0"),
        (["visits", "--as", "pia", "--epsilon", "nan"], 2, "above 0"),
        (["visits", "--as", "pia", "--level", "inf"], 2, "above 0"),
        (["visits", "--as", "pia", "--rho", "many"], 2, "above 0"),
        (["visits", "--as", "ines", "--tier", "public", "--rho", "1"], 2, "at most one"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_release_that_is_refused_leaves_no_trace(
    here: Run, arguments: list[str], code: int, says: str
) -> None:
    before = here("audit", "events", "--format", "json").json
    refused = here("release", *arguments)
    assert refused.code == code
    assert refused.out == ""
    assert says in refused.err
    assert here("audit", "events", "--format", "json").json == before


@pytest.mark.parametrize(
    ("epsilon", "step"),
    [(5, "largest share"), (50, "more noise")],
    ids=["losses are short", "failure probabilities too"],
)
def test_a_budget_refuses_with_the_numbers_and_exit_code_3(
    here: Run, tmp_path: Path, epsilon: int, step: str
) -> None:
    big = {**VISITS, "name": "big", "levels": {"public": {"epsilon": epsilon}}}
    before = here("dataset", "budget", "sites", "--format", "json").json
    refused = here("query", "register", write(tmp_path, "big.json", big))
    assert refused.code == 3
    assert "public" in refused.err
    assert "visits" in refused.err
    assert step in refused.err
    assert here("dataset", "budget", "sites", "--format", "json").json == before
    assert [q["name"] for q in here("query", "list", "--format", "json").json] == ["visits"]


def test_marginals_are_reported_beside_their_raw_values(here: Run, tmp_path: Path) -> None:
    rows = "".join(f"p{number},{'ab'[number % 2]}\n" for number in range(300))
    write(tmp_path, "people.csv", f"person,ward\n{rows}")
    dataset = {
        "name": "people",
        "source": {"engine": "duckdb", "uri": str(tmp_path / "people.csv")},
        "privacy_unit": {"column": "person"},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "max_units": 1000,
        "columns": {
            "person": {"type": "string"},
            "ward": {"type": "string", "categories": ["a", "b", "c"]},
        },
        "budgets": {"public": {"epsilon": 5}},
    }
    query = {
        "name": "wards",
        "dataset": "people",
        "aggregate": {"type": "marginals", "columns": ["ward"]},
        "contribution": {"max_groups": 1, "max_rows_per_group": 1},
        "mechanism": "gaussian",
        "levels": {"public": {"rho": 0.05}},
    }
    here("dataset", "register", write(tmp_path, "people.json", dataset))
    here("query", "register", write(tmp_path, "wards.json", query))
    command = ("release", "wards", "--as", "pia")
    said = here(*command, "--report", "nonnegative,whole,total_preserving")
    assert "reported: nonnegative, whole, total_preserving; weakly lossless" in said.out
    table = here(*command, "--report", "whole,nonnegative", "--format", "csv").out
    for row in csv.DictReader(io.StringIO(table)):
        raw, reported = float(row["value"]), float(row["reported"])
        assert reported == max(round(raw), 0)
    assert "reported" not in here(*command, "--format", "csv").out
    assert "name one or several" in here(*command, "--report", "round").err
    other = here("release", "visits", "--as", "pia", "--report", "whole")
    assert "has no marginals" in other.err
    assert "reported" not in other.out
