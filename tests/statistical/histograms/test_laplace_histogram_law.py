"""Test that sparse histograms with Laplace noise have the enumerated law of the dense one.

They have it whatever the order of their levels, and also after many levels close to each other.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracles.dense_histogram import DenseHistogram
from tests.oracles.laplace_histogram import patterns
from tests.statistical.checks import accept, chi_squared, rejects, same_law
from tests.statistical.histograms.histograms import Forgetting, Redrawing, Repeating
from tests.statistical.processes.paths import keyed_streams

from penstock.mechanisms import IntVector, Laplace
from penstock.privacy import Ladder
from penstock.randomness import Stream
from penstock.structures.sparse_histogram import LaplaceThresholds, SparseHistogram, Uint64
from penstock.structures.sparse_histogram.exact_crossing import Bar, ExactCrossing

MECHANISM = Laplace(Fraction(1, 16))
LADDER = Ladder(2, Fraction(1), 60, 16)
"""From scale 2 on, doubled every 16 rungs: 32 steps of the lattice and more."""

FINE = Ladder(2 * 1024, Fraction(1, 1024), 60, 256)
SIZE = 1 << 19
REACH = 3000
ORDERS = [(20, 10, 0), (10, 0, 20), (0, 20, 10), (10, 20, 0)]
COUNTED = 2
"""The count of the keys in the upper half of the domain."""

Kind = type[SparseHistogram | DenseHistogram]


def thresholds(ladder: Ladder) -> LaplaceThresholds:
    return LaplaceThresholds(ladder, MECHANISM.granularity, SIZE, {0: SIZE / 256})


def made(kind: Kind, label: str, ladder: Ladder = LADDER) -> SparseHistogram | DenseHistogram:
    ranks = np.arange(SIZE // 2, SIZE, dtype=np.uint64)
    counts = np.full(SIZE // 2, COUNTED)
    domain, streams = Uint64(SIZE), keyed_streams(label)
    return kind(MECHANISM, thresholds(ladder), domain, ranks, counts, 0, streams=streams)


def law(rungs: Sequence[int], count: int, ladder: Ladder = LADDER) -> NDArray[np.float64]:
    """Return the enumerated law of which of ``rungs``, in order, report a key."""
    scales = [ladder.value(rung) / MECHANISM.granularity for rung in rungs]
    bars = [thresholds(ladder).steps(rung) for rung in rungs]
    steps = int(count / MECHANISM.granularity)
    return patterns([math.exp(-1 / float(scale)) for scale in scales], bars, steps, REACH)


def seen(held: SparseHistogram | DenseHistogram, order: Sequence[int]) -> NDArray[np.int64]:
    """Return by key the rungs that reported it, as bits in increasing order."""
    place = {rung: bit for bit, rung in enumerate(sorted(order))}
    found = np.zeros(SIZE, dtype=np.int64)
    for rung in order:
        # Twice the same key in a report is twice its bit, and shows as another pattern.
        np.add.at(found, held.at(rung).ranks.astype(np.int64), 1 << place[rung])
    return found


def of_keys(kind: Kind, order: tuple[int, ...], half: int, label: str) -> float:
    """Return the P-value of the patterns of the keys in one half of the domain."""
    found = seen(made(kind, label), order)[half * SIZE // 2 :][: SIZE // 2]
    exact = law(sorted(order), half * COUNTED)
    if (found >= len(exact)).any():
        return 0.0
    return chi_squared(np.bincount(found, minlength=len(exact)), exact * (SIZE // 2))


@pytest.mark.parametrize(
    "order",
    [*ORDERS[:2], *(pytest.param(order, marks=pytest.mark.nightly) for order in ORDERS[2:])],
    ids=str,
)
def test_which_keys_appear_at_which_levels_has_its_enumerated_law(order: tuple[int, ...]) -> None:
    accept(of_keys(SparseHistogram, order, 0, f"laplace {order}"), f"absent keys, {order}")
    accept(of_keys(SparseHistogram, order, 1, f"laplace {order}"), f"present keys, {order}")
    assert rejects(of_keys(Redrawing, order, 0, f"laplace redrawn {order}"))
    assert rejects(of_keys(Repeating, order, 0, f"laplace repeated {order}"))


def test_keys_of_count_0_are_named_uniformly_under_laplace_noise() -> None:
    found = seen(made(SparseHistogram, "laplace uniform"), ORDERS[1])[: SIZE // 2]
    cells = np.bincount(np.flatnonzero(found) * 64 // (SIZE // 2), minlength=64)
    accept(chi_squared(cells, np.full(64, cells.sum() / 64)), "which keys")


def noise_table(kind: Kind, order: tuple[int, ...], label: str) -> NDArray[np.int64]:
    """Count keys of count 0 seen somewhere, by cells of their noise at all three levels."""
    held = made(kind, label)
    free = np.flatnonzero((seen(held, order) > 0) & (np.arange(SIZE) < SIZE // 2))
    at = np.searchsorted(held._ranks, free.astype(np.uint64))
    cells = np.zeros(len(free), dtype=np.int64)
    for rung in sorted(order):
        edges = thresholds(LADDER).steps(rung) * np.array([0.0, 0.5, 0.8, 1.0, 1.1, 1.25])
        cells = cells * 7 + np.searchsorted(edges, held._path[rung][at], side="right")
    return np.bincount(cells, minlength=343)


@pytest.mark.parametrize("order", ORDERS[:2], ids=str)
def test_laplace_noise_of_keys_that_joined_is_that_of_the_dense_histogram(
    order: tuple[int, ...],
) -> None:
    dense = noise_table(DenseHistogram, order, f"laplace dense {order}")
    own = noise_table(SparseHistogram, order, f"laplace noise {order}")
    accept(same_law(dense, own), f"{order}")
    forgotten = noise_table(Forgetting, order, f"laplace forgot {order}")
    assert rejects(same_law(dense, forgotten))


class Unweighted(ExactCrossing):
    """Take a candidate whose path is silent, however likely that silence was: broken."""

    def _never_above(self, size: int, _: Stream) -> NDArray[np.bool_]:
        return np.ones(size, dtype=np.bool_)


CLOSE = range(40)
NEW = 50
KEYS, RUNS = 1 << 20, 8


def joined(kind: type[ExactCrossing], label: str) -> float:
    """Return the P-value of how many keys join after forty levels close to each other."""
    limits = thresholds(FINE)
    bars = [Bar(FINE.value(rung), limits.steps(rung)) for rung in (*CLOSE, NEW)]
    chance = _joining_chance(bars)
    crossing, streams = kind(MECHANISM, bars[:-1], bars[-1]), keyed_streams(label)
    total = sum(crossing.draw(KEYS, streams()).shape[1] for _ in range(RUNS))
    expected = KEYS * RUNS * chance
    observed: IntVector = np.array([total, KEYS * RUNS - total])
    return chi_squared(observed, np.array([expected, KEYS * RUNS - expected]))


def _joining_chance(bars: Sequence[Bar]) -> float:
    """Return the chance of the last bar to be passed first, of the keys that pass none before."""
    from scipy.signal import fftconvolve
    from tests.oracles.laplace_histogram import moved

    values = np.arange(-REACH, REACH + 1)
    mass, before = np.eye(1, 2 * REACH + 1, REACH)[0], 0.0
    for bar in bars[:-1]:
        p = math.exp(-float(MECHANISM.granularity / bar.scale))
        mass = fftconvolve(mass, moved(before, p, REACH), mode="same")
        mass, before = mass * (values <= bar.threshold), p
    p = math.exp(-float(MECHANISM.granularity / bars[-1].scale))
    last = fftconvolve(mass, moved(before, p, REACH), mode="same")
    return float(last[values > bars[-1].threshold].sum() / mass.sum())


def test_after_many_close_levels_as_many_join_as_the_enumeration_says() -> None:
    accept(joined(ExactCrossing, "laplace close"), "forty levels before")
    assert rejects(joined(Unweighted, "laplace unweighted"))
