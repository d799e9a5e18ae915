"""Test the text of joined conditions, and that the largest one that is taken is run."""

from typing import Any

import pytest
from tests.unit.connectors.cases import Folder, dataset_of, query_of, stated

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
