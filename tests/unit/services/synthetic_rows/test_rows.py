"""Test how a release's keys and spec become columns of a table."""

from typing import Any

import pytest

from penstock.connectors.planning.domain import Domain
from penstock.services.synthetic_rows import rows

LABELS = (("a", "b"), ("0-39", "40-79", "80-"))


def test_many_keys_and_few_have_the_same_labels() -> None:
    domain = Domain(LABELS)
    assert rows._labels(domain) == LABELS == rows._labels(list(domain))
    assert rows._labels(["a", "b"]) == (("a", "b"),)
    assert rows._labels(range(3)) == ()


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ({"group_by": [{"column": "ward"}, {"column": "age"}]}, ["ward", "age"]),
        ({"group_by": [{"column": "age"}, {"column": "age"}]}, ["key_1", "key_2"]),
        ({"group_by": [{"column": "ward"}]}, ["key_1", "key_2"]),
        ({}, ["key_1", "key_2"]),
    ],
)
def test_columns_are_named_as_they_were_grouped_by(spec: dict[str, Any], names: list[str]) -> None:
    assert rows._names(spec, 2) == names


def test_releases_have_seeds_of_their_own() -> None:
    seeds = {rows._seed(f"release {number}") for number in range(100)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**32 for seed in seeds)
