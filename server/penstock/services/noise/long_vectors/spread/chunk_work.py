"""Say in a text what a process is to draw, and carry it out: one chunk between its neighbors.

A work is JSON, and so is what comes back: no process makes objects of what another one sent.
It has keys: those that open the neighbors' chunks, that of its noise, and that which seals it.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from penstock.encryption.key import Key
from penstock.errors import IntegrityViolation, PenstockError, Unavailable
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.laplace.process import DiscreteLaplace, Laplace
from penstock.mechanisms.poisson.process import Poisson
from penstock.mechanisms.process import Mechanism
from penstock.mechanisms.skellam.process import Skellam
from penstock.persistence.chunks.choice import chunk_store
from penstock.persistence.chunks.store import ChunkStore
from penstock.services.noise.long_vectors import manifest as manifests
from penstock.services.noise.long_vectors.attempts import Attempt
from penstock.services.noise.long_vectors.chunk_draws import between
from penstock.services.noise.long_vectors.chunk_sealing import ChunkPlaces, seal_chunk
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.long_vectors.rooms import Rooms, reused_rooms

_MECHANISMS: Final = {
    kind.__name__: kind for kind in (Gaussian, Laplace, DiscreteLaplace, Poisson, Skellam)
}
"""The mechanisms with a path, by the names of their classes; each has its granularity alone."""

_ERRORS: Final = {kind.__name__: kind for kind in (IntegrityViolation, Unavailable)}


@dataclass(frozen=True)
class Neighbor:
    """Hold a stored vector, and its level."""

    level: Fraction
    vector: LongVector


def works(
    store: ChunkStore, attempt: Attempt, accurate: Neighbor, noisy: Neighbor | None
) -> list[str]:
    """Return a work for each chunk of an attempt.

    Raises ``Conflict`` for a neighbor whose chunks have other coordinates.
    """
    for index, span in enumerate(attempt.spans):
        for neighbor in (accurate, noisy):
            if neighbor is not None:
                neighbor.vector.require_span(index, span)
    shared = {
        "store": _reached(store),
        "mechanism": _mechanism(attempt.draws.mechanism),
        "level": str(attempt.draws.level),
        "key": attempt.key.material.hex(),
        "places": asdict(attempt.places),
        "accurate": _neighbor(accurate),
        "noisy": None if noisy is None else _neighbor(noisy),
    }
    return [
        json.dumps({**shared, "index": index, "stream": attempt.draws.chunk_key(index).hex()})
        for index in range(attempt.places.count)
    ]


def carried_out(work: str) -> str:
    """Draw, seal and store the chunk of a work; return its SHA-256, or what went wrong, as JSON."""
    try:
        with reused_rooms() as rooms:
            return json.dumps({"sha256": _drawn(json.loads(work), rooms)})
    except PenstockError as problem:
        path = {name: value for name, value in problem.data.items() if name == "path"}
        return json.dumps({"error": type(problem).__name__, "detail": problem.detail, "data": path})


def hashes(results: Sequence[str], worker: str) -> list[str]:
    """Return the SHA-256 of each chunk.  Raises what a process reported; ``worker`` names it."""
    answers = [json.loads(result) for result in results]
    for answer in answers:
        if "error" in answer:
            kind = _ERRORS.get(answer["error"], Unavailable)
            raise kind(f"{worker}: {answer['detail']}", **answer["data"])
    return [str(answer["sha256"]) for answer in answers]


def _drawn(work: dict[str, Any], rooms: Rooms) -> str:
    store, index = chunk_store(work["store"], Path()), work["index"]
    name, granularity = work["mechanism"]
    mechanism = _MECHANISMS[name](Fraction(granularity))

    def piece(neighbor: dict[str, Any], use: str) -> tuple[Fraction, Any]:
        return Fraction(neighbor["level"]), _vector(store, neighbor).chunk(index, rooms, use)

    noisy = work["noisy"] and piece(work["noisy"], "noisy")
    accurate, level = piece(work["accurate"], "accurate"), Fraction(work["level"])
    steps = between(mechanism, level, bytes.fromhex(work["stream"]), accurate, noisy)
    places, sealed = ChunkPlaces(**work["places"]), rooms.sealed(len(steps))
    seal_chunk(Key(bytes.fromhex(work["key"])), places, index, steps, sealed)
    store.joined(places.attempt).put(index, sealed.data)
    return hashlib.sha256(sealed.data).hexdigest()


def _reached(store: ChunkStore) -> str:
    """Return a store's place as every process reaches it, whatever folder it runs in."""
    return store.place if "://" in store.place else str(Path(store.place).resolve())


def _mechanism(mechanism: Mechanism) -> tuple[str, str]:
    name = type(mechanism).__name__
    if name not in _MECHANISMS or [field.name for field in fields(mechanism)] != ["granularity"]:  # type: ignore[arg-type]  # all are dataclasses
        raise TypeError(f"{name} is drawn in the server alone")
    return name, str(mechanism.granularity)


def _neighbor(neighbor: Neighbor) -> dict[str, Any]:
    vector = neighbor.vector
    return {
        "level": str(neighbor.level),
        "manifest": vector.manifest.public().decode(),
        "key": vector.key.material.hex(),
        "places": asdict(vector.places),
        "called": vector.called,
    }


def _vector(store: ChunkStore, neighbor: dict[str, Any]) -> LongVector:
    manifest, key = (
        manifests.of_public(neighbor["manifest"].encode()),
        Key(bytes.fromhex(neighbor["key"])),
    )
    return LongVector(store, manifest, key, ChunkPlaces(**neighbor["places"]), neighbor["called"])
