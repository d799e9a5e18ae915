"""Test that a plan is answered on made-up rows, whatever engine reads the data."""

import numpy as np
import pytest

from penstock.connectors.dummy import dummy_rows
from penstock.connectors.dummy_answers import dummy_answer
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec

SOURCES = [
    {"engine": "duckdb", "uri": "there-is-no-such-file.csv"},
    {"engine": "postgresql", "connection": "warehouse", "table": "public.people"},
]


def dataset(source: dict[str, str]) -> DatasetSpec:
    return DatasetSpec.model_validate(
        {
            "name": "people",
            "source": source,
            "privacy_unit": {"rows": 1},
            "neighboring": "add_remove",
            "columns": {
                "area": {"type": "string", "categories": ["a", "b", "ü"], "missing": "a"},
                "age": {"type": "integer", "lower": 0, "upper": 99, "missing": 7},
                "paid": {"type": "boolean"},
                "since": {"type": "date"},
                "weight": {"type": "number", "lower": 0, "upper": 2, "step": 0.5},
            },
            "max_units": 1000,
        }
    )


def query(**fields: object) -> ComputedQuery:
    return ComputedQuery.model_validate({"name": "trial", "dataset": "people", **fields})


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: str(source["engine"]))
def test_the_answer_is_that_of_the_rows_with_stand_ins_for_missing_cells(
    source: dict[str, str],
) -> None:
    spec = dataset(source)
    condition = {"column": "since", "op": ">=", "value": "2010-01-01"}
    plan = interpret(
        spec, query(where=condition, group_by="area", aggregate={"type": "sum", "column": "age"})
    )
    steps = dummy_answer(spec, plan, 500, 3)
    sums = dict.fromkeys(("a", "b", "ü"), 0)
    rows = dummy_rows(spec, 500, 3)
    for row in rows:
        if str(row["since"]) >= "2010-01-01":
            age = row["age"]
            sums[str(row["area"] or "a")] += age if isinstance(age, int) else 7
    assert {None} & {row["area"] for row in rows}, "some cells are missing"
    assert [int(step * plan.step) for step in steps] == list(sums.values())


def test_the_same_seed_gives_the_same_answer_and_another_one_another() -> None:
    spec = dataset(SOURCES[0])
    plan = interpret(spec, query(group_by="paid", aggregate={"type": "count"}))
    first, again, other = (dummy_answer(spec, plan, 100, seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.sum() == other.sum() == 100
