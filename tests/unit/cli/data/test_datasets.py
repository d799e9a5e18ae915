"""Test ``penstock dataset``: registered from files, listed, and shown with what was spent."""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run
from tests.unit.sites import SITES, VISITS

PEOPLE = "\n".join(
    ["person,town,visits", *(f"{n},{'north' if n % 3 else 'south'},{n % 5}" for n in range(300))]
)
CLINIC = """
name = "clinic"
neighboring = "add_remove"
delta = 1e-6
privacy_unit = { column = "person" }

[source]
engine = "duckdb"
uri = "people.csv"

[columns]
person = { type = "integer" }
town = { type = "string", categories = ["north", "south", "west"] }

[budgets]
public = { epsilon = 1 }
internal = { epsilon = 3 }
"""
TOWNS = {
    "name": "towns",
    "dataset": "clinic",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "laplace",
    "share": 0.5,
}


def write(folder: Path, name: str, content: object) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text)
    return name


def test_a_file_becomes_a_dataset_a_query_and_releases(here: Run, tmp_path: Path) -> None:
    write(tmp_path, "people.csv", PEOPLE)
    made = here("dataset", "register", write(tmp_path, "clinic.toml", CLINIC), "--format", "json")
    assert made.code == 0, made.err
    assert made.json["source"]["uri"] == str(tmp_path / "people.csv")
    assert {name: budget["epsilon"] for name, budget in made.json["budgets"].items()} == {
        "public": 1,
        "partner": 1,
        "internal": 3,
    }
    query = here("query", "register", write(tmp_path, "towns.json", TOWNS), "--format", "json")
    assert query.code == 0, query.err
    assert [tier["tier"] for tier in query.json["tiers"]] == ["public", "partner", "internal"]
    release = here("release", "towns", "--as", "ines", "--format", "json").json
    assert release["keys"] == ["north", "south", "west"]
    half = release["error"]["half_width"]
    for value, exact in zip(release["values"], (200, 100, 0), strict=True):
        assert abs(value - exact) < 12 * half  # a chance below 1e-12
    assert here("dataset", "show", "clinic", "--format", "json").json == made.json
    assert here("query", "show", "towns", "--format", "json").json == query.json


def test_names_are_taken_once(here: Run, tmp_path: Path) -> None:
    for command, spec in (("dataset", {**SITES, "name": "SITES"}), ("query", VISITS)):
        refused = here(command, "register", write(tmp_path, "again.json", spec))
        assert refused.code == 1
        assert "already" in refused.err


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("dataset show nothing", "nothing"),
        ("dataset budget nothing", "nothing"),
        ("query show nothing", "nothing"),
        ("query list --dataset nothing", "nothing"),
        ("audit exposure --users nobody", "nobody"),
        ("audit exposure --users pia --dataset nothing", "nothing"),
        ("audit exposure --users ,", "users"),
    ],
)
def test_unknown_names_exit_1(here: Run, command: str, says: str) -> None:
    refused = here(*command.split())
    assert (refused.code, refused.out) == (1, "")
    assert says in refused.err


def test_lists_are_tables_and_say_where_they_are_empty(run: Run) -> None:
    run("init")
    for command in ("tier", "user", "dataset", "query"):
        empty = run(command, "list")
        assert (empty.code, empty.out) == (0, "")
        assert "no " in empty.err


def test_the_budget_says_what_was_spent_on_what(here: Run) -> None:
    budget = here("dataset", "budget", "sites", "--format", "json").json
    rows = list(
        csv.DictReader(io.StringIO(here("dataset", "budget", "sites", "--format", "csv").out))
    )
    assert [row["tier"] for row in rows] == ["public", "partner", "internal"]
    for row, tier in zip(rows, budget["tiers"], strict=True):
        assert float(row["spent_epsilon"]) == tier["spent"]["epsilon"]
        assert float(row["remaining_share"]) == tier["remaining_share"]
        assert row["spent_by"].startswith("visits ")
    assert float(rows[0]["spent_epsilon"]) == pytest.approx(0.1, rel=2e-3)


def test_a_budget_is_set_and_never_below_what_is_spent(here: Run) -> None:
    looked = here("dataset", "budget", "sites", "--set", "internal=6", "--preview")
    assert (looked.code, "Nothing was done" in looked.out + looked.err) == (0, True)
    assert here("dataset", "budget", "sites", "--preview").code == 2
    changed = here("dataset", "budget", "sites", "--set", "internal=6", "--format", "json")
    assert [tier["granted"]["epsilon"] for tier in changed.json["tiers"]] == [1, 2, 6]
    assert here("dataset", "budget", "sites", "--set", "internal=0.01").code == 3
    assert here("dataset", "budget", "sites", "--set", "internal").code == 2
    assert here("dataset", "budget", "sites", "--set", "internal=x").code == 2
    twice = here("dataset", "budget", "sites", "--set", "public=1", "--set", "public=2")
    assert twice.code == 2
