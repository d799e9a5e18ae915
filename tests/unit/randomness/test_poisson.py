"""Test Poisson draws: the table of small means, and the edges of both ways."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from penstock.randomness import Stream
from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.poisson import _table, poisson


@pytest.mark.parametrize("mean", [Fraction(1, 1 << 20), Fraction(7, 3), Fraction(1599, 100)])
def test_the_table_is_the_distribution_function(mean: Fraction) -> None:
    table = _table(mean)
    thresholds, first = table.thresholds, table.first
    with mpmath.workdps(90):
        m = mpmath.mpf(mean.numerator) / mean.denominator
        total = mpmath.mpf(0)
        distance = mpmath.mpf(0)
        for k, value in enumerate(thresholds):
            total += mpmath.exp(-m) * m**k / mpmath.factorial(k)
            distance += abs(total - mpmath.mpf(value) / CERTAIN)
        assert distance < mpmath.mpf(2) ** -184
        last = len(thresholds) + 1
        beyond = mpmath.exp(-m) * m**last / mpmath.factorial(last)
        assert beyond < mpmath.mpf(2) ** -190
    assert thresholds == sorted(thresholds)
    assert [value >> 160 for value in thresholds] == first.tolist()


def test_no_noise_comes_of_a_mean_of_zero(stream: Stream) -> None:
    assert not poisson(Fraction(0), 1_000, stream).any()


@pytest.mark.parametrize("mean", [Fraction(1, 1000), 3, Fraction(63, 4), 16, 10_000, 1 << 45])
@pytest.mark.parametrize("size", [0, 1, 40_000])
def test_draws_have_the_shape_and_the_moments_asked_for(
    mean: Fraction | int, size: int, stream: Stream
) -> None:
    drawn = poisson(Fraction(mean), size, stream)
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64
    if size > 1:
        deviation = float(mean) ** 0.5
        assert abs(drawn.mean() - float(mean)) < 6 * deviation / size**0.5
        assert drawn.var() == pytest.approx(float(mean), rel=0.5 if mean < 1 else 0.06)


def test_a_first_word_on_a_threshold_is_decided_by_the_bits_below() -> None:
    mean = Fraction(2)
    table = _table(mean)
    thresholds, first = table.thresholds, table.first

    class Tied(Stream):
        __slots__ = ()

        def raw_into(self, out: np.ndarray) -> None:
            # The word of P(X <= 1) itself, then bits below it or above it.
            out.fill(first[1] if len(out) == 1 else self.low)

        low = 0

    class TiedAbove(Tied):
        __slots__ = ()
        low = (1 << 32) - 1

    assert 0 < thresholds[1] % (1 << 160) < (1 << 160) - 1
    assert poisson(mean, 1, Tied(bytes(32))).tolist() == [1]
    assert poisson(mean, 1, TiedAbove(bytes(32))).tolist() == [2]
