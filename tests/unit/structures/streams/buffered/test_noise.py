"""Test buffered noise over time and tiers: what is kept, and what was drawn from what."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from tests.unit.structures.streams.buffered.exact_matrices import strategy

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, IntVector
from penstock.randomness import Stream
from penstock.randomness.normal import rounded_bridge
from penstock.structures.streams.buffered import noise as drawing
from penstock.structures.streams.buffered.encoder import LONGEST, encoder
from penstock.structures.streams.buffered.fixed_point import DIGITS, off
from penstock.structures.streams.buffered.noise import LARGEST_VARIANCE, BufferedNoise
from penstock.structures.streams.buffered.state import to_bytes

MECHANISM = Gaussian(Fraction(1, 1 << 20))
LEVELS = [Fraction(1), Fraction(4)]
COARSE = 6


def begun(length: int = 60, dimension: int = 1, coarse: int = COARSE) -> BufferedNoise:
    return BufferedNoise.begin(MECHANISM, encoder(length), coarse, dimension, LEVELS)


def test_draws_are_centered_where_the_exact_buffers_say(
    streams: Callable[[], Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By ``R g = z``, with the exact entries of ``R``."""
    centers: list[Fraction] = []

    def recorded(
        difference: IntVector, weight: Fraction, variance: Fraction, stream: Stream
    ) -> IntVector:
        assert variance == (1 << 40) * (1 if len(centers) % 2 == 0 else 3)
        centers.append(int(difference[0]) * weight)
        return rounded_bridge(difference, weight, variance, stream)

    monkeypatch.setattr(drawing, "rounded_bridge", recorded)
    noise = begun(coarse=0)
    totals = np.array(noise.advance(60, streams))[:, :, 0]
    drawn = np.diff(np.diff(totals, axis=0, prepend=0), axis=1, prepend=0)
    entries = strategy(encoder(60), 60)
    for step in range(60):
        for place in range(2):
            terms = zip(entries[1 : step + 1], drawn[place, :step][::-1].tolist(), strict=True)
            exact = -sum((entry * term for entry, term in terms), Fraction(0))
            apart = centers[2 * step + place] - exact
            assert abs(apart - round(apart)) <= off(encoder(60))
            assert abs(int(drawn[place, step]) - exact) < (20 << 20)


@pytest.mark.parametrize("pieces", [[1] * 50, [3, 1, 40, 6]], ids=len)
def test_pieces_make_the_same_outputs_as_the_whole(
    pieces: list[int], streams: Callable[[], Stream]
) -> None:
    stream, same = Stream.from_key(bytes(32)), Stream.from_key(bytes(32))
    whole = begun(dimension=2).advance(50, lambda: stream)
    noise = begun(dimension=2)
    found = [noise.advance(piece, lambda: same) for piece in pieces]
    for level in range(2):
        assert (np.concatenate([part[level] for part in found]) == whole[level]).all()


def test_totals_are_rounded_half_up_to_the_coarser_lattice(
    streams: Callable[[], Stream],
) -> None:
    noise = begun(dimension=500)
    noise.advance(3, streams)
    noise.insert(Fraction(2), streams())
    shown = noise.advance(1, streams)
    unit = 1 << COARSE + DIGITS
    for level in range(3):
        exact = sum((noise._digits(part)[-1] for part in range(level + 1)), 0)
        assert (shown[level][-1] == (2 * exact + unit) // (2 * unit)).all()


def sums(noise: BufferedNoise) -> list[list[int]]:
    """Return buffers and total at each level, in digits: the sum of the parts up to it."""
    parts = [noise._digits(at) for at in range(len(noise.levels))]
    return [np.sum(parts[: at + 1], axis=0).ravel().tolist() for at in range(len(parts))]


def test_a_tier_that_joins_leaves_the_others_as_they_are(
    streams: Callable[[], Stream],
) -> None:
    noise = begun(dimension=3)
    noise.advance(7, streams)
    before = sums(noise)
    for level in (Fraction(2), Fraction(9), Fraction(1, 2)):
        noise.insert(level, streams())
    assert noise.levels == [Fraction(1, 2), 1, 2, 4, 9]
    after = sums(noise)
    assert [after[1], after[3]] == before
    assert after[0] != after[1] != after[2]
    assert noise.high.shape == noise.low.shape == (5, 5, 3)
    assert (noise.low >= 0).all()
    assert (noise.low < 1 << DIGITS).all()


def test_a_level_that_is_there_stays_as_it_is(streams: Callable[[], Stream]) -> None:
    noise = begun()
    noise.insert(Fraction(2), streams())
    assert not noise.high.any()
    noise.advance(5, streams)
    before = to_bytes(noise)
    noise.insert(Fraction(4), streams())
    assert to_bytes(noise) == before
    assert noise.levels == [1, 2, 4]


def test_the_state_does_not_grow(streams: Callable[[], Stream]) -> None:
    noise = begun(length=LONGEST)
    noise.advance(1, streams)
    size = len(to_bytes(noise))
    noise.advance(9, streams)
    assert len(to_bytes(noise)) <= size + 1


def test_what_cannot_be_meant_is_refused(streams: Callable[[], Stream]) -> None:
    noise = begun(length=3)
    for steps in (0, 4):
        with pytest.raises(InvalidInput):
            noise.advance(steps, streams)
    too_noisy = 2 * LARGEST_VARIANCE * MECHANISM.granularity**2
    too_near = 1 + Fraction(1, 1 << 25)
    for level in (Fraction(0), Fraction(-1), too_near, too_noisy):
        with pytest.raises(InvalidInput):
            noise.insert(level, streams())
    for dimension, levels in (
        (1, []),
        (1, [Fraction(1)] * 2),
        (1, [too_noisy]),
        (1, [Fraction(1), too_near]),
        (0, LEVELS),
    ):
        with pytest.raises(InvalidInput):
            BufferedNoise.begin(MECHANISM, encoder(3), COARSE, dimension, levels)
