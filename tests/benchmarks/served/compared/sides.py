"""Provide what is asked of one home, piece by piece, and check what was answered."""

import json
import math
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import count

from tests.benchmarks.database.world import TIERS
from tests.benchmarks.served.compared.populated import Home
from tests.benchmarks.served.compared.rows import FIRST, STORED
from tests.benchmarks.served.readers import Ask, Visit
from tests.benchmarks.served.received import Received


class Side:
    """Hold a home, and what its readers were given so far."""

    def __init__(self, home: Home, queries: int, values: int) -> None:
        self.home = home
        self.received = Received(values)
        self.anchors = [_release(number, {}) for number in range(queries)]
        self._new = new_levels(queries)
        self._returned: deque[Ask] = deque()
        self._own = defaultdict[int, deque[Ask]](lambda: deque(self.anchors))
        self._drawn = defaultdict[int, deque[Ask]](deque)

    def asks(self, request: str, clients: int, most: int, pieces: int = 1) -> list[list[Ask]]:
        """Return what each client asks in one piece: ``most`` requests together, or a few more.

        What is stored is divided among as many ``pieces`` as are still to come.
        """
        each = math.ceil(most / clients)
        if request == FIRST:
            return [[self._next() for _ in range(each)] for _ in range(clients)]
        if request == STORED:
            drawn = [self._drawn[(reader + 1) % clients] for reader in range(clients)]
            return [
                [asks.popleft() for _ in range(min(each, math.ceil(len(asks) / pieces)))]
                for asks in drawn
            ]
        for reader in range(clients):
            self._own[reader].rotate(each)
        return [(list(self._own[reader]) * each)[:each] for reader in range(clients)]

    def take(self, request: str, asks: Sequence[Sequence[Ask]], visits: Sequence[Visit]) -> None:
        """Check the answers, and note who has which release.

        Raises ``AssertionError`` where a first release was stored, or another was not.
        """
        known = self.received.vectors
        for reader, (own, visit) in enumerate(zip(asks, visits, strict=True)):
            for heard in visit.heard:
                self.received.add(reader, heard)
            answered, others = own[: len(visit.heard)], own[len(visit.heard) :]
            if request == FIRST:
                self._own[reader].extend(answered)
                self._drawn[reader].extend(answered)
                self._returned.extend(others)
            if request == STORED:
                self._own[reader].extend(answered)
                self._drawn[(reader + 1) % len(asks)].extend(others)
        drawn = sum(len(visit.heard) for visit in visits) if request == FIRST else 0
        assert self.received.vectors - known == drawn, f"{request}: not all were, or others too"

    def warm(self, visits: Sequence[Visit]) -> None:
        """Check releases at the highest tier's level, which every reader asks for at first."""
        for reader, visit in enumerate(visits):
            for heard in visit.heard:
                self.received.add(reader, heard)

    def draw_anew(self) -> None:
        """Forget who drew what, so that only what is drawn from now on is asked for as stored."""
        self._drawn.clear()

    def _next(self) -> Ask:
        return self._returned.popleft() if self._returned else next(self._new)


def new_levels(queries: int) -> Iterator[Ask]:
    """Yield levels of all queries in turns, no level twice and none that a tier has."""
    low, high = TIERS["internal"], TIERS["public"]
    for step in count(1):
        # 1000 is the middle tier's.
        level = low * (high / low) ** (0.01 + 0.48 * between(step))
        for number in range(queries):
            yield _release(number, {"level": level})


def between(step: int) -> float:
    """Return van der Corput's sequence: the bits of ``step`` in reverse, as a fraction."""
    return int(f"{step:b}"[::-1], 2) / (1 << step.bit_length())


def _release(query: int, body: dict[str, object]) -> Ask:
    return Ask("POST", f"/api/v1/queries/query-{query}/releases", json.dumps(body))
