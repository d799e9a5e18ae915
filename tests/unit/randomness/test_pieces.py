"""Test long vectors in pieces: the same at any number of threads, each from a key of its own."""

import threading
from fractions import Fraction

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.mechanisms import (
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    Mechanism,
    Poisson,
    Skellam,
)
from penstock.mechanisms.laplace.process import DiscreteLaplace
from penstock.randomness import Stream
from penstock.randomness.pieces import PIECE, in_pieces
from penstock.randomness.stream import KEY_BYTES

KEY = bytes(range(32))
SIZE = PIECE + 77
LEVELS = (Fraction(100), Fraction(200), Fraction(400))
MECHANISMS = (
    Gaussian(Fraction(1, 1 << 14)),
    Laplace(Fraction(1, 1 << 10)),
    DiscreteLaplace(Fraction(1)),
    Poisson(Fraction(1)),
    Skellam(Fraction(1)),
)


def _drawn(mechanism: Mechanism, threads: int) -> list[bytes]:
    """Return an increment, a bridge and all parts of a vector of several pieces, as bytes."""
    accurate, level, noisy = LEVELS
    stream = Stream.from_key(KEY, threads=threads)
    increment = mechanism.increment(accurate, noisy, SIZE, stream)
    bridge = mechanism.bridge(accurate, noisy, increment, level, stream)
    whole = mechanism.resolve(increment[:SIZE], noisy, stream)
    return [vector.tobytes() for vector in (increment, bridge, whole)]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: type(one).__name__)
def test_draws_are_the_same_at_any_number_of_threads(mechanism: Mechanism) -> None:
    alone = _drawn(mechanism, 1)
    for threads in (2, 5):
        assert _drawn(mechanism, threads) == alone


@pytest.mark.parametrize("threads", [1, 3])
def test_a_bridge_may_overwrite_the_difference(threads: int) -> None:
    gaussian, (accurate, level, noisy) = MECHANISMS[0], LEVELS
    difference = gaussian.increment(accurate, noisy, SIZE, Stream.from_key(KEY))
    apart = gaussian.bridge(accurate, noisy, difference.copy(), level, Stream.from_key(KEY))
    stream = Stream(KEY, threads, room=difference)
    there = gaussian.bridge(accurate, noisy, difference, level, stream)
    assert there is difference
    assert (there == apart).all()


def test_generalized_gaussian_draws_are_so_too() -> None:
    kind = GeneralizedGaussian.of(Fraction(5, 2))
    one, three = (
        kind(Fraction(1, 1 << 10)).increment(
            Fraction(0), Fraction(10), SIZE, Stream.from_key(KEY, threads=threads)
        )
        for threads in (1, 3)
    )
    assert (one == three).all()


def test_a_short_vector_is_drawn_from_the_stream_itself() -> None:
    given: list[tuple[slice, Stream]] = []
    stream = Stream.from_key(KEY, threads=4)
    in_pieces(PIECE, lambda at, own: given.append((at, own)), stream)
    assert given == [(slice(0, PIECE), stream)]


def test_pieces_cover_a_long_vector_once_under_keys_in_their_order() -> None:
    out = np.zeros(2 * PIECE + 77, dtype=np.int64)
    keyed: dict[int, bytes] = {}

    def fill(at: slice, stream: Stream) -> None:
        out[at] += 1
        keyed[at.start] = stream.raw_uint64(4).tobytes()

    in_pieces(len(out), fill, Stream.from_key(KEY, threads=3))
    assert (out == 1).all()
    keys = Stream.from_key(KEY).raw_uint64(3 * KEY_BYTES // 8).tobytes()
    for place in range(3):
        key = keys[place * KEY_BYTES : (place + 1) * KEY_BYTES]
        assert keyed[place * PIECE] == Stream.from_key(key).raw_uint64(4).tobytes()


def test_no_two_pieces_have_the_same_noise() -> None:
    drawn = Gaussian(Fraction(1)).increment(
        Fraction(0), Fraction(1 << 20), 3 * PIECE, Stream.from_key(KEY)
    )
    assert len({piece.tobytes() for piece in np.split(drawn, 3)}) == 3


def test_as_many_threads_draw_as_the_stream_may_use() -> None:
    together = threading.Barrier(3, timeout=60)
    seen: set[int] = set()

    def fill(_: slice, __: Stream) -> None:
        seen.add(threading.get_ident())
        together.wait()

    in_pieces(3 * PIECE, fill, Stream.from_key(KEY, threads=3))
    assert len(seen) == 3
    assert threading.get_ident() in seen


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_one_piece_is_raised(threads: int) -> None:
    def fill(at: slice, _: Stream) -> None:
        if at.start:
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        in_pieces(3 * PIECE, fill, Stream.from_key(KEY, threads=threads))


def test_less_than_one_thread_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one thread"):
        Stream.fresh(threads=0)
