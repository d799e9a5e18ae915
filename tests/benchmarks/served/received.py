"""Provide all that readers were answered: one vector for each query and level, whoever asked."""

import hashlib
import json

import numpy as np
from tests.benchmarks.database.world import check_values
from tests.benchmarks.served.readers import Heard


class Received:
    """Check answers against the law and against each other.

    Raises ``AssertionError`` for an answer that is no release, for values that cannot be
    the query's, and where two readers, or one reader twice, were given different vectors
    or names at one level of a query.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: dict[tuple[str, float], tuple[str, bytes]] = {}
        self._readers: dict[tuple[str, float], set[int]] = {}
        self.answers = 0

    def add(self, reader: int, heard: Heard) -> str:
        """Take in one answer; the release's name."""
        assert heard.status == 200, f"status {heard.status}: {heard.body[:500]!r}"
        release = json.loads(heard.body)
        key = release["query"], release["level"]["value"]
        values = np.array(release["values"], dtype=np.float64)
        vector = release["id"], hashlib.sha256(values.tobytes()).digest()
        known = self._vectors.get(key)
        if known is None:
            check_values(values, self._size, release["level"]["value"])
            self._vectors[key] = vector
        else:
            assert known == vector, f"two different releases of {key[0]} at level {key[1]}"
        self._readers.setdefault(key, set()).add(reader)
        self.answers += 1
        name: str = release["id"]
        return name

    @property
    def vectors(self) -> int:
        """Return how many different releases there were."""
        return len(self._vectors)

    @property
    def shared(self) -> int:
        """Return how many releases were read by two readers or more."""
        return sum(len(readers) > 1 for readers in self._readers.values())
