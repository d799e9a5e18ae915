"""Draw levels of the long query of a world, in other processes or in this one."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from tests.unit.services.noise.long_vectors.stored_vectors import rows, vectors
from tests.unit.worlds import World

from penstock.mechanisms.process import IntVector
from penstock.randomness import Stream
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors import attempts
from penstock.services.noise.long_vectors.attempts import Attempt
from penstock.services.noise.long_vectors.drawing import Drawing
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.long_vectors.spread.chunk_work import (
    Neighbor,
    carried_out,
    hashes,
    works,
)

Spread = Callable[[list[str]], Iterable[str]]


def drawn(world: World, spread: Spread | None, *, is_last: bool = False) -> LongVector:
    """Draw a level between the two that are stored, or a noisier one, always from the same key."""
    known = Stream.from_key(b"k" * 32)
    server = replace(world.server, randomness=lambda: known)
    with server.database.read() as session:
        dataset, query, _ = rows(session)
    kind, found = kind_of(query), vectors(world)
    near, far = min(found), max(found)
    rung = far + 5 if is_last else (near + far) // 2
    place = Drawing(server, dataset, query, kind.mechanism, kind.ladder)
    start = (far if is_last else near), found[far if is_last else near]
    if spread is None:
        return place.between(rung, start, None if is_last else (far, found[far]))
    accurate = Neighbor(kind.ladder.value(start[0]), start[1])
    noisy = None if is_last else Neighbor(kind.ladder.value(far), found[far])

    def elsewhere(attempt: Attempt) -> list[str]:
        told = works(server.chunks, attempt, accurate, noisy)
        return hashes(list(spread(told)), "A worker")

    level = kind.ladder.value(rung)
    return attempts.drawn(server, dataset, query, kind.mechanism, rung, level, nowhere, elsewhere)


def nowhere(*_: object) -> IntVector:
    """Fail: nothing is drawn in this process."""
    raise NotImplementedError


def in_turn(told: list[str]) -> Iterable[str]:
    return map(carried_out, told)
