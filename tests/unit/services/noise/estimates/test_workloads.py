"""Test that the answers of a workload are listed by key, each with its interval."""

import numpy as np
import pytest

from penstock.connectors.planning.domain import WorkloadKeys, keys_of
from penstock.services.noise.estimates.workloads import answers_of
from penstock.services.schemas.views import ErrorView
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Given, Spans

WORKLOAD = Workload(
    (
        Factor(Spans("prefix", 2), Spans("identity", 2)),
        Factor(Given(((1, 1, 0), (1, 0, -3))), Spans("marginals", 3)),
    )
)
KEYS = WorkloadKeys(("ward", "age"), (("a", "b"), ("x", "y", "z")), WORKLOAD)


def test_each_answer_has_the_key_of_its_rows_and_an_interval_of_its_own_width() -> None:
    nodes = np.array([1.0, 2, 3, 6, 10, 20, 30, 60])
    shown = answers_of(KEYS, WORKLOAD, nodes, ErrorView(2.0, 0.95, 3.5))
    assert [each.key for each in shown] == [
        ["a", "x to y"],
        ["a", "row 2"],
        ["all", "x to y"],
        ["all", "row 2"],
    ]
    assert [each.value for each in shown] == pytest.approx([3, -8, 33, -88])
    # The inverse of I + J is I - J / 4.
    variances = [2 - 4 / 4, 10 - 4 / 4, 2 * (2 - 4 / 4), 2 * (10 - 4 / 4)]
    deviations = [2 * variance**0.5 for variance in variances]
    assert [each.standard_deviation for each in shown] == pytest.approx(deviations)
    for each, deviation in zip(shown, deviations, strict=True):
        assert each.value is not None
        assert each.lower == pytest.approx(each.value - 1.959964 * deviation)
        assert each.upper == pytest.approx(each.value + 1.959964 * deviation)
        assert (each.name, each.interval) == ("answer", "noise")


def test_noise_of_few_steps_has_the_wider_intervals_of_its_own_law() -> None:
    (first, *_) = answers_of(KEYS, WORKLOAD, np.zeros(8), ErrorView(1.0, 0.95, 3.0))
    assert first.upper == pytest.approx(3.0)


def test_keys_are_those_of_the_sums_and_come_back_as_they_were_stored() -> None:
    assert KEYS[:4] == [["a", "x"], ["a", "y"], ["a", "z"], ["a", "all"]]
    assert KEYS[7] == ["b", "all"]
    assert len(KEYS) == 8
    assert keys_of(KEYS.stored()) == KEYS
