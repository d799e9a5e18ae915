"""Count requests, computations and refusals across all workers, for the metrics page.

Every label has a closed list of values: the templates of the routes, verbs, classes of
statuses.
"""

import struct
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from penstock.computing.pool import Outcome
from penstock.http.counting.shared_memory import Shared

OTHER = ("other", "other")
"""The verb and route of a request that matched no route."""

CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
EDGES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper edges of the buckets of durations, in seconds."""

_CELL = struct.Struct("<Q")

OUTCOMES = tuple(str(outcome) for outcome in Outcome)
"""The outcomes of computations."""


def edges(quantum: float) -> tuple[float, ...]:
    """Return edges that do not distinguish a repeat from an answer that waits for a quantum."""
    return tuple(edge for edge in EDGES if edge >= 2 * quantum)


class Lines:
    """Lay out one line of counts for every route and class of statuses, by duration."""

    def __init__(self, routes: Iterable[tuple[str, str]], quantum: float) -> None:
        self.routes = (*sorted(routes), OTHER)
        self.edges = edges(quantum)
        self.width = len(self.edges) + 1
        self._numbers = {route: number for number, route in enumerate(self.routes)}

    @property
    def layout(self) -> str:
        """Return a description of the layout."""
        return f"requests {self.routes} {CLASSES} {self.edges} {_CELL.format}"

    @property
    def bytes(self) -> int:
        """Return the number of bytes that the lines take."""
        return len(self.routes) * len(CLASSES) * self.width * _CELL.size

    def place(self, verb: str, route: str | None, status: int, seconds: float) -> int:
        """Return the index of the count to which an answer belongs."""
        route_key = ("GET" if verb == "HEAD" else verb, route or "")
        line = self._numbers.get(route_key, len(self.routes) - 1) * len(CLASSES)
        line += min(max(status // 100, 1), len(CLASSES)) - 1
        return line * self.width + bisect_left(self.edges, seconds)


class Requests:
    """Count requests across all workers, at ``offset`` in the shared memory."""

    def __init__(self, memory: Shared, offset: int, lines: Lines) -> None:
        self._memory = memory
        self._offset = offset
        self.lines = lines

    def count(self, verb: str, route: str | None, status: int, seconds: float) -> None:
        """Count one answer."""
        start = self._offset + self.lines.place(verb, route, status, seconds) * _CELL.size
        with self._memory.locked() as memory:
            (before,) = _CELL.unpack_from(memory, start)
            _CELL.pack_into(memory, start, before + 1)

    def counted(self) -> Iterator[tuple[str, str, str, Sequence[int]]]:
        """Yield verb, route and class of status, each with the counts by duration."""
        with self._memory.locked() as memory:
            copy = bytes(memory[self._offset : self._offset + self.lines.bytes])
        values = [value for (value,) in _CELL.iter_unpack(copy)]
        width = self.lines.width
        labels = ((*route, name) for route in self.lines.routes for name in CLASSES)
        for number, (verb, route, name) in enumerate(labels):
            yield verb, route, name, values[number * width : (number + 1) * width]


class Tally:
    """Count what has one of a few ``names``, across all workers, at ``offset`` in the memory."""

    def __init__(self, memory: Shared, offset: int, names: Sequence[str]) -> None:
        self._memory = memory
        self._offset = offset
        self._names = names

    @staticmethod
    def bytes(names: Sequence[str]) -> int:
        """Return the number of bytes that the counts take."""
        return len(names) * _CELL.size

    def count(self, name: str) -> None:
        """Count one."""
        start = self._offset + self._names.index(name) * _CELL.size
        with self._memory.locked() as memory:
            (before,) = _CELL.unpack_from(memory, start)
            _CELL.pack_into(memory, start, before + 1)

    def counted(self) -> Iterator[tuple[str, int]]:
        """Yield every name with its count."""
        end = self._offset + self.bytes(self._names)
        with self._memory.locked() as memory:
            copy = memory[self._offset : end].tobytes()
        for name, (value,) in zip(self._names, _CELL.iter_unpack(copy), strict=True):
            yield name, value
