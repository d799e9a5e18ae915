"""Share a table of running computations among all workers of a server.

An entry is a keyed hash of a name, with a time at which it ends in any case, so that a killed
worker does not block a user for long.
"""

import hashlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock.http.counting.shared_memory import Shared

PLACES: Final = 512
"""The number of computations at once; every worker has a few at most."""

_ENTRY: Final = np.dtype([("name", "<u8"), ("until", "<f8")])
BYTES: Final = PLACES * _ENTRY.itemsize
LAYOUT: Final = f"turns {PLACES} <Qd"


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
            # All places at once: one after the other takes a millisecond.
            table, now = self._table(memory), self._clock()
            ended = table["until"] <= now
            if not ended[table["name"] == own].all():
                return False
            free = int(ended.argmax())
            if ended[free]:
                table[free] = (own, now + seconds)
            return bool(ended[free])

    def give(self, person: str) -> None:
        """Record that a computation is done (``computing.Turns.give``)."""
        own = self._hash(person)
        with self._memory.locked() as memory:
            table = self._table(memory)
            table[table["name"] == own] = (0, 0.0)

    def _table(self, memory: memoryview) -> NDArray[Any]:
        return np.frombuffer(memory, _ENTRY, PLACES, self._offset)

    def _hash(self, person: str) -> int:
        digest = hashlib.blake2b(
            person.encode(), digest_size=8, key=self._key[:64], person=b"penstock turns"
        ).digest()
        return int.from_bytes(digest, "little") or 1
