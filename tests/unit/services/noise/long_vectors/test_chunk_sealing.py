"""Test that a sealed chunk opens in its place and in no other."""

from dataclasses import replace

import numpy as np
import pytest

from penstock.encryption.envelope import OVERHEAD
from penstock.encryption.key import Key
from penstock.errors import IntegrityViolation
from penstock.services.noise.long_vectors.chunk_sealing import ChunkPlaces, open_chunk, seal_chunk

PLACES = ChunkPlaces("d@1", "q", 4, "a" * 32, 3)
KEY = Key(b"k" * 32)
STEPS = np.arange(8, dtype=np.int64)


def sealed_again() -> bytes:
    room = np.empty(8 * len(STEPS) + OVERHEAD, dtype=np.uint8)
    seal_chunk(KEY, PLACES, 1, STEPS, room)
    return room.tobytes()


@pytest.fixture
def sealed() -> bytes:
    return sealed_again()


def test_a_chunk_opens_in_its_place(sealed: bytes) -> None:
    assert open_chunk(KEY, PLACES, 1, 8, sealed).tolist() == STEPS.tolist()


@pytest.mark.parametrize(
    "other",
    [
        {"dataset": "d@2"},
        {"query": "other"},
        {"rung": 5},
        {"attempt": "b" * 32},
        {"count": 4},
    ],
)
def test_it_opens_in_no_other_place(sealed: bytes, other: dict[str, object]) -> None:
    with pytest.raises(IntegrityViolation):
        open_chunk(KEY, replace(PLACES, **other), 1, 8, sealed)  # type: ignore[arg-type]


def test_it_opens_under_no_other_number_length_or_key(sealed: bytes) -> None:
    for key, index, length in ((KEY, 0, 8), (KEY, 1, 7), (Key(b"l" * 32), 1, 8)):
        with pytest.raises(IntegrityViolation):
            open_chunk(key, PLACES, index, length, sealed)


def test_a_part_or_an_altered_byte_is_refused(sealed: bytes) -> None:
    for broken in (sealed[:-1], b"", sealed[:-8] + bytes(8), sealed + b"x"):
        with pytest.raises(IntegrityViolation):
            open_chunk(KEY, PLACES, 1, 8, broken)


def test_equal_chunks_are_sealed_differently(sealed: bytes) -> None:
    other = sealed_again()
    assert other[10:54] != sealed[10:54]
