"""Test ``penstock dataset version``: new data of a dataset, and the budget over all versions."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.data.stays import SPEC
from tests.unit.cli.program_runs import Run

QUERY = {
    "name": "towns",
    "dataset": "stays",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "mechanism": "gaussian",
    "share": 0.5,
}


@pytest.fixture
def stays(here: Run, tmp_path: Path) -> Run:
    """Register a dataset over a file, with a query; put a second file beside it."""
    for name, people in (("stays.csv", 40), ("new.csv", 50)):
        rows = "".join(f"p{number},north\n" for number in range(people))
        (tmp_path / name).write_text("person,town\n" + rows)
    (tmp_path / "stays.json").write_text(json.dumps(SPEC))
    (tmp_path / "towns.json").write_text(json.dumps(QUERY))
    assert here("dataset", "register", "stays.json").code == 0
    assert here("query", "register", "towns.json").code == 0
    return here


def written(folder: Path, **more: object) -> str:
    source = {"engine": "duckdb", "uri": "new.csv"}
    wanted = {"source": source, "budgets": {"public": {"epsilon": 2}}, **more}
    (folder / "version.json").write_text(json.dumps(wanted))
    return "version.json"


def test_new_data_have_a_budget_of_their_own(stays: Run, tmp_path: Path) -> None:
    done = stays("dataset", "version", "stays", written(tmp_path))
    assert done.code == 0, done.err
    assert "stays, version 2" in done.out
    again = {**QUERY, "name": "towns again"}
    (tmp_path / "towns.json").write_text(json.dumps(again))
    assert stays("query", "register", "towns.json").code == 0
    shown = stays("dataset", "budget", "stays")
    assert "version 2, which new queries are charged to" in shown.out
    assert "of 3 spent over all versions" in shown.out
    budget = stays("dataset", "budget", "stays", "--format", "json").json
    assert [version["version"] for version in budget["earlier"]] == [1]
    assert budget["together"][0]["granted"]["epsilon"] == 3
    listed = stays("dataset", "list", "--format", "json").json
    assert [(dataset["name"], dataset["version"]) for dataset in listed] == [
        ("sites", 1),
        ("stays", 2),
    ]


def test_other_people_are_stated(stays: Run, tmp_path: Path) -> None:
    done = stays("dataset", "version", "stays", written(tmp_path, disjoint_units=True))
    assert done.code == 0
    assert "with no people from earlier versions" in done.out
    budget = stays("dataset", "budget", "stays", "--format", "json").json
    assert budget["together"][0]["granted"]["epsilon"] == 2


def test_a_version_that_cannot_be_meant_exits_1(stays: Run, tmp_path: Path) -> None:
    assert stays("dataset", "version", "moon", written(tmp_path)).code == 1
    done = stays("dataset", "version", "stays", written(tmp_path, delta=1e-9))
    assert done.code == 1
    assert "/delta" in done.err
    assert stays("dataset", "version", "sites", written(tmp_path)).code == 1
