"""Measure sparse histograms over domains of very different sizes, with the same support.

The keys of count 0 are never visited, so that time and state are those of the support.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.pairing import in_turns, median, ratio

from penstock.randomness import Stream
from penstock.structures.sparse_histogram import SparseHistogram, Thresholds, Uint64, plan
from penstock.structures.sparse_histogram.crossing import crossing_of

GOAL = Goal(3, at_most=True)
CEILING = Fraction(25)
BETWEEN = (200, 0, 100, 50, 150)
"""Rungs above the ceiling's, in the order of the releases: neither up nor down."""


@dataclass(frozen=True)
class Setting:
    """Hold how many keys are not 0, the domains from the smallest on, and how often."""

    keys: int = 100_000
    sizes: tuple[int, ...] = (10**6, 1 << 20, 10**9, 1 << 64)
    false_keys: float = 10.0
    rounds: int = 9


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Return the seconds from the counts to five releases, and the ratio to those of 2^20."""
    tasks = {_name(size): partial(_release, size, setting) for size in setting.sizes}
    taken = in_turns(setting.rounds, tasks)
    found = [median(f"{name} keys", times, "ms", 1e3) for name, times in taken.items()]
    base = setting.sizes[1]
    for size in setting.sizes:
        if size != base:
            name = f"{_name(size)} keys over {_name(base)}"
            found.append(ratio(name, taken[_name(size)], taken[_name(base)], GOAL))
    return found


def _release(size: int, setting: Setting) -> None:
    """Release with quadrature done again each time, though a server would remember it."""
    crossing_of.cache_clear()
    mechanism, ladder = plan(CEILING, Fraction(1), Fraction(2**31))
    ceiling = ladder.rung_at_or_above(CEILING)
    thresholds = Thresholds(ladder, mechanism.granularity, size, {ceiling: setting.false_keys})
    step = np.uint64(size // setting.keys)
    ranks = np.arange(setting.keys, dtype=np.uint64) * step
    counts = np.full(setting.keys, 1_000, dtype=np.int64)
    held = SparseHistogram(
        mechanism, thresholds, Uint64(size), ranks, counts, ceiling, streams=Stream.fresh
    )
    for rung in BETWEEN:
        report = held.at(ceiling + rung)
        false = len(report.ranks) - setting.keys
        assert 0 <= false < 20 + 10 * setting.false_keys, f"{false} false keys"
        error = np.abs(report.values[np.searchsorted(report.ranks, ranks)] - 1_000).max()
        assert error < 12 * float(ladder.value(ceiling + rung)) ** 0.5, f"an error of {error}"


def _name(size: int) -> str:
    power = size.bit_length() - 1
    return f"2^{power}" if size == 1 << power else f"10^{len(str(size)) - 1}"
