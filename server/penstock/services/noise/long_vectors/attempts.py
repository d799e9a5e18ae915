"""Draw a whole long vector into the store, chunk by chunk, on one thread or several.

An attempt's name and both of its keys are new, whatever became of earlier ones.  What it stored can
be read by nobody until the row with its manifest is committed.
"""

import hashlib
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

from penstock.encryption.key import Key
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.persistence.chunks.store import Writing
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.randomness.stream import KEY_BYTES
from penstock.services.context import Server
from penstock.services.noise.keys import identity
from penstock.services.noise.long_vectors import abandoned, sizes
from penstock.services.noise.long_vectors.chunk_draws import ChunkDraws
from penstock.services.noise.long_vectors.chunk_sealing import ChunkPlaces, seal_chunk
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.long_vectors.manifest import Manifest, root_of
from penstock.services.noise.long_vectors.rooms import Rooms, reused_rooms

NAME_SIZE = 16


def size_of(query: Query, parts: int) -> int:
    """Return how many bytes a vector of a query takes in the store, but for a few."""
    return 8 * query.dimension * parts


@dataclass(frozen=True, repr=False)
class Attempt:
    """Hold what drawing the chunks of one attempt needs; its keys are used for nothing else."""

    draws: ChunkDraws
    key: Key
    places: ChunkPlaces
    spans: Sequence[slice]
    writing: Writing

    def stored(self, draw: "ChunkDraw", threads: int) -> list[str]:
        """Draw, seal and store every chunk in this process; return the SHA-256 of each."""
        hashes = [""] * len(self.spans)

        def make(index: int, rooms: Rooms) -> None:
            span, parts = self.spans[index], self.draws.mechanism.parts
            steps = draw(self.draws, index, span, rooms)
            if len(steps) != (span.stop - span.start) * parts:
                raise ValueError(f"chunk {index} has {len(steps)} integers")
            sealed = rooms.sealed(len(steps))
            seal_chunk(self.key, self.places, index, steps, sealed)
            self.writing.put(index, sealed.data)
            hashes[index] = hashlib.sha256(sealed.data).hexdigest()

        _each(len(self.spans), make, threads)
        return hashes


ChunkDraw = Callable[[ChunkDraws, int, slice, Rooms], IntVector]
"""Draws a chunk, given its number, its coordinates, and where its neighbors may be opened."""

Spread = Callable[[Attempt], list[str]]
"""Draws, seals and stores every chunk in other processes; returns the SHA-256 of each."""


def drawn(
    server: Server,
    dataset: Dataset,
    query: Query,
    mechanism: Mechanism,
    rung: int,
    level: Fraction,
    draw: ChunkDraw,
    spread: Spread | None = None,
) -> LongVector:
    """Draw a vector at ``level`` into the store, durably; what fails leaves nothing readable.

    Raises ``NoRoom``, ``Unavailable``, and what ``draw`` or ``spread`` raises.
    """
    abandoned.sweep(server)
    server.chunks.require_room(size_of(query, mechanism.parts))
    stream = server.randomness()
    draws = ChunkDraws(mechanism, level, stream.raw_uint64(KEY_BYTES // 8).tobytes())
    chunk = sizes.chunk_of(query.dimension)
    spans = sizes.spans(query.dimension, chunk)
    attempt, key = os.urandom(NAME_SIZE).hex(), Key.fresh()
    places = ChunkPlaces(identity(dataset), query.folded, rung, attempt, len(spans))
    writing = server.chunks.begin(attempt)
    is_whole = False
    try:
        begun = Attempt(draws, key, places, spans, writing)
        hashes = spread(begun) if spread else begun.stored(draw, stream.threads)
        writing.settle()
        is_whole = True
    finally:
        if not is_whole:
            server.chunks.remove(attempt)
            writing.close()
    manifest = Manifest(
        attempt=attempt,
        count=len(spans),
        chunk=chunk,
        values=query.dimension,
        parts=mechanism.parts,
        hashes=tuple(hashes),
        root=root_of(hashes),
    )
    called = f"the new release of query {query.readable!r}"
    return LongVector(server.chunks, manifest, key, places, called, writing)


def _each(count: int, act: Callable[[int, Rooms], None], threads: int) -> None:
    """Call ``act`` with every number below ``count``, in their order, on several threads.

    Each has rooms of its own.  numpy, the cipher, the hash and the disk leave the interpreter's
    lock.  The first error ends all of them.
    """
    waiting = deque(range(count))

    def work() -> None:
        with reused_rooms() as rooms:
            while waiting:
                try:
                    index = waiting.popleft()
                except IndexError:  # another thread took the last one
                    return
                is_done = False
                try:
                    act(index, rooms)
                    is_done = True
                finally:
                    if not is_done:
                        waiting.clear()

    helpers = min(threads, count) - 1
    if not helpers:
        work()
        return
    with ThreadPoolExecutor(helpers) as pool:
        others = [pool.submit(work) for _ in range(helpers)]
        work()
    for other in others:
        other.result()
