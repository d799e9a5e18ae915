"""Test events decided by 32 bits, and by all 192 where these are equal."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from penstock.randomness import Stream
from penstock.randomness.bernoulli import (
    CERTAIN,
    THRESHOLD_BITS,
    bernoulli,
    exact_decimal,
    threshold,
)

HALF = CERTAIN >> 1
LOW_BITS = THRESHOLD_BITS - 32


class _Scripted(Stream):
    """Give the words that it was told to, the last one forever."""

    __slots__ = ("_words",)

    def __init__(self, *words: int) -> None:
        super().__init__(bytes(32))
        self._words = list(words)

    def raw_into(self, out: NDArray[np.uint32]) -> None:
        for i in range(len(out)):
            out[i] = self._words.pop(0) if len(self._words) > 1 else self._words[0]


@given(st.fractions(min_value=0, max_value=1))
def test_a_threshold_is_the_nearest_multiple(probability: Fraction) -> None:
    found = Fraction(threshold(exact_decimal(probability)), CERTAIN)
    assert abs(found - probability) <= Fraction(1, 2 << THRESHOLD_BITS) + Fraction(1, 10**110)


@pytest.mark.parametrize(("probability", "expected"), [(-1, 0), (0, 0), (1, CERTAIN), (2, CERTAIN)])
def test_a_threshold_stays_within_the_unit_interval(probability: int, expected: int) -> None:
    assert threshold(Decimal(probability)) == expected


def test_sure_and_impossible_events_are_so(stream: Stream) -> None:
    assert bernoulli(CERTAIN, 100_000, stream).all()
    assert not bernoulli(0, 100_000, stream).any()


def test_the_first_word_decides_unless_it_is_equal() -> None:
    chance = (7 << LOW_BITS) + 5
    assert bernoulli(chance, 1, _Scripted(6)).tolist() == [True]
    assert bernoulli(chance, 1, _Scripted(8)).tolist() == [False]


@pytest.mark.parametrize(("low", "expected"), [(4, True), (5, False), (6, False)])
def test_an_equal_first_word_is_decided_by_the_bits_below(low: int, expected: bool) -> None:
    chance = (7 << LOW_BITS) + 5
    assert bernoulli(chance, 1, _Scripted(7, low, 0)).tolist() == [expected]


def test_every_tie_is_decided_by_bits_of_its_own() -> None:
    chance = (7 << LOW_BITS) + (1 << (LOW_BITS - 1))
    first, below, above = 7, [0, 0, 0, 0, 0], [0, 0, 0, 0, 1 << 31]
    stream = _Scripted(first, first, first, *below, *above, *below)
    assert bernoulli(chance, 3, stream).tolist() == [True, False, True]


@pytest.mark.parametrize("size", [0, 1, 32_767, 32_768, 32_769, 100_000])
def test_events_have_the_shape_asked_for(size: int, stream: Stream) -> None:
    assert bernoulli(HALF, size, stream).shape == (size,)


def test_chunks_do_not_repeat_each_other(stream: Stream) -> None:
    events = bernoulli(HALF, 1 << 16, stream)
    assert (events[: 1 << 15] != events[1 << 15 :]).any()
