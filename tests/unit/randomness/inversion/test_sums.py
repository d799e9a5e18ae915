"""Test binomial integers as sums of tabulated ones: their digits, their law, and when they pay."""

import itertools
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from penstock.randomness import Stream
from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.inversion import Table
from penstock.randomness.inversion.sums import BinomialSums
from penstock.randomness.inversion.weights import ERROR, binomial_table

CHANCE = Fraction(3, 7)


def _masses(table: Table) -> dict[int, mpmath.mpf]:
    ends = [0, *table.thresholds, CERTAIN]
    return {
        table.least + place: mpmath.mpf(end - begin) / CERTAIN
        for place, (begin, end) in enumerate(itertools.pairwise(ends))
    }


def _sum_of(tables: Sequence[Table]) -> dict[int, mpmath.mpf]:
    law = {0: mpmath.mpf(1)}
    for table in tables:
        masses = _masses(table)
        added: dict[int, mpmath.mpf] = {}
        for value, mass in law.items():
            for other, its in masses.items():
                added[value + other] = added.get(value + other, 0) + mass * its
        law = added
    return law


def _distance(trials: int, parts: Sequence[int]) -> mpmath.mpf:
    """Return the total variation of the sum of these parts from the law of ``trials``."""
    with mpmath.workdps(100):
        law = _sum_of([binomial_table(part, CHANCE) for part in parts])
        p = mpmath.mpf(CHANCE.numerator) / CHANCE.denominator
        exact = [
            mpmath.binomial(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)
        ]
        return sum(abs(law.get(k, 0) - mass) for k, mass in enumerate(exact)) / 2


def test_the_sum_of_the_parts_has_the_law_of_all_trials() -> None:
    assert _distance(150, (100, 48, 2)) < 3 * ERROR


def test_a_part_that_is_left_out_is_found_out() -> None:
    assert _distance(150, (100, 48, 1)) > 0.001


@pytest.mark.parametrize("bits", [0, 3, 5])
@pytest.mark.parametrize("low", [0, 200])
def test_parts_are_the_first_trials_and_two_digits(low: int, bits: int) -> None:
    """Sure successes count trials: tables of chances next to 1 have one value."""
    sums = BinomialSums(low, 300, bits, 1 - Fraction(1, 1 << 300))
    trials = np.arange(low, 301)
    out = np.empty_like(trials)
    sums.fill(trials, out, Stream.from_key(bytes(32)))
    assert (out == trials).all()


@pytest.mark.parametrize("size", [1, 40_000])
def test_draws_have_the_moments_of_their_trials(size: int, stream: Stream) -> None:
    trials = np.tile(np.array([0, 3, 40, 900], dtype=np.int64), size)
    out = np.empty_like(trials)
    BinomialSums(0, 900, 5, CHANCE).fill(trials, out, stream)
    assert ((out >= 0) & (out <= trials)).all()
    if size > 1:
        expected = np.array([0, 3, 40, 900]) * float(CHANCE)
        drawn = out.reshape(-1, 4)
        assert drawn.mean(axis=0) == pytest.approx(expected, rel=0.01)
        assert drawn.var(axis=0) == pytest.approx(expected * float(1 - CHANCE), rel=0.06)


def test_long_vectors_of_like_numbers_pay_for_tables() -> None:
    like = np.tile(np.arange(250, 350), 10_000)
    assert BinomialSums.for_trials(like, CHANCE) is not None
    assert BinomialSums.for_trials(like[:100], CHANCE) is None


@pytest.mark.parametrize("farthest", [1 << 20, 1 << 53])
def test_numbers_far_apart_do_not(farthest: int) -> None:
    trials = np.full(1 << 20, 300, dtype=np.int64)
    trials[7] = farthest
    assert BinomialSums.for_trials(trials, CHANCE) is None


def test_wide_laws_do_not() -> None:
    assert BinomialSums.for_trials(np.full(1 << 20, 1 << 40, dtype=np.int64), CHANCE) is None
