"""Test events that go on comparing bits until they differ: exact whatever their probability."""

from collections import deque
from collections.abc import Iterable
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any, cast

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.randomness import Stream
from penstock.randomness.bernoulli import CERTAIN, PRECISION, THRESHOLD_BITS, Coin, Threshold
from penstock.randomness.geometric import DIGITS, Geometric


class _Bits:
    """Give the bits that it was told to, and zeros afterwards."""

    def __init__(self, value: int, count: int) -> None:
        words = [(value >> shift) & 0xFFFFFFFF for shift in range(count - 32, -1, -32)]
        self._first = deque(words[:1])
        # ``low_bits`` reads the 160 bits that follow as one little-endian number
        self._low = deque(reversed(words[1:6]))
        self._rest = deque(words[6:])

    def raw_into(self, out: NDArray[Any]) -> None:
        out[:] = self._first.popleft() if self._first else 0

    def raw_uint32(self, count: int) -> NDArray[np.uint32]:
        return np.array([_next(self._low) for _ in range(count)], dtype=np.uint32)

    def raw_uint64(self, count: int) -> NDArray[np.uint64]:
        pairs: Iterable[int] = ((_next(self._rest) << 32) | _next(self._rest) for _ in range(count))
        return np.array(list(pairs), dtype=np.uint64)


def _next(words: deque[int]) -> int:
    return words.popleft() if words else 0


def _tossed(chance: int, value: int, count: int) -> bool:
    out = np.empty(1, dtype=np.bool_)
    Coin(1, cast(Stream, _Bits(value, count))).toss(chance, out)
    return bool(out[0])


def _third() -> Decimal:
    return Decimal(1) / 3


def _of(formula: Any) -> Threshold:
    context = getcontext().copy()
    context.prec = 120
    with_digits: Decimal = formula() if formula is not _third else context.divide(Decimal(1), 3)
    return Threshold.of(with_digits, formula)


def test_the_bits_of_a_probability_go_on() -> None:
    third = _of(_third)
    assert third == CERTAIN // 3
    for count in (192, 256, 1_000, 4_096):
        assert third.bits(count) == (1 << count) // 3


@pytest.mark.parametrize("beyond", [64, 128, 320])
def test_a_tie_over_all_first_bits_is_decided_by_later_ones(beyond: int) -> None:
    third, count = _of(_third), THRESHOLD_BITS + beyond
    exactly = (1 << count) // 3
    assert _tossed(third, exactly - 1, count)
    assert not _tossed(third, exactly + 1, count)
    # rounded down, it does not happen at a tie: it would be drawn too seldom
    assert not _tossed(int(third), exactly - 1, count)


def test_an_event_of_less_than_the_first_bits_can_happen() -> None:
    def rare() -> Decimal:
        return Decimal(1) / (3 << 300)

    chance = Threshold.of(Decimal(1) / (3 << 300), rare)
    assert chance == 0
    assert _tossed(chance, 0, 512)
    assert not _tossed(chance, 1, 256)
    assert not _tossed(0, 0, 512)


def test_a_probability_of_a_dyadic_number_is_that_number() -> None:
    assert Threshold.of(Decimal(1), lambda: Decimal(1)) == CERTAIN
    assert Threshold.of(Decimal("0.5"), lambda: Decimal("0.5")) == CERTAIN // 2


@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(3, 7), Fraction(20)])
def test_digits_of_a_law_at_a_rate_are_rounded_down(rate: Fraction) -> None:
    law = Geometric.at_rate(rate)
    with mpmath.workdps(120):
        for place, digit in enumerate(law.digits):
            power = mpmath.exp(-mpmath.mpf(rate.numerator << place) / rate.denominator)
            assert int(digit) == int(mpmath.floor(power / (1 + power) * CERTAIN))
    assert law.rate == rate * 2 ** len(law.digits)


def test_a_law_at_a_rate_has_no_largest_value() -> None:
    law = Geometric.at_rate(Fraction(50))
    assert len(law.digits) < 3
    assert law.bound == 1 << DIGITS
    out = np.array([1, 0], dtype=np.int64)
    law._add_higher(out, np.array([0]), Stream.from_key(bytes(32)))
    assert out.tolist() == [1 + (1 << len(law.digits)), 0]


def test_a_law_at_a_rate_is_the_law_of_its_ratio() -> None:
    drawn = Geometric.at_rate(Fraction(1, 5)).draw(100_000, Stream.from_key(bytes(32)))
    mean = 1 / np.expm1(0.2)
    assert drawn.mean() == pytest.approx(mean, abs=6 * (mean * (mean + 1) / 100_000) ** 0.5)


def test_what_is_beyond_the_digits_is_a_law_of_its_own() -> None:
    rate, size = Fraction(1, 5), 100_000
    whole = Geometric.at_rate(rate)
    power = PRECISION.exp(Decimal(-8) / 5)
    beyond = Threshold.of(power, lambda: (Decimal(-8) / 5).exp())
    short = Geometric(whole.digits[:3], beyond, 8 * rate)
    drawn = short.draw(size, Stream.from_key(bytes(32)))
    for k in (1, 8, 16, 24, 30):
        chance = float(np.exp(-k / 5))
        assert np.mean(drawn >= k) == pytest.approx(chance, abs=5 * (chance / size) ** 0.5)


def test_thresholds_are_not_copied() -> None:
    with pytest.raises(TypeError, match="make it from its formula"):
        _of(_third).__reduce__()
