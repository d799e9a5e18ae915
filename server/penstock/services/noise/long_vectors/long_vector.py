"""Represent a long vector that is read chunk by chunk, each opened when it is needed."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from penstock.encryption.envelope import RowIdentity
from penstock.encryption.key import Key
from penstock.errors import Conflict, IntegrityViolation
from penstock.mechanisms.process import IntVector
from penstock.persistence.chunks.store import ChunkMissing, ChunkStore, Content, Writing
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.noise.keys import identity, query_key
from penstock.services.noise.long_vectors import manifest as manifests
from penstock.services.noise.long_vectors import sizes
from penstock.services.noise.long_vectors.chunk_sealing import ChunkPlaces, open_chunk
from penstock.services.noise.long_vectors.manifest import Manifest
from penstock.services.noise.long_vectors.rooms import Rooms
from penstock.services.noise.sealing import SealedRelease, place_of, require_unfrozen


@dataclass(frozen=True)
class LongVector:
    """Hold what reading a vector in chunks needs; its values stay in the store.

    ``called`` is the release as messages name it.  ``writing`` is that of a vector that was just
    drawn and is not committed yet.
    """

    store: ChunkStore
    manifest: Manifest
    key: Key = field(repr=False)
    places: ChunkPlaces
    called: str
    writing: Writing | None = field(default=None, repr=False)

    @property
    def root(self) -> str:
        """Return the Merkle root over the chunks' ciphertexts, in hexadecimal."""
        return self.manifest.root

    def spans(self) -> list[slice]:
        """Return the coordinates of each chunk."""
        return sizes.spans(self.manifest.values, self.manifest.chunk)

    def chunk(self, index: int, rooms: Rooms | None = None, use: str = "chunk") -> IntVector:
        """Return a chunk's lattice integers, all parts of its values, the values first.

        With ``rooms`` they are valid until the next chunk of the same ``use``.  Raises
        ``IntegrityViolation`` if it is missing or was altered.
        """
        span = self.spans()[index]
        length = (span.stop - span.start) * self.manifest.parts
        sealed = self.ciphertext(index, None if rooms is None else rooms.sealed(length).data)
        room_of = None if rooms is None else rooms.opened(use)
        try:
            return open_chunk(self.key, self.places, index, length, sealed, room_of)
        except IntegrityViolation:
            raise self._broken(index, "was altered or belongs elsewhere") from None

    def require_span(self, index: int, span: slice) -> None:
        """Raise ``Conflict`` unless a chunk has these coordinates and no others."""
        spans = self.spans()
        if span not in spans[index : index + 1]:
            raise Conflict(
                f"Chunk {index} of the new level has the values from {span.start:,} up to"
                f" {span.stop:,}, and {self.called}, from which it is drawn, is stored in"
                f" {len(spans)} chunks of {self.manifest.chunk:,} values. Nothing was released. Ask"
                " the operator to run the version of Penstock that stored that release."
            )

    def ciphertext(self, index: int, room: memoryview | None = None) -> Content:
        """Return a chunk as it is stored, perhaps in ``room``.

        Raises ``IntegrityViolation`` if it is missing.
        """
        try:
            return self.store.read(self.manifest.attempt, index, room)
        except ChunkMissing:
            raise self._broken(index, "is missing") from None

    def require_whole(self) -> None:
        """Raise ``IntegrityViolation`` unless every chunk opens, and is the one of its hash."""
        for index, digest in enumerate(self.manifest.hashes):
            if hashlib.sha256(self.ciphertext(index)).hexdigest() != digest:
                raise self._broken(index, "was altered or belongs elsewhere")
            self.chunk(index)

    def steps(self, start: int, stop: int) -> Iterator[tuple[int, IntVector]]:
        """Yield the released values from ``start`` up to ``stop``, with the place of each piece."""
        for index, span in enumerate(self.spans()):
            first, end = max(start, span.start), min(stop, span.stop)
            if first < end:
                yield first, self.chunk(index)[first - span.start : end - span.start]

    def whole(self) -> IntVector:
        """Return all lattice integers at once, with all parts, as a row would have them."""
        room = np.empty((self.manifest.parts, self.manifest.values), dtype=np.int64)
        for index, span in enumerate(self.spans()):
            room[:, span] = self.chunk(index).reshape(self.manifest.parts, -1)
        return room.reshape(-1)

    def sealed(self, server: Server, dataset: Dataset, query: Query, rung: int, seq: int) -> bytes:
        """Return the manifest for the row of a release.

        Raises ``Conflict`` for a query that draws nothing more.
        """
        require_unfrozen(query)
        place = _row(dataset, query, rung, seq, self.manifest.parts)
        return manifests.sealed(self.manifest, self.key, query_key(server, dataset, query), place)

    def kept(self) -> None:
        """Note that the vector's row is committed, and end the attempt."""
        if self.writing is not None:
            self.writing.keep()
        self.let_go()

    def let_go(self) -> None:
        """End the attempt, whose row may or may not be committed."""
        if self.writing is not None:
            self.writing.close()

    def thrown_away(self) -> None:
        """Remove the chunks of a vector that will not be committed."""
        self.store.remove(self.manifest.attempt)
        self.let_go()

    def _broken(self, index: int, what: str) -> IntegrityViolation:
        return IntegrityViolation(
            f"Chunk {index} of {self.manifest.count} of {self.called} {what}. Nothing was drawn or"
            " served from it. Ask the operator to restore the chunks that belong to the database"
            " from a backup; the server's log has the chunk's path.",
            path=f"{self.store.place}/{self.manifest.attempt}/{index:08d}",
        )


def opened(
    server: Server, dataset: Dataset, query: Query, release: SealedRelease, stored: bytes
) -> LongVector:
    """Return the long vector of a release, whose row has the manifest ``stored``.

    Raises ``IntegrityViolation`` for a manifest that is not that of this row.
    """
    place_of = partial(_row, dataset, query, release.rung, release.seq)
    manifest, key = manifests.opened_at(stored, query_key(server, dataset, query), place_of)
    places = ChunkPlaces(
        identity(dataset), query.folded, release.rung, manifest.attempt, manifest.count
    )
    called = f"release {release.public_id} of query {query.readable!r}"
    return LongVector(server.chunks, manifest, key, places, called)


def _row(dataset: Dataset, query: Query, rung: int, seq: int, parts: int) -> RowIdentity:
    length = query.dimension * parts
    return place_of(dataset, query, "release", "chunks", length=length, rung=rung, seq=seq)


Steps = IntVector | LongVector
"""The lattice integers of a release, at hand or in chunks."""


def piece_of(
    steps: Steps, index: int, span: slice, parts: int, rooms: Rooms, use: str
) -> IntVector:
    """Return a chunk of a vector that is in chunks, or cut from one that is a row.

    It is valid until the next one of the same ``use``.  Raises ``Conflict`` for a vector whose
    chunks have other coordinates.
    """
    if isinstance(steps, LongVector):
        steps.require_span(index, span)
        return steps.chunk(index, rooms, use)
    return steps.reshape(parts, -1)[:, span].reshape(-1).copy()


def at_hand(steps: Steps) -> IntVector:
    """Return lattice integers as one array, also if they are stored in chunks."""
    return steps.whole() if isinstance(steps, LongVector) else steps


def keep_all(vectors: Sequence[tuple[int, Steps]]) -> None:
    """Note of vectors in chunks that their rows are committed."""
    for _, steps in vectors:
        if isinstance(steps, LongVector):
            steps.kept()
