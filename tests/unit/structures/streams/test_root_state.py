"""Test that a square-root stream's noise written as bytes goes on as before."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian
from penstock.randomness import Stream
from penstock.structures.streams.root_noise import RootNoise
from penstock.structures.streams.root_state import from_bytes, to_bytes

MECHANISM = Gaussian(Fraction(1, 1 << 20))
LEVELS = [Fraction(1), Fraction(4)]
COARSE = 6


def begun(length: int = 60, dimension: int = 1) -> RootNoise:
    return RootNoise.begin(MECHANISM, length, COARSE, dimension, LEVELS)


def test_a_state_goes_on_where_it_stood(streams: Callable[[], Stream]) -> None:
    noise = begun(dimension=2)
    noise.advance(7, streams)
    again = from_bytes(to_bytes(noise), MECHANISM, 60, COARSE)
    assert again.levels == noise.levels
    assert all((a == b).all() for a, b in zip(again.drawn, noise.drawn, strict=True))
    key = Stream.from_key(bytes(32))
    same = Stream.from_key(bytes(32))
    for a, b in zip(noise.advance(5, lambda: key), again.advance(5, lambda: same), strict=True):
        assert (a == b).all()


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
        from_bytes(damage(to_bytes(noise)), MECHANISM, 60, COARSE)
