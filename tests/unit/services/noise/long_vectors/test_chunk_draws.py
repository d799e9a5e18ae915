"""Test that a chunk's draw is a function of a key, a number and the neighbors' chunks."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.mechanisms import Gaussian, Skellam
from penstock.mechanisms.multiple_release import place
from penstock.mechanisms.process import Mechanism
from penstock.services.noise.long_vectors.chunk_draws import ChunkDraws

EXACT = np.arange(100, dtype=np.int64)
LEVELS = [Fraction(n) for n in (100, 400, 900)]


def drawn(mechanism: Mechanism, key: bytes = bytes(32), index: int = 0) -> list[NDArray[np.int64]]:
    first, middle, last = (ChunkDraws(mechanism, level, key) for level in LEVELS)
    anchor = first.anchor(index, EXACT)
    noisy = last.between(index, (LEVELS[0], anchor), None)
    between = middle.between(index, (LEVELS[0], anchor), (LEVELS[2], noisy.copy()))
    raised = ChunkDraws(mechanism, Fraction(50), key).raised(index, EXACT, (LEVELS[0], anchor))
    return [anchor, noisy, between, raised]


@pytest.mark.parametrize("mechanism", [Gaussian(Fraction(1, 1 << 14)), Skellam(Fraction(1))])
def test_the_same_key_and_number_give_the_same_bytes(mechanism: Mechanism) -> None:
    again = zip(drawn(mechanism), drawn(mechanism), strict=True)
    assert all((one == other).all() for one, other in again)


@pytest.mark.parametrize("mechanism", [Gaussian(Fraction(1, 1 << 14)), Skellam(Fraction(1))])
def test_a_draw_in_the_memory_of_a_neighbor_is_the_same(mechanism: Mechanism) -> None:
    anchor, noisy, *_ = drawn(mechanism)
    draws, before = ChunkDraws(mechanism, LEVELS[1], b"k" * 32), anchor.copy()
    accurate, room = (LEVELS[0], anchor), noisy.copy()
    apart = place(mechanism, accurate, (LEVELS[2], noisy), LEVELS[1], draws.stream(3))
    between = draws.between(3, accurate, (LEVELS[2], room))
    assert between.tolist() == apart.tolist()
    assert anchor.tolist() == before.tolist()
    assert np.shares_memory(between, room) == isinstance(mechanism, Gaussian)


def test_every_key_and_number_has_a_stream_of_its_own() -> None:
    gaussian = Gaussian(Fraction(1, 1 << 14))
    words = {
        ChunkDraws(gaussian, LEVELS[0], key).stream(index).raw_uint64(2).tobytes()
        for key in (bytes(32), b"k" * 32)
        for index in (0, 1, 256)
    }
    assert len(words) == 6
