"""Test how many rows of a unit count in each bin: evenly spaced ones, and never more than fit."""

from pathlib import Path

import numpy as np
import pytest
from tests.unit.connectors.cases import Folder, dataset_of, query_of

AGES = {"type": "quantiles", "column": "age", "lower": 0, "upper": 9}


def counts(path: Path, rows: list[tuple[str, str, int]], limits: tuple[int, int]) -> list[int]:
    """Return the counts of the ten bins of each of three wards."""
    folder = Folder(path, ["person", "ward", "age"])
    folder.csv(rows)
    columns = {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": ["a", "b", "c"]},
        "age": {"type": "integer"},
    }
    contribution = {"max_groups": limits[0], "max_rows_per_group": limits[1]}
    query = query_of(AGES, group_by=["ward"], contribution=contribution)
    answer = folder.ask(dataset_of(columns=columns), query).reshape(3, -1)
    return np.asarray(answer[:, :10]).ravel().tolist()


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (1, [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]),
        (2, [0, 0, 1, 0, 0, 0, 0, 1, 0, 0]),
        (5, [1, 0] * 5),
        (9, [1, 1, 1, 1, 1, 0, 1, 1, 1, 1]),
        (10, [1] * 10),
    ],
)
def test_of_a_unit_with_many_rows_evenly_spaced_ones_count(
    tmp_path: Path, most: int, expected: list[int]
) -> None:
    rows = [("ann", "a", age) for age in range(10)]
    found = counts(tmp_path, rows, (1, most))
    assert sum(found) == most
    assert found[:10] == expected


def test_the_median_of_a_unit_stands_for_all_of_its_rows(tmp_path: Path) -> None:
    rows = [("ann", "a", age) for age in (0, 7, 7, 7, 9)]
    assert counts(tmp_path, rows, (1, 1))[7] == 1


def test_all_bins_of_a_group_are_chosen_together(tmp_path: Path) -> None:
    rows = [("ann", ward, age) for ward in "abc" for age in (1, 2, 3)]
    found = np.array(counts(tmp_path, rows, (2, 3))).reshape(3, 10)
    assert sorted(found.sum(axis=1)) == [0, 3, 3]
