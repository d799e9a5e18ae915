"""Test that rows become the answer's vector exactly, wherever a key has none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.unit.connectors.cases import correlated_of, dataset_of, query_of, stated

from penstock.connectors.statements.decoding import decoded
from penstock.connectors.statements.statement import Statement

LARGEST = 2**62
WARDS = [{"column": "ward"}]


def rows_of(**columns: list[int]) -> dict[str, Any]:
    return {name: np.array(cells, dtype=np.int64) for name, cells in columns.items()}


def count() -> Statement:
    return stated(dataset_of(), query_of(group_by=WARDS))


def test_keys_without_rows_have_0_in_whatever_order_the_others_come() -> None:
    rows = rows_of(key=[2, 0], part_answer=[LARGEST, -LARGEST])
    assert decoded(count(), rows).tolist() == [-LARGEST, 0, LARGEST]
    assert decoded(count(), rows_of(key=[], part_answer=[])).tolist() == [0, 0, 0]


def test_a_text_of_an_older_version_returns_every_key_in_its_place() -> None:
    assert decoded(count(), rows_of(part_answer=[3, 0, LARGEST])).tolist() == [3, 0, LARGEST]


@pytest.mark.parametrize("keys", [[0, 0], [3], [-1]])
def test_a_key_that_is_not_declared_or_comes_twice_is_no_answer(keys: list[int]) -> None:
    rows = rows_of(key=keys, part_answer=[1] * len(keys))
    with pytest.raises(RuntimeError, match="a key twice, or one that is not declared"):
        decoded(count(), rows)


def test_groups_without_rows_are_apart_from_the_number_of_units_by_all_of_it() -> None:
    query = correlated_of(
        {"type": "count"}, group_by=WARDS, contribution={"max_groups": 3, "max_rows_per_group": 2}
    )
    written = stated(dataset_of(max_units=1000), query)
    assert written.returned == ("key", "part_answer", "size_answer")
    found = decoded(written, rows_of(key=[1], part_answer=[5], size_answer=[7]))
    every = replace(written, columns=written.columns)
    older = decoded(every, rows_of(part_answer=[-14, 5, -14], size_answer=[7, 7, 7]))
    assert found.tolist() == older.tolist()
    nobody = decoded(written, rows_of(key=[], part_answer=[], size_answer=[]))
    assert nobody.tolist() == [0] * len(found)


def test_a_known_size_still_needs_the_number_of_units() -> None:
    query = correlated_of(
        {"type": "count_units"},
        group_by=WARDS,
        contribution={"max_groups": 3},
        known_size=10,
    )
    written = stated(dataset_of(), query)
    assert (written.columns, written.returned) == (
        ("part_answer",),
        ("key", "part_answer", "size_answer"),
    )
    found = decoded(written, rows_of(key=[2], part_answer=[4], size_answer=[9]))
    assert found.tolist() == decoded(written, rows_of(part_answer=[-9, -9, 4])).tolist()
