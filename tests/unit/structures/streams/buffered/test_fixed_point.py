"""Test the buffers' recursion in integers against the same in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from penstock.randomness import Stream
from penstock.structures.streams.buffered.encoder import LONGEST, encoder
from penstock.structures.streams.buffered.fixed_point import (
    DIGITS,
    LARGEST,
    Recursion,
    joined,
    off,
    parted,
)

MATRIX = encoder(LONGEST)
BUFFERS = len(MATRIX.exponents)


def buffers_of(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=object).reshape(BUFFERS, 1, -1)


def extremes() -> np.ndarray:
    """Return buffers at the ends of their range, around 0, and some between, in digits."""
    generator = Stream.from_key(bytes(32)).generator
    digits = generator.integers(0, 1 << 50, (BUFFERS, 60))
    steps = generator.integers(-(1 << 52), 1 << 52, (BUFFERS, 60))
    between = [int(s) << DIGITS | int(d) for s, d in zip(steps.flat, digits.flat, strict=True)]
    most = LARGEST << DIGITS
    ends = [most - 1, -most, 0, -1, 1, (1 << DIGITS) - 1, 1 << DIGITS, -(1 << DIGITS)]
    rows = [[end] * BUFFERS for end in ends] + [between[i::60] for i in range(60)]
    return buffers_of(np.array(rows, dtype=object).T.ravel().tolist())


def test_two_integers_are_one_number() -> None:
    numbers = extremes()
    high, low = parted(numbers)
    assert (joined(high, low) == numbers).all()
    assert (low >= 0).all()
    assert (low < 1 << DIGITS).all()


def test_a_step_is_rounded_to_the_nearest_digit() -> None:
    numbers = extremes()
    added = np.full((1, numbers.shape[2]), -12345, dtype=np.int64)
    found = joined(*Recursion(MATRIX).step(*parted(numbers), added))
    for place, kept in enumerate(MATRIX.kept):
        for number, after in zip(numbers[place].flat, found[place].flat, strict=True):
            exact = number * kept - (12345 << DIGITS)
            assert abs(after - exact) <= Fraction(1, 2)


def test_a_weighted_sum_is_within_a_digit_for_each_buffer() -> None:
    numbers = extremes()
    whole, digits = Recursion(MATRIX).weighted(*parted(numbers))
    for column, (steps, rest) in enumerate(zip(whole[0], digits[0], strict=True)):
        terms = zip(MATRIX.weights, numbers[:, 0, column], strict=True)
        exact = sum((weight * number for weight, number in terms), Fraction(0))
        assert 0 <= rest < 1 << DIGITS
        assert 0 <= exact - ((int(steps) << DIGITS) + int(rest)) < BUFFERS


@pytest.mark.parametrize("length", [100, 1 << 20, LONGEST])
def test_sums_stay_within_what_is_stated(length: int) -> None:
    """Inputs that push every rounding the same way are not known, so many are tried."""
    matrix = encoder(length)
    recursion = Recursion(matrix)
    added = Stream.from_key(bytes(32)).generator.integers(-(1 << 30), 1 << 30, (60, 1, 20))
    high = low = np.zeros((len(matrix.exponents), 1, 20), dtype=np.int64)
    exact = np.zeros((len(matrix.exponents), 20), dtype=object)
    for inputs in added:
        high, low = recursion.step(high, low, inputs)
        exact = exact * np.array(matrix.kept, dtype=object)[:, None] + inputs[0].astype(object)
        whole, digits = recursion.weighted(high, low)
        sums = np.array(matrix.weights, dtype=object).dot(exact)
        for steps, rest, true in zip(whole[0], digits[0], sums, strict=True):
            assert abs(int(steps) + Fraction(int(rest), 1 << DIGITS) - true) <= off(matrix)
