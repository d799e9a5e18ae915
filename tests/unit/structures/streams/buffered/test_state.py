"""Test that a buffered stream's noise written as bytes goes on as before."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian
from penstock.randomness import Stream
from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.noise import BufferedNoise
from penstock.structures.streams.buffered.state import from_bytes, to_bytes

MECHANISM = Gaussian(Fraction(1, 1 << 20))
MATRIX = encoder(60)
COARSE = 6


def begun(dimension: int = 1) -> BufferedNoise:
    return BufferedNoise.begin(MECHANISM, MATRIX, COARSE, dimension, [Fraction(1), Fraction(4)])


def test_a_state_goes_on_where_it_stood(streams: Callable[[], Stream]) -> None:
    noise = begun(dimension=2)
    noise.advance(7, streams)
    again = from_bytes(to_bytes(noise), MECHANISM, MATRIX, COARSE)
    assert to_bytes(again) == to_bytes(noise)
    keys = [Stream.from_key(bytes(32)) for _ in range(2)]
    for one, key in zip((noise, again), keys, strict=True):
        one.insert(Fraction(2), key)
    found = [noise.advance(5, lambda: keys[0]), again.advance(5, lambda: keys[1])]
    for a, b in zip(*found, strict=True):
        assert (a == b).all()
    assert to_bytes(again) == to_bytes(noise)


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state[:-1],
        lambda state: state[:-8],
        lambda _: b"",
        lambda state: state.replace(b'"version":1', b'"version":2'),
        lambda state: state.replace(b'"step":7', b'"step":70'),
    ],
)
def test_what_is_no_state_is_refused(
    damage: Callable[[bytes], bytes], streams: Callable[[], Stream]
) -> None:
    noise = begun()
    noise.advance(7, streams)
    with pytest.raises(InvalidInput):
        from_bytes(damage(to_bytes(noise)), MECHANISM, MATRIX, COARSE)
