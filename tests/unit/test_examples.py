"""Test that the example files agree with each other.

The query reads the data through the dataset.
"""

import csv
import json
from pathlib import Path

import pytest
from tests.unit.connectors.cases import Folder

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.examples import CSV, DATASET, QUERY


@pytest.fixture
def dataset() -> DatasetSpec:
    more = ("budgets", "delta")
    spec = {name: value for name, value in json.loads(DATASET).items() if name not in more}
    return DatasetSpec.model_validate_json(json.dumps(spec))


@pytest.fixture
def query() -> ComputedQuery:
    dropped = ("mechanism", "levels")
    spec = {name: value for name, value in json.loads(QUERY).items() if name not in dropped}
    return ComputedQuery.model_validate_json(json.dumps(spec))


def test_the_data_have_the_columns_of_the_dataset() -> None:
    header, *rows = csv.reader(CSV.splitlines())
    assert header == list(json.loads(DATASET)["columns"])
    assert {len(row) for row in rows} == {len(header)}


def test_tiers_of_the_query_have_a_budget_that_covers_their_level() -> None:
    budgets, levels = json.loads(DATASET)["budgets"], json.loads(QUERY)["levels"]
    assert set(levels) == set(budgets)
    for tier, level in levels.items():
        assert level["epsilon"] < budgets[tier]["epsilon"]


def test_the_query_counts_visits_of_2025_by_area(
    tmp_path: Path, dataset: DatasetSpec, query: ComputedQuery
) -> None:
    folder = Folder(tmp_path)
    (tmp_path / "visits.csv").write_text(CSV)
    plan = interpret(dataset, query)
    assert plan.step == 1
    assert folder.ask(dataset, query).tolist() == [1, 2 + 5]
