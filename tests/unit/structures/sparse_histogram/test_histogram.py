"""Test that a sparse histogram hands out the same at every level, whatever was asked before."""

import numpy as np
import pytest
from tests.oracles.dense_histogram import DenseHistogram
from tests.unit.structures.small_histogram import (
    CEILING,
    COUNTS,
    DOMAIN,
    LADDER,
    MECHANISM,
    ORDERS,
    RANKS,
    THRESHOLDS,
    histogram,
    keyed,
)

from penstock.errors import InvalidInput
from penstock.structures.sparse_histogram import (
    SparseHistogram,
    Thresholds,
    Uint64,
)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_a_repeat_returns_the_same_report(order: tuple[int, ...]) -> None:
    held = histogram()
    first = {rung: held.at(CEILING + rung) for rung in order}
    for rung, report in first.items():
        again = held.at(CEILING + rung)
        assert (again.ranks == report.ranks).all()
        assert (again.steps == report.steps).all()
        assert len(report.ranks) > 3


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_the_same_streams_give_the_same_histogram(order: tuple[int, ...]) -> None:
    one, other, third = histogram(), histogram(), histogram("another")
    for rung in order:
        reports = [held.at(CEILING + rung) for held in (one, other, third)]
        assert reports[0].ranks.tolist() == reports[1].ranks.tolist()
        assert reports[0].steps.tolist() == reports[1].steps.tolist()
        assert reports[0].ranks.tolist() != reports[2].ranks.tolist()


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_keys_are_handed_out_in_the_order_of_the_domain(order: tuple[int, ...]) -> None:
    held = histogram()
    for rung in order:
        report = held.at(CEILING + rung)
        assert (np.diff(report.ranks.astype(object)) > 0).all()
        assert (report.values > float(THRESHOLDS.at(CEILING + rung))).all()
        assert {2**63, 5, 2**64 - 1} <= set(report.ranks.tolist())


def test_keys_that_are_given_in_another_order_make_no_difference() -> None:
    turned = SparseHistogram(
        MECHANISM, THRESHOLDS, DOMAIN, RANKS[::-1], COUNTS[::-1], CEILING, streams=keyed("one")
    )
    one, other = histogram().at(CEILING), turned.at(CEILING)
    assert one.steps.tolist() == other.steps.tolist()
    assert one.ranks.tolist() == other.ranks.tolist()


@pytest.mark.parametrize("size", [2, 8])
def test_a_domain_may_be_used_up(size: int) -> None:
    domain = Uint64(size)
    thresholds = Thresholds(LADDER, MECHANISM.granularity, size, {CEILING: size / 4})
    held = SparseHistogram(
        MECHANISM, thresholds, domain, np.array([1], np.uint64), np.array([9]), CEILING
    )
    for rung in range(CEILING, LADDER.last, 100):
        held.at(rung)
    assert sorted(set(held.ranks.tolist())) == held.ranks.tolist()
    assert len(held.ranks) > size / 2
    assert int(held.ranks[-1]) < size


def test_a_histogram_without_any_count_reports_false_keys_alone() -> None:
    nothing = np.empty(0, dtype=np.uint64)
    held = SparseHistogram(
        MECHANISM, THRESHOLDS, DOMAIN, nothing, nothing, CEILING, streams=keyed("none")
    )
    assert 0 < len(held.at(CEILING + 40).ranks) < 60
    assert len(held.at(CEILING).ranks) > 0


@pytest.mark.parametrize("kind", [SparseHistogram, DenseHistogram])
def test_what_cannot_be_meant_is_refused(kind: type[SparseHistogram | DenseHistogram]) -> None:
    domain = Uint64(100)
    thresholds = Thresholds(LADDER, MECHANISM.granularity, 100, {CEILING: 1.0})

    def make(ranks: list[int], counts: list[float]) -> SparseHistogram | DenseHistogram:
        return kind(
            MECHANISM, thresholds, domain, np.array(ranks, np.uint64), np.array(counts), CEILING
        )

    wrong: list[tuple[list[int], list[float]]] = [([3, 3], [1, 2]), ([100], [1]), ([1, 2], [1])]
    for ranks, counts in [*wrong, ([1], [0.1])]:
        with pytest.raises(InvalidInput):
            make(ranks, counts)
    held = make([3], [7])
    with pytest.raises(InvalidInput, match="more accurate than the ceiling"):
        held.at(CEILING - 1)
    with pytest.raises(InvalidInput, match="outside of the ladder"):
        held.at(LADDER.last + 1)


def test_thresholds_of_another_domain_are_refused() -> None:
    with pytest.raises(InvalidInput, match="thresholds are those of"):
        SparseHistogram(MECHANISM, THRESHOLDS, Uint64(10), RANKS[1:2], COUNTS[1:2], CEILING)
    with pytest.raises(InvalidInput, match="too many"):
        DenseHistogram(MECHANISM, THRESHOLDS, DOMAIN, RANKS, COUNTS, CEILING)
