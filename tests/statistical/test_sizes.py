"""Vectors of one value and of ten million, in a bounded amount of memory."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.statistical.cases import GAUSSIAN, Case, every_case
from tests.statistical.checks import Pmf, accept, cells_of, chi_squared, rejects
from tests.statistical.paths import Streams, keyed_streams, lossless, zeros

from penstock.mechanisms import Gaussian, draw_anchor, place
from penstock.randomness import Stream

LARGE = 10_000_000
SINGLES = 4_000
LEVELS = tuple(Fraction(1 << 20) * factor for factor in (1, 2, 4))


def _fits(released: NDArray[np.int64], law: Pmf) -> float:
    cells = cells_of(law, 64)
    observed = np.bincount(cells.of(released), minlength=len(cells.masses))
    return chi_squared(observed, cells.masses * len(released))


def _single_values(case: Case, streams: Streams) -> NDArray[np.int64]:
    order = [case.levels[place] for place in (0, 5, 2)]
    paths = (lossless(case.mechanism, zeros(1), order, streams) for _ in range(SINGLES))
    return np.array([path[case.levels[2]][0] for path in paths])


@every_case
def test_vectors_of_one_value_follow_the_law_as_well(case: Case) -> None:
    released = _single_values(case, keyed_streams(f"single values/{case.name}"))
    law = case.law(Fraction(0), case.levels[2])
    accept(_fits(released, law), f"{case.name} one value at a time")


@every_case
def test_a_stream_that_starts_over_at_every_release_is_found_out(case: Case) -> None:
    released = _single_values(case, lambda: Stream.from_key(bytes(32)))
    assert rejects(_fits(released, case.law(Fraction(0), case.levels[2])))


@pytest.mark.slow
def test_ten_million_values_take_little_more_memory_than_their_own() -> None:
    mechanism, streams = Gaussian(Fraction(1)), keyed_streams("ten million")
    low, middle, high = LEVELS
    anchor = draw_anchor(mechanism, zeros(LARGE), low, streams())
    noisy = place(mechanism, (low, anchor), None, high, streams())
    tracemalloc.start()
    try:
        between = place(mechanism, (low, anchor), (high, noisy), middle, streams())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * anchor.nbytes
    accept(_fits(between, GAUSSIAN.law(Fraction(0), middle)), "ten million values")
    assert rejects(_fits(between, GAUSSIAN.law(Fraction(0), middle * Fraction(101, 100))))
