"""Test the public settings of a sparse histogram: false keys by rung, and reports as one vector."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from tests.support.rows import row

from penstock.errors import InvalidInput
from penstock.persistence.tables import Tier
from penstock.services.noise.histogram_settings import (
    HistogramShape,
    most,
    require_fitting,
    settled,
)
from penstock.structures.sparse_histogram import joined, parted

TIERS = [
    row(Tier, id=place, name=name, folded=name, rank=place) for place, name in enumerate("abc")
]
DOMAIN: dict[str, Any] = {"type": "uint64"}
LIMIT = cast(Tier, SimpleNamespace(rank=0))


def test_one_number_holds_for_the_most_accurate_rung() -> None:
    shape = settled(DOMAIN, 2.0, {"a": 9, "b": 4}, TIERS, None)
    assert shape.false_keys == ((4, 2.0),)
    assert HistogramShape.decoded(shape.encoded()) == shape


def test_numbers_by_tier_are_kept_by_rung_and_those_out_of_sight_passed_over() -> None:
    rungs = {"a": 9, "b": 4}
    assert settled(DOMAIN, {"a": 1.0, "b": 2.0}, rungs, TIERS, None).false_keys == (
        (4, 2.0),
        (9, 1.0),
    )
    assert settled(DOMAIN, {"a": 1.0, "b": 2.0}, {"a": 9}, TIERS, LIMIT).false_keys == ((9, 1.0),)


@pytest.mark.parametrize(
    ("false_keys", "rungs", "says"),
    [
        ({"moon": 1.0}, {"a": 9}, "no tier 'moon'"),
        ({"c": 1.0}, {"a": 9}, "does not see this query"),
        ({"a": 1.0, "b": 2.0}, {"a": 9, "b": 9}, "have the same level"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(
    false_keys: dict[str, float], rungs: dict[str, int], says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        settled(DOMAIN, false_keys, rungs, TIERS, None)


def test_the_most_of_all_tiers_counts() -> None:
    assert (most(0.5), most({"a": 0.5, "b": 3.0})) == (0.5, 3.0)


def test_a_report_is_one_vector_and_comes_apart_again() -> None:
    ranks, steps = np.array([0, 2**64 - 1], dtype=np.uint64), np.array([7, -1])
    again, own = parted(joined(ranks, steps))
    assert (again.tolist(), own.tolist()) == (ranks.tolist(), steps.tolist())


@pytest.mark.parametrize(("mechanism", "delta"), [("poisson", 1e-6), ("gaussian", 0.0)])
def test_other_noise_and_a_delta_of_0_are_refused(mechanism: str, delta: float) -> None:
    require_fitting("gaussian", 1e-6)
    require_fitting("laplace", 0.0)
    with pytest.raises(InvalidInput):
        require_fitting(mechanism, delta)
