"""Seal chunks of a long vector, each for its place in one attempt.

Every chunk is an envelope with a salt and a nonce of its own, under a key that only its attempt
uses.  Its identity has the attempt, its number and their count: none opens in place of another.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.encryption.envelope import Buffer, RowIdentity
from penstock.encryption.key import Key
from penstock.encryption.vectors import TYPE, open_vector, seal_vector_into
from penstock.mechanisms.process import IntVector


@dataclass(frozen=True, kw_only=True)
class ChunkIdentity(RowIdentity):
    """Hold where a chunk belongs, beside what every record has."""

    attempt: str
    index: int
    count: int


@dataclass(frozen=True)
class ChunkPlaces:
    """Hold what all chunks of an attempt have in common: whose they are, and how many."""

    dataset: str
    query: str
    rung: int
    attempt: str
    count: int

    def of(self, index: int, length: int) -> ChunkIdentity:
        """Return the identity of a chunk of ``length`` integers."""
        return ChunkIdentity(
            table="chunk",
            dataset=self.dataset,
            query=self.query,
            level=self.rung,
            length=length,
            type=TYPE,
            attempt=self.attempt,
            index=index,
            count=self.count,
        )


def seal_chunk(
    key: Key, places: ChunkPlaces, index: int, steps: IntVector, room: NDArray[np.uint8]
) -> None:
    """Seal a chunk's lattice integers, with all parts, into ``room``, as large as an envelope."""
    seal_vector_into(key, steps, places.of(index, len(steps)), room)


def open_chunk(
    key: Key,
    places: ChunkPlaces,
    index: int,
    length: int,
    sealed: Buffer,
    room_of: Callable[[int], NDArray[np.uint8]] | None = None,
) -> IntVector:
    """Return a chunk's ``length`` lattice integers.

    They are in what ``room_of`` returns for a number of bytes, by default in a new array.  Raises
    ``IntegrityViolation``.
    """
    return open_vector(key, sealed, places.of(index, length), room_of)
