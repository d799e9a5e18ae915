"""Test the square root's noise over time and tiers, and that outputs tell no more than they may."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from tests.unit.structures.exact_root import exact_decoder

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, IntVector
from penstock.randomness import Stream
from penstock.structures.streams import root_noise
from penstock.structures.streams.root_matrices import DIGITS, LONGEST, strategy
from penstock.structures.streams.root_noise import RootNoise, rounded_outputs
from penstock.structures.streams.root_state import to_bytes

MECHANISM = Gaussian(Fraction(1, 1 << 20))
LEVELS = [Fraction(1), Fraction(4)]
COARSE = 6


def begun(length: int = 60, dimension: int = 1) -> RootNoise:
    return RootNoise.begin(MECHANISM, length, COARSE, dimension, LEVELS)


@pytest.mark.parametrize("coarse", [1, 6, 20])
def test_outputs_are_the_roundings_of_the_exact_sums(
    coarse: int, streams: Callable[[], Stream]
) -> None:
    noise = begun(dimension=3)
    noise.advance(60, streams)
    entries = exact_decoder(60)
    found = rounded_outputs(noise.drawn, 60, coarse)
    for drawn, outputs in zip(noise.drawn, found, strict=True):
        for place in range(60):
            for column in range(3):
                terms = drawn[place::-1, column].tolist()
                exact = sum(entry * term for entry, term in zip(entries, terms, strict=False))
                assert outputs[place, column] == math.floor(exact / 2**coarse + Fraction(1, 2))


def test_ties_are_rounded_up_however_many_digits_it_takes() -> None:
    """``z = R u`` makes outputs the running totals of ``u``: every odd one is a tie."""
    elements = (np.arange(400, dtype=np.int64) * 7919) % 9 - 4
    noise = np.convolve(strategy(400), elements)[:400].astype(np.int64)[:, None]
    found = rounded_outputs([noise], 20, DIGITS + 1)[0][:, 0]
    totals = np.cumsum(elements)[-20:]
    assert (totals % 2).sum() > 5
    assert (found == (totals + 1) // 2).all()


def pairs_of_streams(
    streams: Callable[[], Stream], places: Sequence[int], variance: int
) -> Iterator[tuple[IntVector, IntVector]]:
    """Yield noises of two streams with equal ``R x + z``, and by what their totals differ."""
    noise = RootNoise.begin(MECHANISM, 400, 1, 50, [Fraction(variance)])
    noise.advance(400, streams)
    column = strategy(400)
    moved = [noise.drawn[0].copy() for _ in places]
    for place, drawn in zip(places, moved, strict=True):
        drawn[place:] += column[: 400 - place, None]
    before, *others = rounded_outputs([noise.drawn[0], *moved], 400, 1)
    for place, after in zip(places, others, strict=True):
        totals = np.zeros((400, 1), dtype=np.int64)
        totals[place:] = (1 << DIGITS) >> 1
        yield before + totals, after


PLACES = (0, 77)
"""Where an element moves."""

DECIDED_BY_FLOATS = 1 << 40
"""A variance at which a tenth of all outputs needs no integers."""

DECIDED_BY_INTEGERS = 1 << 48
"""One at which floats alone go wrong at either place, in 34 values of 20,000 or more.

Tried with four of the ways in which BLAS adds up (its threads and kernels).
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "places", [PLACES, pytest.param((0, 3, 77, 399), marks=pytest.mark.nightly)], ids=str
)
def test_outputs_tell_no_more_than_what_is_protected(
    places: Sequence[int], streams: Callable[[], Stream]
) -> None:
    for variance in (DECIDED_BY_FLOATS, DECIDED_BY_INTEGERS):
        for before, after in pairs_of_streams(streams, places, variance):
            assert (before == after).all()


def test_roundings_of_floats_would_tell_more(
    streams: Callable[[], Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    product = root_noise._bounds
    monkeypatch.setattr(
        root_noise, "_bounds", lambda sums, sizes, *rest: product(sums, 0 * sizes, *rest)
    )
    pairs = pairs_of_streams(streams, PLACES, DECIDED_BY_INTEGERS)
    assert all((before != after).any() for before, after in pairs)


def test_floats_leave_little_to_integers(
    streams: Callable[[], Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    product = root_noise._exact

    def counted(noise: IntVector, coarse: int) -> int:
        asked.append(coarse)
        return product(noise, coarse)

    monkeypatch.setattr(root_noise, "_exact", counted)
    noise = begun(length=1000)
    noise.advance(1000, streams)
    assert len(asked) < 60


@pytest.mark.parametrize("pieces", [[50], [1] * 50, [3, 1, 40, 6]], ids=len)
def test_pieces_make_the_same_outputs_as_the_whole(
    pieces: list[int], streams: Callable[[], Stream]
) -> None:
    noise = begun(dimension=2)
    found = [noise.advance(piece, streams) for piece in pieces]
    whole = rounded_outputs(noise.drawn, 50, COARSE)
    for level in range(2):
        assert (np.concatenate([part[level] for part in found]) == whole[level]).all()


def test_a_level_that_is_there_stays_as_it_is(streams: Callable[[], Stream]) -> None:
    noise = begun()
    noise.insert(Fraction(2), streams())
    noise.advance(5, streams)
    before = to_bytes(noise)
    noise.insert(Fraction(4), streams())
    assert to_bytes(noise) == before
    assert noise.levels == [1, 2, 4]


def test_what_cannot_be_meant_is_refused(streams: Callable[[], Stream]) -> None:
    noise = begun(length=3)
    for steps in (0, 4):
        with pytest.raises(InvalidInput):
            noise.advance(steps, streams)
    with pytest.raises(InvalidInput):
        noise.insert(Fraction(0), streams())
    for length, levels in ((LONGEST + 1, LEVELS), (3, []), (3, [Fraction(1)] * 2)):
        with pytest.raises(InvalidInput):
            RootNoise.begin(MECHANISM, length, COARSE, 1, levels)
