"""Provide the rows of the comparison over HTTP: figures, goals, and the table in Markdown."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.benchmarks.figures import Goal
from tests.benchmarks.served.readers import Visit

FIRST, STORED, REPEAT = "first release", "stored, first time", "repeat"
HELLO = "hello-world"

SHARES = {
    (FIRST, "SQLite"): Goal(1 / 8),
    (FIRST, "PostgreSQL"): Goal(1 / 10),
    (REPEAT, "SQLite"): Goal(1 / 3),
    (REPEAT, "PostgreSQL"): Goal(1 / 3),
}
"""Shares of hello-world's rate, with the quantum off."""

TIMES = {FIRST: Goal(4, at_most=True), REPEAT: Goal(1.5, at_most=True)}
"""Milliseconds of processor time of the server's processes, with the quantum off."""

CROWD = 16
"""The number of clients at which the slowest answers have a goal."""
TAIL = Goal(10, at_most=True)
"""The 99th percentile over the median."""
SLOWEST = Goal(1000, at_most=True)
"""The 99th percentile in milliseconds, of first releases by two masters."""

HEADS = (
    *("database", "quantum", "request", "clients", "tree", "per second", "of hello-world"),
    *("p50, ms", "p99, ms", "server, ms", "database, ms", "statements", "goals"),
)
_TEXTS = {"database", "request", "tree", "goals"}


@dataclass
class Taken:
    """Add up what was answered in the pieces of time of one row, and what that cost.

    ``server`` and ``database`` are seconds of processor time.
    """

    answers: int = 0
    span: float = 0.0
    server: float = 0.0
    database: float = 0.0
    seconds: list[float] = field(default_factory=list)

    def add(self, visits: Sequence[Visit], server: float, database: float = 0.0) -> None:
        """Add one piece, from the first ask to the last answer."""
        self.answers += sum(len(visit.heard) for visit in visits)
        self.span += max(visit.ended for visit in visits) - min(visit.begun for visit in visits)
        self.seconds += [heard.seconds for visit in visits for heard in visit.heard]
        self.server += server
        self.database += database

    @property
    def rate(self) -> float:
        """Return answers a second."""
        return self.answers / self.span

    def percentile(self, percent: int) -> float:
        """Return the milliseconds that this share of the answers took at most."""
        if len(self.seconds) == 1:
            return self.seconds[0] * 1e3
        return statistics.quantiles(self.seconds, n=100, method="inclusive")[percent - 1] * 1e3


@dataclass(frozen=True)
class Row:
    """Hold one row, and the hello-world that took turns with it."""

    request: str
    clients: int
    taken: Taken
    hello: Taken | None = None
    database: str = ""
    quantum: float = 0.0
    tree: str = ""
    masters: int = 1
    statements: float | None = None

    def goals(self) -> list[str]:
        """Return each goal with whether it is reached."""
        if self.hello is None or self.quantum:
            return []
        tail = self.taken.percentile(99)
        due: list[tuple[str, Goal | None, float]] = []
        if self.masters == 1:
            share = self.taken.rate / self.hello.rate
            due += [("share", SHARES.get((self.request, self.database)), share)]
            due += [("server", TIMES.get(self.request), self._each(self.taken.server))]
        if self.clients == CROWD:
            due += [("p99/p50", TAIL, tail / self.taken.percentile(50))]
        if self.masters > 1:
            due += [("p99", SLOWEST, tail)]
        return [
            f"{name} {'<=' if goal.at_most else '>='} {goal.bound:.4g}:"
            f" {'yes' if goal.reached(value) else '**NO**'}"
            for name, goal, value in due
            if goal
        ]

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        of_hello = self.hello
        quantum = f"{self.quantum * 1e3:g} ms" if self.quantum else "off"
        request = self.request + (f", {self.masters} masters" if self.masters > 1 else "")
        with_database = self.database == "PostgreSQL"
        return (
            self.database,
            quantum if of_hello else "",
            request,
            str(self.clients),
            self.tree,
            f"{self.taken.rate:.0f}",
            f"{self.taken.rate / of_hello.rate:.3f}" if of_hello else "",
            f"{self.taken.percentile(50):.1f}",
            f"{self.taken.percentile(99):.1f}",
            f"{self._each(self.taken.server):.2f}",
            f"{self._each(self.taken.database):.2f}" if with_database else "",
            "" if self.statements is None else f"{self.statements:.1f}",
            "; ".join(self.goals()),
        )

    def _each(self, seconds: float) -> float:
        return seconds / self.taken.answers * 1e3


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a table."""
    rules = ["---" if head in _TEXTS else "---:" for head in HEADS]
    lines = [HEADS, rules, *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
