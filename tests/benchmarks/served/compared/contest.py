"""Let hello-world and every checkout take turns at the same clients, piece by piece of a row."""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.benchmarks.served.compared import hello
from tests.benchmarks.served.compared.processor import processor_seconds
from tests.benchmarks.served.compared.rows import FIRST, HELLO, REPEAT, STORED, Row, Taken
from tests.benchmarks.served.compared.sides import Side
from tests.benchmarks.served.compared.statements import Count
from tests.benchmarks.served.readers import Ask, Readers, Visit
from tests.benchmarks.served.serving import Running

if TYPE_CHECKING:
    from tests.databases.cluster import Cluster

LEAD_SECONDS = 0.1
"""How long clients have to connect: they run already."""
MOST_PER_SECOND = {HELLO: 6000, REPEAT: 3000, STORED: 3000, FIRST: 1500}
"""How many requests are prepared for each second of a piece."""
UNTIMED_SECONDS = 60.0


@dataclass(frozen=True)
class Entrant:
    """Hold one checkout on one database: what is asked of it, and where it is served."""

    side: Side
    database: str
    cluster: "Cluster | None"
    statements: dict[str, float]
    servers: Sequence[Running] = ()


@dataclass(frozen=True)
class Contest:
    """Hold the clients and hello-world, with all of its pieces by number of clients."""

    pool: Executor
    plain: Running
    rounds: int
    seconds: float
    totals: dict[int, Taken] = field(default_factory=lambda: defaultdict(Taken))

    def rows(
        self, request: str, clients: int, quantum: float, entrants: Sequence[Entrant]
    ) -> list[Row]:
        """Return one row for each entrant, all of them measured in turns."""
        plain, own = Taken(), [Taken() for _ in entrants]
        for turn in range(self.rounds):
            for place in range(len(own) + 1):
                entrant = (place + turn) % (len(own) + 1) - 1
                if entrant < 0:
                    self._plain_piece(clients, plain, self.totals[clients])
                else:
                    pieces = self.rounds - turn
                    self._piece(entrants[entrant], request, clients, pieces, own[entrant])
        return [
            Row(
                *(request, clients, taken, plain, entrant.database, quantum),
                tree=entrant.side.home.tree.name,
                masters=len(entrant.servers),
                statements=entrant.statements[request],
            )
            for entrant, taken in zip(entrants, own, strict=True)
        ]

    def plain_rows(self) -> list[Row]:
        """Return one row for hello-world at each number of clients, of all its pieces."""
        return [Row(HELLO, clients, taken) for clients, taken in sorted(self.totals.items())]

    def begin(self, clients: int) -> None:
        """Let every client start, before anything is timed."""
        asks = [[Ask("GET", hello.PATH)] * 20] * clients
        readers = Readers(self.pool, [self.plain.port], _nobody(clients))
        _check_plain(readers.ask(asks, UNTIMED_SECONDS, 1.0))

    def warm(self, entrant: Entrant, clients: int) -> None:
        """Let every worker import and open everything before the clock runs."""
        side = entrant.side
        readers = self._readers(entrant.servers, side)
        side.warm(readers.ask([side.anchors] * clients, UNTIMED_SECONDS, LEAD_SECONDS))

    def counted(self, side: Side, server: Running, count: Count, times: int) -> dict[str, float]:
        """Return the statements that one request of each kind takes; nothing is timed."""
        readers = self._readers([server], side)
        side.warm(readers.ask([side.anchors] * 2, UNTIMED_SECONDS))
        each = {}
        # What is asked for as stored is what the other one of two readers drew.
        for request, clients in ((FIRST, 1), (REPEAT, 1), (STORED, 2)):
            asks = side.asks(request, clients, times * clients)
            before = count()
            visits = readers.ask(asks, UNTIMED_SECONDS)
            each[request] = (count() - before) / sum(len(visit.heard) for visit in visits)
            side.take(request, asks, visits)
        side.draw_anew()
        return each

    def _piece(
        self, entrant: Entrant, request: str, clients: int, pieces: int, taken: Taken
    ) -> None:
        side, most = entrant.side, round(MOST_PER_SECOND[request] * self.seconds)
        asks = side.asks(request, clients, most, pieces)
        first = [server.process for server in entrant.servers]
        database = [entrant.cluster.process.pid] if entrant.cluster else []
        before = processor_seconds(*first), processor_seconds(*database)
        visits = self._readers(entrant.servers, side).ask(asks, self.seconds, LEAD_SECONDS)
        after = processor_seconds(*first), processor_seconds(*database)
        taken.add(visits, after[0] - before[0], after[1] - before[1])
        side.take(request, asks, visits)

    def _plain_piece(self, clients: int, *taken: Taken) -> None:
        each = -(-round(MOST_PER_SECOND[HELLO] * self.seconds) // clients)
        asks = [[Ask("GET", hello.PATH)] * each] * clients
        readers = Readers(self.pool, [self.plain.port], _nobody(clients))
        before = processor_seconds(self.plain.process)
        visits = readers.ask(asks, self.seconds, LEAD_SECONDS)
        server = processor_seconds(self.plain.process) - before
        _check_plain(visits)
        for sum_of in taken:
            sum_of.add(visits, server)

    def _readers(self, servers: Sequence[Running], side: Side) -> Readers:
        return Readers(self.pool, [server.port for server in servers], side.home.tokens)


def _nobody(clients: int) -> list[str]:
    """Return tokens of equal length to those that Penstock is sent; nobody reads them."""
    return ["pst_" + "0" * 61] * clients


def _check_plain(visits: Sequence[Visit]) -> None:
    """Raise ``AssertionError`` unless every answer is the greeting."""
    expected = hello.BODY.encode()
    assert all(
        (heard.status, heard.body) == (200, expected) for visit in visits for heard in visit.heard
    ), "hello-world was answered with something else"
