"""Test vectors of one value and of ten million, in a bounded amount of memory."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.statistical.cases import CASES, GAUSSIAN, Case
from tests.statistical.checks import Pmf, accept, cells_of, chi_squared, rejects
from tests.statistical.processes.paths import Streams, keyed_streams, lossless, zeros
from tests.statistical.sample_sizes import every_size
from tests.statistical.samplers.vectors import LARGE, LEVELS, SIZE

from penstock.mechanisms import Gaussian, draw_anchor, place
from penstock.randomness import Stream

SINGLES, MANY_SINGLES = 1_600, 4_000
"""1,600 give each of 64 cells the 25 values below which cells are pooled."""


def _fits(released: NDArray[np.int64], law: Pmf) -> float:
    cells = cells_of(law, 64)
    observed = np.bincount(cells.of(released), minlength=len(cells.masses))
    return chi_squared(observed, cells.masses * len(released))


def _single_values(case: Case, streams: Streams, *, large: bool) -> NDArray[np.int64]:
    order = [case.levels[place] for place in (0, 5, 2)]
    many = MANY_SINGLES if large else SINGLES
    paths = (lossless(case.mechanism, zeros(1), order, streams) for _ in range(many))
    return np.array([path[case.levels[2]][0] for path in paths])


@every_size
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[pytest.mark.nightly] if case.name == "skellam" else [])
        for case in CASES
    ],
    ids=lambda case: case.name,
)
def test_vectors_of_one_value_follow_the_law_as_well(case: Case, *, large: bool) -> None:
    released = _single_values(case, keyed_streams(f"single values/{case.name}"), large=large)
    law = case.law(Fraction(0), case.levels[2])
    accept(_fits(released, law), f"{case.name} one value at a time")


@pytest.mark.parametrize(
    "case",
    [case if case is GAUSSIAN else pytest.param(case, marks=pytest.mark.nightly) for case in CASES],
    ids=lambda case: case.name,
)
def test_a_stream_that_starts_over_at_every_release_is_found_out(case: Case) -> None:
    released = _single_values(case, lambda: Stream.from_key(bytes(32)), large=False)
    assert rejects(_fits(released, case.law(Fraction(0), case.levels[2])))


@every_size
def test_millions_of_values_take_little_more_memory_than_their_own(*, large: bool) -> None:
    size = LARGE if large else SIZE
    mechanism, streams = Gaussian(Fraction(1)), keyed_streams("ten million")
    low, middle, high = LEVELS
    anchor = draw_anchor(mechanism, zeros(size), low, streams())
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
