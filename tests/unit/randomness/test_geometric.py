"""Test that the law of the digits is the law of the number."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from penstock.randomness import Stream
from penstock.randomness.bernoulli import CERTAIN, PRECISION, THRESHOLD_BITS
from penstock.randomness.geometric import DIGITS, ERROR, Geometric


def _probability(law: Geometric, value: int) -> Fraction:
    """Return the probability of ``value``, as the product of those of its digits."""
    result = Fraction(1)
    for place, chance in enumerate(law.digits):
        one = Fraction(chance, CERTAIN)
        result *= one if value >> place & 1 else 1 - one
    return result


@pytest.mark.parametrize("ratio", ["0.4", "0.9", "0.001", "0.99"])
def test_independent_digits_make_a_geometric_number(ratio: str) -> None:
    law, q = Geometric.of(Decimal(ratio)), Fraction(ratio)
    values = range(min(law.bound, 300))
    assert sum(abs(_probability(law, k) - q**k * (1 - q)) for k in values) < Fraction(ERROR)
    assert not law.beyond


def test_digits_left_out_are_as_unlikely_as_stated() -> None:
    law = Geometric.of(Decimal("0.99"))
    assert law.bound == 1 << len(law.digits)
    assert Fraction("0.99") ** law.bound < Fraction(1, 1 << THRESHOLD_BITS)
    assert Fraction("0.99") ** (law.bound // 2) > Fraction(1, 1 << THRESHOLD_BITS)


def test_one_digit_too_few_is_seen_in_the_law() -> None:
    whole = Geometric.of(Decimal("0.9"))
    short = Geometric(whole.digits[:-5], 0)
    q = Fraction("0.9")
    distance = sum(abs(_probability(short, k) - q**k * (1 - q)) for k in range(300))
    assert distance > Fraction(ERROR)


def test_digits_are_put_together_from_the_lowest_on(stream: Stream) -> None:
    pattern = [1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1]
    law = Geometric(tuple(CERTAIN * digit for digit in pattern), 0)
    expected = sum(digit << place for place, digit in enumerate(pattern))
    for size in (0, 1, 100_000):
        assert (law.draw(size, stream) == np.full(size, expected)).all()


def test_ratios_next_to_one_saturate_instead_of_overflowing(stream: Stream) -> None:
    nearly_one = PRECISION.subtract(Decimal(1), Decimal(10) ** -40)
    law = Geometric.of(nearly_one)
    assert len(law.digits) == DIGITS
    assert (law.draw(1_000, stream) == 1 << DIGITS).all()
    assert law.bound == 1 << DIGITS


def test_a_saturated_law_has_the_right_chance_of_doing_so() -> None:
    rate = Decimal(1) / (1 << DIGITS)
    law = Geometric.of(PRECISION.exp(-rate))
    assert law.beyond / CERTAIN == pytest.approx(np.exp(-1), rel=1e-15)


def test_draws_have_the_mean_and_the_type_asked_for(stream: Stream) -> None:
    drawn = Geometric.of(Decimal("0.99")).draw(100_000, stream)
    assert drawn.dtype == np.int64
    assert drawn.mean() == pytest.approx(99, abs=6 * 100 / 100_000**0.5)
