"""Test the law that is drawn, window by window and bit by bit, against the density itself."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.randomness import Stream, generalized_gaussian
from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.generalized_gaussian import ERROR, _Staircase, _staircase
from penstock.randomness.generalized_gaussian import generalized_gaussian as draw

LAWS = [
    (Fraction(scale), Fraction(power))
    for scale in ("64", "1000", "5000000.25", "70368744177664")
    for power in ("1", "1.25", "2.5", "4", "16")
]
every_law = pytest.mark.parametrize(("scale", "power"), LAWS)


def real(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def height(stairs: _Staircase, window: int, within: Fraction = Fraction(0)) -> mpf:
    """Return the density at a place of a window, 1 at the middle."""
    return mpmath.exp(-(real((window + within) * stairs.part) ** real(stairs.power)))


def distance(stairs: _Staircase) -> mpf:
    """Return an upper bound on the total variation, but for the bits of place and comparison.

    What windows are picked too often or too seldom for, over the part that is kept, and
    the density's mass beyond the last window.
    """
    count = len(stairs.heights)
    heights = [height(stairs, window) for window in range(count)]
    whole = mpmath.fsum(heights)
    picked = (mpf(b - a) / CERTAIN for a, b in pairwise([0, *stairs.thresholds, CERTAIN]))
    off = mpmath.fsum(abs(p - h / whole) for p, h in zip(picked, heights, strict=True))
    power = real(stairs.power)
    mass = mpmath.gamma(1 + 1 / power) / real(stairs.part)
    end = real(count * stairs.part) ** power
    beyond = mpmath.gammainc(1 / power, end) / mpmath.gamma(1 / power)
    return off * whole / mass + beyond


@pytest.mark.slow
@every_law
def test_the_law_that_is_drawn_is_within_the_stated_distance(
    scale: Fraction, power: Fraction
) -> None:
    with mpmath.workdps(90):
        assert distance(_staircase(scale, power)) < ERROR


def test_thresholds_of_half_the_bits_and_a_window_too_few_are_too_far_off() -> None:
    stairs = _staircase(Fraction(1000), Fraction(4))
    coarse = [value >> 96 << 96 for value in stairs.thresholds]
    with mpmath.workdps(90):
        assert distance(replace(stairs, thresholds=coarse)) > ERROR
        short = replace(stairs, thresholds=stairs.thresholds[:-9], heights=stairs.heights[:-9])
        assert distance(short) > ERROR


@every_law
def test_no_window_is_below_the_density_and_few_proposals_are_wasted(
    scale: Fraction, power: Fraction
) -> None:
    stairs = _staircase(scale, power)
    assert Fraction(1, 32) <= stairs.part <= Fraction(1, 16)
    assert all(a <= b for a, b in pairwise(stairs.heights))
    mass = float(mpmath.gamma(1 + 1 / real(power)) / real(stairs.part))
    assert 0.93 < mass / np.exp(-stairs.heights).sum() < 1


@every_law
def test_floats_are_far_closer_to_the_ratio_than_where_they_decide(
    scale: Fraction, power: Fraction, stream: Stream
) -> None:
    stairs = _staircase(scale, power)
    windows = (stream.raw_uint64(150) % np.uint64(len(stairs.heights))).astype(np.int64)
    places = stream.raw_uint64(150)
    with mpmath.workdps(60):
        for window, place, found in zip(
            windows.tolist(), places.tolist(), stairs._ratio(windows, places), strict=True
        ):
            within = Fraction(2 * place + 1, 1 << 65)
            exact = height(stairs, window, within) / height(stairs, window)
            assert abs(mpf(float(found)) - exact) < 2.0**-40


@every_law
def test_a_close_comparison_is_decided_by_all_of_its_bits(scale: Fraction, power: Fraction) -> None:
    stairs, bits = _staircase(scale, power), 224
    with mpmath.workdps(110):
        for window in (0, 3, 20):
            place = (1 << bits) * 5 // 7
            within = Fraction(2 * place + 1, 2 << bits)
            ratio = height(stairs, window, within) / height(stairs, window)
            nearest = int(ratio * 2**bits)
            assert stairs._decide(window, place, nearest - 2)
            assert not stairs._decide(window, place, nearest + 2)


@pytest.mark.parametrize(("off", "steps"), [(-1, 0), (0, 1), (1, 1)])
def test_a_word_that_ties_with_a_threshold_goes_on_to_all_of_its_bits(off: int, steps: int) -> None:
    stairs, at = _staircase(Fraction(1000), Fraction(4)), 5
    uniform = stairs.thresholds[at] + off
    words = [uniform >> 160, *((uniform >> 32 * place) & 0xFFFFFFFF for place in range(5))]

    class Fixed(Stream):
        def raw_uint32(self, size: int) -> NDArray[np.uint32]:
            return np.array([words.pop(0) for _ in range(size)], dtype=np.uint32)

    assert stairs._pick(1, Fixed.from_key(bytes(32))).tolist() == [at + steps]
    assert not words


def test_the_long_way_alone_draws_the_same_law(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generalized_gaussian, "_DOUBT", 2.0)
    drawn = np.abs(draw(Fraction(64), Fraction(4), 4_000, stream))
    # E|z|^4 is 1/4, its standard deviation 1/2: six of those of the mean are 0.047.
    assert np.mean((drawn / 64.0) ** 4) == pytest.approx(0.25, abs=0.048)


def test_a_draw_closer_than_floats_can_tell_is_decided_by_all_bits(stream: Stream) -> None:
    """The floats say the one thing, the bits that follow say the other."""
    stairs, window, place = _staircase(Fraction(1000), Fraction(4)), 20, (1 << 64) * 5 // 7
    with mpmath.workdps(60):
        within = Fraction(2 * place + 1, 1 << 65)
        ratio = height(stairs, window, within) / height(stairs, window)
        word = int(ratio * 2**64)

    class Fixed(Stream):
        def raw_uint32(self, size: int) -> NDArray[np.uint32]:
            return np.full(size, stairs.thresholds[window] >> 160, dtype=np.uint32) - np.uint32(1)

        def raw_uint64(self, size: int) -> NDArray[np.uint64]:
            return np.full(size, words.pop(0), dtype=np.uint64)

    asked: list[tuple[int, int, int]] = []

    class Watched(_Staircase):
        def _decide(self, window: int, place: int, word: int) -> bool:
            asked.append((window, place >> 160, word >> 160))
            return not super()._decide(window, place, word)

    watched = Watched(**{name: getattr(stairs, name) for name in stairs.__dataclass_fields__})
    for off, kept in ((-(1 << 24), True), (1 << 24, False)):
        words = [place, word + off]
        _, _, found = watched._propose(1, Fixed.from_key(bytes(32)))
        assert found.tolist() == [not kept]
        assert asked.pop() == (window, place, word + off)


def test_half_of_all_bits_of_a_sign_are_negative() -> None:
    class Fixed(Stream):
        def raw_into(self, out: NDArray[Any]) -> None:
            if out.dtype == np.int8:
                out[:] = np.arange(256).astype(np.int8)
            else:
                super().raw_into(out)

    drawn = draw(Fraction(1 << 40), Fraction(3), 256, Fixed.from_key(bytes(32)))
    assert np.count_nonzero(drawn < 0) == np.count_nonzero(drawn > 0) == 128


def test_draws_depend_on_the_key_alone_and_have_both_signs() -> None:
    key = bytes(range(32))
    first, again = (draw(Fraction(99), Fraction(3), 50_000, Stream.from_key(key)) for _ in "12")
    assert first.dtype == np.int64
    assert np.array_equal(first, again)
    assert abs(np.count_nonzero(first > 0) - np.count_nonzero(first < 0)) < 6 * 50_000**0.5
    assert len(draw(Fraction(99), Fraction(3), 0, Stream.from_key(key))) == 0


@pytest.mark.parametrize(
    ("scale", "power", "message"),
    [
        ("64", "0.99", "from 1 to 16, not 0.99"),
        ("64", "16.5", "from 1 to 16, not 16.5"),
        ("63.9", "4", "from 64 to 2\\^46 lattice steps, not 63.9"),
        ("1e14", "4", "from 64 to 2\\^46 lattice steps, not 1e\\+14"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_number(
    scale: str, power: str, message: str, stream: Stream
) -> None:
    with pytest.raises(InvalidInput, match=message):
        draw(Fraction(scale), Fraction(power), 1, stream)
