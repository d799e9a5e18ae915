"""Test that the mechanism of histograms charges its false keys beside its noise."""

import math
from fractions import Fraction

import pytest
from tests.unit.structures.small_histogram import HUGE, LADDER, MECHANISM

from penstock.structures.sparse_histogram import (
    HistogramNoise,
    Thresholds,
    zero_key_failure,
)
from penstock.structures.sparse_histogram.charges import CEILING_ERROR, RELATIVE_ERROR


@pytest.mark.parametrize("halvings", [1, 2, 4])
def test_a_coarser_lattice_is_charged_the_square_of_its_steps(halvings: int) -> None:
    """Which ``test_integrals_up_to_half_a_step_are_sums_over_the_lattice`` measures."""
    bound = Fraction(2**30 * 2**halvings)
    family = HistogramNoise.of(1 << 64, 3.0)
    mechanism, ladder = family.plan(Fraction(1), Fraction(1), bound)
    assert mechanism.granularity == Fraction(2**halvings, 2**21)
    assert ladder.value(0) / mechanism.granularity**2 == 2 ** (36 - 2 * halvings)
    own = MECHANISM.numerical_charges(ladder, 4, 64, 20.0, 1.0)[0].failure
    more = mechanism.numerical_charges(ladder, 4, 64, 20.0, 1.0)[0].failure - own
    worst = CEILING_ERROR * 4**halvings
    assert more == pytest.approx((1 + math.e) * 64 * 3 * worst, rel=2e-2, abs=0)
    coarse = Thresholds(ladder, mechanism.granularity, 1 << 64, {400: 3.0})
    apart = RELATIVE_ERROR * 4**halvings
    found = zero_key_failure(coarse, 64, 1.0)
    assert found == pytest.approx((1 + math.e) * 64 * 3 * apart, rel=1e-3, abs=0)


def test_the_mechanism_of_a_histogram_has_these_charges_from_its_ceiling_on() -> None:
    family = HistogramNoise.of(HUGE.size, 3.0)
    mechanism, ladder = family.plan(Fraction(25), Fraction(1), Fraction(2**31))
    assert (mechanism.granularity, ladder) == (MECHANISM.granularity, LADDER)
    assert ladder.value(0) * 64 <= 25
    own = MECHANISM.numerical_charges(ladder, 4, 64, 20.0, 1.0)
    found = mechanism.numerical_charges(ladder, 4, 64, 20.0, 1.0)
    for one, other in zip(own, found, strict=True):
        assert other.factor == one.factor
        more = other.failure - one.failure
        assert more == pytest.approx((1 + math.e) * 64 * 3 * CEILING_ERROR, rel=2e-2, abs=0)
    assert HistogramNoise.of(HUGE.size, 3.0) is family
    assert HistogramNoise.of(HUGE.size, 4.0) is not family
