"""Test the text of joined conditions, and that the largest one that is taken is run."""

from typing import Any

import pyarrow as pa
import pytest
from tests.unit.connectors.cases import VISITS, Folder, dataset_of, query_of, stated

from penstock.connectors.formulas.arithmetic import MOST_OPERANDS
from penstock.connectors.formulas.conditions import DEEPEST, MOST_ENTRIES


def test_what_is_joined_stands_in_parentheses() -> None:
    either = {"any": [{"column": "age", "op": "is_null"}, {"column": "age", "op": ">", "value": 1}]}
    late = {"column": "cost", "op": ">", "value": 1}
    text = " ".join(stated(dataset_of(), query_of(where=[either, late])).text.split())
    assert "( ( typed.c1 > CAST('1' AS BIGINT) ) OR ( typed.c1 IS NULL ) )" in text


@pytest.mark.parametrize("joining", ["any", "all"])
def test_as_many_conditions_as_are_taken_are_run(folder: Folder, joining: str) -> None:
    folder.csv([("ann", "a", 5, 1, "true", None), ("ben", "a", -1, 1, "true", None)])
    entries: list[dict[str, Any]] = [
        {"column": "age", "op": "!=", "value": number}
        for number in range(MOST_ENTRIES - 2 * DEEPEST)
    ]
    entry: dict[str, Any] = {joining: entries}
    for depth in range(DEEPEST - 2):
        # Neither changes which rows are kept.
        joined = ("all", "any")[(depth + (joining == "all")) % 2]
        same = {"column": "urgent", "op": "=", "value": joined == "all"}
        entry = {joined: [entry, same]}
    assert folder.ask(dataset_of(), query_of(where=[entry])).tolist() == [
        {"any": 2, "all": 1}[joining]
    ]


def test_products_and_sums_within_each_other_are_written_and_run(folder: Folder) -> None:
    # Parts of 64 operands within each other, up to the most parts of a query.
    columns = {**VISITS, "flag": {"type": "integer", "lower": 0, "upper": 1}}
    flag = {"column": "flag"}
    expression: dict[str, Any] = {"multiply": [flag] * MOST_OPERANDS}
    for _ in range(3):
        cut = {"case": [{"when": {**flag, "op": ">", "value": 0}, "then": expression}], "else": 0}
        summed = {"add": [cut, *[{"negate": flag}] * 40]}
        positive = {"case": [{"when": {**flag, "op": ">", "value": 0}, "then": 1}], "else": summed}
        expression = {"multiply": [{"add": [positive, 1]}, *[flag] * 30]}
    dataset = dataset_of("visits.parquet", columns=columns)
    cells = {"person": ["ann", "ben"], "flag": [1, 0]}
    folder.parquet({name: pa.array(cells.get(name, [None] * 2)) for name in columns})
    query = query_of({"type": "sum", "column": "x"}, derived={"x": expression})
    assert folder.ask(dataset, query).tolist() == [2]
