"""Test that made-up rows are of the declaration alone, and the same for the same seed."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.connectors.cases import VISITS, Folder, csv_text, dataset_of, query_of

from penstock.connectors.dummy import dummy_rows
from penstock.connectors.planning.prepare import check_source
from penstock.connectors.sources import Sources
from penstock.connectors.specs.cells import label


def column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


def test_rows_are_of_the_declared_columns_types_and_bounds() -> None:
    rows = dummy_rows(dataset_of(), 400, 0)
    assert len(rows) == 400
    assert {tuple(row) for row in rows} == {tuple(VISITS)}
    assert set(column(rows, "ward")) == {"a", "b", "c"}
    assert set(column(rows, "urgent")) == {False, True}
    assert set(column(rows, "day")) == {datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)}
    ages, costs = column(rows, "age"), column(rows, "cost")
    assert all(type(age) is int and 0 <= age <= 120 for age in ages)
    assert all(type(cost) is float and -10 <= cost <= 50 for cost in costs)
    assert len(set(costs)) > 300


def test_some_privacy_units_have_many_rows_and_most_have_few() -> None:
    rows = column(dummy_rows(dataset_of(), 3000, 0), "person")
    counts = sorted(rows.count(person) for person in set(rows))
    assert counts[-1] > 10 * counts[len(counts) // 2]
    as_number = dataset_of(columns={"person": {"type": "integer"}})
    assert all(type(row["person"]) is int for row in dummy_rows(as_number, 10, 0))


def test_the_seed_decides_every_row() -> None:
    first, again, other = (dummy_rows(dataset_of(), 50, seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_a_cell_is_empty_where_something_is_declared_to_stand_in_for_it() -> None:
    columns = {
        "person": {"type": "string"},
        "age": {"type": "integer", "missing": 0},
        "town": {"type": "string"},
    }
    rows = dummy_rows(dataset_of(columns=columns), 2000, 0)
    empty = column(rows, "age").count(None)
    assert 50 < empty < 160
    assert None not in column(rows, "town")


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "integer"},
        {"type": "integer", "lower": 5},
        {"type": "integer", "upper": -5},
        {"type": "integer", "lower": 0.4, "upper": 1.6},
        {"type": "integer", "lower": -(2**63) + 1, "upper": 2**63 - 1},
        {"type": "integer", "lower": 3, "upper": 3},
        {"type": "number", "lower": -1e18},
        {"type": "number"},
        {"type": "date"},
        {"type": "string"},
        {"type": "integer", "categories": [1, 2.0, 3]},
    ],
)
def test_whatever_is_declared_has_rows(declared: dict[str, Any]) -> None:
    columns = {"person": {"type": "string"}, "x": declared}
    values = column(dummy_rows(dataset_of(columns=columns), 200, 1), "x")
    assert len(values) == 200
    for value in values:
        assert declared.get("lower", value) <= value <= declared.get("upper", value)


def test_what_is_made_up_can_be_registered_and_asked(folder: Folder) -> None:
    rows = dummy_rows(dataset_of(), 300, 0)
    cells = [[label(cell) if cell is not None else None for cell in row.values()] for row in rows]
    (folder.path / "visits.csv").write_text(csv_text(folder.names, cells))
    check_source(dataset_of(), Sources(folder.path))
    query = query_of({"type": "count"}, contribution={"max_rows_per_group": 1000})
    assert folder.ask(dataset_of(), query).tolist() == [300]


def test_no_file_is_opened(tmp_path: Path) -> None:
    dataset = dataset_of(str(tmp_path / "nowhere.csv"))
    assert json.dumps(dummy_rows(dataset, 1, 0), default=str)
