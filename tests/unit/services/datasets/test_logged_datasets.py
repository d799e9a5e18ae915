"""Test leaves of datasets.

Versions, withdrawals, and groups of the same people that come and go.
"""

from typing import Any

import pytest
from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services.datasets.logged_datasets import LoggedDatasets

GROUPS = "the datasets declared to hold the same people are not those of the log"


def same(dataset: str, other: str) -> dict[str, Any]:
    return {"kind": "dataset", "dataset": dataset, "version": 1, "same_people_as": other}


def test_every_registration_is_missed(world: World) -> None:
    assert "dataset" not in logged.kinds(logged.unmissed(world, LoggedDatasets))


@pytest.mark.parametrize(
    ("field", "value"),
    [("delta", 1e-3), ("neighboring", "replace_one"), ("version", 2), ("disjoint_units", True)],
)
def test_another_delta_relation_or_version_is_told(world: World, field: str, value: object) -> None:
    altered = [
        {**leaf, field: value} if leaf["kind"] == "dataset" else leaf
        for leaf in logged.leaves(world)
    ]
    assert "the datasets are not those of the log" in logged.differences(
        world, LoggedDatasets, altered
    )


def test_groups_are_joined_through_what_they_share(world: World) -> None:
    whole = logged.leaves(world)
    declared = [*whole, same("sites", "other"), same("other", "third")]
    assert logged.differences(world, LoggedDatasets, declared) == [GROUPS]


def test_a_dataset_of_which_no_version_is_left_leaves_its_group(world: World) -> None:
    whole = logged.leaves(world)
    other = {"kind": "dataset", "dataset": "other", "version": 1}
    registered = {**other, "delta": 1e-6, "neighboring": "add_remove"}
    gone = [*whole, registered, same("other", "sites"), {**other, "withdrawn": True}]
    assert GROUPS not in logged.differences(world, LoggedDatasets, gone)
    assert GROUPS in logged.differences(world, LoggedDatasets, gone[:-1])
