"""Share a table of running computations among all workers of a server.

An entry is a keyed hash of a name, with a time at which it ends in any case, so that a killed
worker does not block a user for long.
"""

import hashlib
import struct
from collections.abc import Callable
from typing import Final

from penstock.http.counting.shared_memory import Shared

PLACES: Final = 512
"""The number of computations at once; every worker has a few at most."""

_ENTRY: Final = struct.Struct("<Qd")
BYTES: Final = PLACES * _ENTRY.size
LAYOUT: Final = f"turns {PLACES} {_ENTRY.format}"


class SharedTurns:
    """Hold the table at ``offset``; ``clock`` in seconds, monotonic (``computing.Turns``)."""

    def __init__(self, memory: Shared, offset: int, key: bytes, clock: Callable[[], float]) -> None:
        self._memory = memory
        self._offset = offset
        self._key = key
        self._clock = clock

    def take(self, person: str, seconds: float) -> bool:
        """Record a computation (``computing.Turns.take``); none begins if the table is full."""
        own = self._hash(person)
        with self._memory.locked() as memory:
            now, free = self._clock(), None
            for place in range(PLACES):
                name, until = _ENTRY.unpack_from(memory, self._at(place))
                if until <= now:
                    free = place if free is None else free
                elif name == own:
                    return False
            if free is not None:
                _ENTRY.pack_into(memory, self._at(free), own, now + seconds)
        return free is not None

    def give(self, person: str) -> None:
        """Record that a computation is done (``computing.Turns.give``)."""
        own = self._hash(person)
        with self._memory.locked() as memory:
            for place in range(PLACES):
                if _ENTRY.unpack_from(memory, self._at(place))[0] == own:
                    _ENTRY.pack_into(memory, self._at(place), 0, 0.0)

    def _at(self, place: int) -> int:
        return self._offset + place * _ENTRY.size

    def _hash(self, person: str) -> int:
        digest = hashlib.blake2b(
            person.encode(), digest_size=8, key=self._key[:64], person=b"penstock turns"
        ).digest()
        return int.from_bytes(digest, "little") or 1
