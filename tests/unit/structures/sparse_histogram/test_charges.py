"""Test what the keys of count 0 cost, as stated."""

import math

import pytest
from tests.unit.structures.small_histogram import HUGE, LADDER, MECHANISM, TIERS

from penstock.structures.sparse_histogram import (
    Thresholds,
    numerical_charges,
    zero_key_failure,
)
from penstock.structures.sparse_histogram.charges import RELATIVE_ERROR

MIDDLE = Thresholds(LADDER, MECHANISM.granularity, 1 << 40, TIERS)
SMALL = Thresholds(LADDER, MECHANISM.granularity, 1 << 20, TIERS)


def test_false_keys_are_charged_their_relative_error_at_every_level() -> None:
    found = zero_key_failure(HUGE, 64, 1.0)
    assert found == pytest.approx((1 + math.e) * 64 * 3 * RELATIVE_ERROR, rel=1e-3, abs=0)
    assert found < 4e-7
    assert zero_key_failure(HUGE, 64, 800.0) == math.inf


def test_a_poisson_law_for_a_binomial_one_is_charged_where_it_is_used() -> None:
    apart = zero_key_failure(MIDDLE, 1, 0.0) - zero_key_failure(SMALL, 1, 0.0)
    assert apart == pytest.approx(2 * 3 / 2**40)


def test_both_ways_of_the_gaussian_mechanism_come_with_it() -> None:
    own = MECHANISM.numerical_charges(LADDER, 4, 64, 20.0, 1.0)
    found = numerical_charges(MECHANISM, HUGE, 4, 64, 20.0, 1.0)
    for one, other in zip(own, found, strict=True):
        assert other.factor == one.factor
        assert other.failure == one.failure + zero_key_failure(HUGE, 64, 1.0)
