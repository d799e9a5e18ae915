"""Test that sparse histograms have the law of the dense one, whatever the order of their levels."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.oracles.dense_histogram import DenseHistogram
from tests.statistical.checks import accept, chi_squared, rejects, same_law
from tests.statistical.histograms.histograms import (
    CEILING,
    COARSE,
    LADDER,
    MECHANISM,
    Course,
    Forgetting,
    Redrawing,
    Repeating,
)
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.sample_sizes import every_size

from penstock.mechanisms import Gaussian
from penstock.structures.sparse_histogram import SparseHistogram, Thresholds, Uint64

Kind = type[SparseHistogram | DenseHistogram]

INCREASING = (20, 10, 0)
"""Of increasing accuracy, as in the papers' algorithm; the others are shuffled."""

ORDERS = [INCREASING, (10, 0, 20), (0, 20, 10), (10, 20, 0)]
RUNS, MANY_RUNS = 2_000, 2_500
"""Noise that is drawn again needs 1,700 runs at most (measured over 600 and 1,500, by
``sample_sizes``); a key that is repeated is seen in some of the first runs."""

LARGE = 1 << 18


def small(order: tuple[int, ...], size: int) -> Course:
    return Course(size, {1: 2}, 0.2, order)


def enumerated(kind: Kind, course: Course, label: str, runs: int = RUNS) -> float:
    """Return the P-value of the joint patterns of all keys: every one of them, keys told apart."""
    keys = course.size
    laws = [course.law(course.counts.get(rank, 0)) for rank in range(keys)]
    patterns = len(laws[0])
    expected = np.ones(1)
    for law in laws:
        expected = np.multiply.outer(expected, np.append(law, 0.0)).ravel()
    streams = keyed_streams(label)
    observed = np.zeros(len(expected), dtype=np.int64)
    for _ in range(runs):
        seen = course.seen(course.make(kind, streams))
        if (seen >= patterns).any():
            return 0.0
        observed[np.ravel_multi_index(list(seen), [patterns + 1] * keys)] += 1
    return chi_squared(observed[expected > 0], expected[expected > 0] * runs)


def counted(kind: Kind, course: Course, label: str, runs: int = RUNS) -> float:
    """Return the P-value of how many keys of 8 have each pattern, with their counts told apart."""
    law = course.law(0)
    streams = keyed_streams(label)
    observed = np.zeros((course.size + 1, len(law)), dtype=np.int64)
    for _ in range(runs):
        seen = course.seen(course.make(kind, streams))
        free = np.delete(seen, list(course.counts))
        if (free >= len(law)).any():
            return 0.0
        tally = np.bincount(free, minlength=len(law))
        observed[tally, np.arange(len(law))] += 1
    free_keys = course.size - len(course.counts)
    # One pattern's number is binomial; the worst of them is read, with all of them counted.
    values = [_binomial(observed[:, i], free_keys, law[i]) for i in range(len(law))]
    return min(1.0, min(values) * len(values))


def _binomial(observed: NDArray[np.int64], keys: int, chance: float) -> float:
    expected = np.zeros(len(observed))
    expected[: keys + 1] = stats.binom.pmf(np.arange(keys + 1), keys, chance)
    return chi_squared(observed, expected * observed.sum())


@pytest.mark.parametrize(
    "order", [ORDERS[1], pytest.param(INCREASING, marks=pytest.mark.nightly)], ids=str
)
def test_which_keys_appear_at_which_levels_has_its_exact_law(order: tuple[int, ...]) -> None:
    accept(enumerated(SparseHistogram, small(order, 3), f"three {order}"), f"3 keys, {order}")


@pytest.mark.parametrize(
    "order", [ORDERS[2], pytest.param(ORDERS[3], marks=pytest.mark.nightly)], ids=str
)
def test_how_many_keys_appear_at_which_levels_has_its_exact_law(order: tuple[int, ...]) -> None:
    accept(counted(SparseHistogram, small(order, 8), f"eight {order}"), f"8 keys, {order}")


@pytest.mark.nightly
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_both_laws_are_exact_in_every_order_over_many_runs(order: tuple[int, ...]) -> None:
    which = enumerated(SparseHistogram, small(order, 3), f"three {order}", MANY_RUNS)
    accept(which, f"3 keys, {order}")
    numbers = counted(SparseHistogram, small(order, 8), f"eight {order}", MANY_RUNS)
    accept(numbers, f"8 keys, {order}")


@pytest.mark.parametrize(
    "order", [ORDERS[0], pytest.param(ORDERS[1], marks=pytest.mark.nightly)], ids=str
)
def test_the_dense_histogram_has_that_law(order: tuple[int, ...]) -> None:
    accept(enumerated(DenseHistogram, small(order, 3), f"dense {order}"), f"dense, {order}")


@pytest.mark.parametrize(
    ("kind", "order"),
    [
        (Redrawing, ORDERS[1]),
        pytest.param(Redrawing, INCREASING, marks=pytest.mark.nightly),
        (Repeating, ORDERS[1]),
        pytest.param(Repeating, INCREASING, marks=pytest.mark.nightly),
    ],
    ids=str,
)
def test_broken_histograms_of_three_keys_are_found_out(
    kind: type[SparseHistogram], order: tuple[int, ...]
) -> None:
    assert rejects(enumerated(kind, small(order, 3), f"{kind.__name__} {order}"))


def large(order: tuple[int, ...], mechanism: Gaussian = MECHANISM) -> Course:
    """Return counts that all stand in the upper half of the ranks."""
    counts = dict.fromkeys(range(LARGE // 2, LARGE), 2)
    return Course(LARGE, counts, 0.03, order, mechanism)


def patterns_of(
    kind: Kind, order: tuple[int, ...], label: str, mechanism: Gaussian = MECHANISM
) -> float:
    course = large(order, mechanism)
    seen = course.seen(course.make(kind, keyed_streams(label)))[: LARGE // 2]
    law = course.law(0)
    if (seen >= len(law)).any():
        return 0.0
    return chi_squared(np.bincount(seen, minlength=len(law)), law * (LARGE // 2))


@pytest.mark.parametrize(
    "order",
    [
        *ORDERS[:2],
        *(pytest.param(order, marks=pytest.mark.nightly) for order in ORDERS[2:]),
    ],
    ids=str,
)
def test_patterns_over_a_large_domain_have_their_exact_law(order: tuple[int, ...]) -> None:
    accept(patterns_of(SparseHistogram, order, f"large {order}"), f"large, {order}")
    assert rejects(patterns_of(Redrawing, order, f"large redrawn {order}"))
    assert rejects(patterns_of(Repeating, order, f"large repeated {order}"))


def test_patterns_on_the_coarsest_lattice_have_the_law_of_real_noise() -> None:
    """Where large counts leave no room for more, a deviation has 2^14 steps."""
    accept(patterns_of(SparseHistogram, ORDERS[1], "coarse", COARSE), "coarse lattice")
    assert rejects(patterns_of(Redrawing, ORDERS[1], "coarse redrawn", COARSE))


def test_keys_of_count_0_are_named_uniformly() -> None:
    course = large(ORDERS[1])
    seen = course.seen(course.make(SparseHistogram, keyed_streams("uniform")))[: LARGE // 2]
    cells = np.bincount(np.flatnonzero(seen) * 64 // (LARGE // 2), minlength=64)
    accept(chi_squared(cells, np.full(64, cells.sum() / 64)), "which keys")


def noise_table(kind: Kind, order: tuple[int, ...], label: str) -> NDArray[np.int64]:
    """Count keys of count 0 seen somewhere, by cells of their noise at all three levels."""
    course = large(order)
    held = course.make(kind, keyed_streams(label))
    seen = course.seen(held)
    free = np.flatnonzero((seen > 0) & (np.arange(LARGE) < LARGE // 2))
    ranks = held._ranks
    at = np.searchsorted(ranks, free.astype(np.uint64))
    cells = np.zeros(len(free), dtype=np.int64)
    for rung in sorted(order):
        threshold = course.thresholds.steps(rung)
        edges = threshold * np.array([0.0, 0.5, 0.8, 1.0, 1.1, 1.25])
        cells = cells * 7 + np.searchsorted(edges, held._path[rung][at], side="right")
    return np.bincount(cells, minlength=343)


@pytest.mark.parametrize("order", ORDERS[:2], ids=str)
def test_noise_of_keys_that_joined_is_that_of_the_dense_histogram(order: tuple[int, ...]) -> None:
    dense = noise_table(DenseHistogram, order, f"noise dense {order}")
    accept(same_law(dense, noise_table(SparseHistogram, order, f"noise {order}")), f"{order}")
    assert rejects(same_law(dense, noise_table(Forgetting, order, f"noise forgot {order}")))


@every_size
def test_over_all_64_bit_keys_as_many_are_reported_as_are_expected(*, large: bool) -> None:
    runs = 800 if large else 400
    expected, nothing = 20.0, np.empty(0, dtype=np.uint64)
    thresholds = Thresholds(LADDER, MECHANISM.granularity, 1 << 64, {CEILING: expected})
    streams, found = keyed_streams("all 64 bits"), np.zeros((3, runs), dtype=np.int64)
    for run in range(runs):
        held = SparseHistogram(
            MECHANISM, thresholds, Uint64(), nothing, nothing, CEILING, streams=streams
        )
        for row, rung in enumerate(ORDERS[1]):
            found[row, run] = len(held.at(rung).ranks)
    for row, rung in enumerate(ORDERS[1]):
        cells = np.arange(12, 29)
        law = np.diff(stats.poisson.cdf(cells, expected), prepend=0, append=1)
        counted_in = np.bincount(np.searchsorted(cells, found[row]), minlength=len(law))
        accept(chi_squared(counted_in, law * runs), f"2^64 keys, rung {rung}")
