"""Measure releases and repeats over HTTP in turns with a Flask application that does nothing.

Clients are processes of their own, the same for every server.  Each row is measured in pieces of
less than a second; hello-world and every checkout that is compared take turns at them, so that
other load slows all of them alike.  Values are checked after the clock has stopped: readers must
have been given one vector at each level of a query, and a first release must be one.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.benchmarks.figures import Print
from tests.benchmarks.served.compared import hello
from tests.benchmarks.served.compared.contest import Contest, Entrant
from tests.benchmarks.served.compared.populated import Tree, Variables, created
from tests.benchmarks.served.compared.processor import busy_seconds, processor_seconds
from tests.benchmarks.served.compared.rows import CROWD, FIRST, HELLO, REPEAT, STORED, Row, markdown
from tests.benchmarks.served.compared.sides import Side
from tests.benchmarks.served.compared.statements import Count, hooked, in_file, logged
from tests.benchmarks.served.readers import clients

if TYPE_CHECKING:
    from tests.databases.cluster import Cluster

HERE = Tree("this")
STORED_CLIENTS = 8


@dataclass(frozen=True)
class Setting:
    """Hold what is served and asked: each row in ``rounds`` pieces of ``seconds``.

    ``counted`` requests of each kind are those whose statements are counted.
    """

    values: int = 256
    workers: int = 2
    quanta: tuple[float, ...] = (0.0, 0.025)
    clients: tuple[int, ...] = (1, STORED_CLIENTS, CROWD)
    queries: int = 20
    seconds: float = 0.6
    rounds: int = 4
    counted: int = 20

    @property
    def readers(self) -> int:
        """Return how many people read; what is stored takes two."""
        return max(*self.clients, 2)


QUICK = Setting(quanta=(0.0,), queries=5, seconds=0.2, rounds=2, counted=5)


def report(
    setting: Setting = Setting(), trees: Sequence[Tree] = (HERE,), say: Print = print
) -> str:
    """Return the table of all rows, and how busy the machine was otherwise."""
    begun, busy, own = time.monotonic(), busy_seconds(), processor_seconds(os.getpid())
    rows: list[Row] = []
    try:
        for row in measure(setting, trees, say):
            rows.append(row)  # noqa: PERF402 - what there is when a wrong answer ends the run
    except Exception as error:
        error.add_note(markdown(rows))
        raise
    rows.sort(key=lambda row: row.request != HELLO)
    lasted = time.monotonic() - begun
    others = busy_seconds() - busy - (processor_seconds(os.getpid()) - own)
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return (
        f"{markdown(rows)}\n\nThis took {lasted:.0f} s, with {setting.workers} workers. Other"
        f" programs used {max(0.0, others) / lasted:.2f} of {os.cpu_count()} processors; load"
        f" {load} at the end."
    )


def measure(setting: Setting, trees: Sequence[Tree], say: Print = print) -> Iterator[Row]:
    """Yield the rows of every tree on SQLite and PostgreSQL, and at last those of hello-world."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="penstock-benchmark-")))
        pool = stack.enter_context(clients(setting.readers))
        plain = stack.enter_context(hello.served(folder, setting.workers))
        cluster = stack.enter_context(_cluster(say))
        contest = Contest(pool, plain, setting.rounds, setting.seconds)
        contest.begin(setting.readers)
        for entrants in _entrants(contest, setting, trees, folder, cluster):
            for quantum in setting.quanta:
                yield from _rows(contest, setting, entrants, quantum)
        yield from contest.plain_rows()


def _rows(
    contest: Contest, setting: Setting, entrants: Sequence[Entrant], quantum: float
) -> Iterator[Row]:
    """Yield all kinds of requests, by one master, and then first releases by two on SQLite."""
    with ExitStack() as stack:
        own = [_joined(stack, contest, setting, entrant, quantum) for entrant in entrants]
        for count in setting.clients:
            for entrant in own:
                entrant.side.draw_anew()
            yield from contest.rows(FIRST, count, quantum, own)
            if count == STORED_CLIENTS:
                yield from contest.rows(STORED, count, quantum, own)
            yield from contest.rows(REPEAT, count, quantum, own)
        if all(entrant.cluster is None for entrant in own):
            own = [_joined(stack, contest, setting, entrant, quantum) for entrant in own]
            yield from contest.rows(FIRST, max(setting.clients), quantum, own)


def _joined(
    stack: ExitStack, contest: Contest, setting: Setting, entrant: Entrant, quantum: float
) -> Entrant:
    """Return an entrant with one server more, which is ready and warm."""
    server = stack.enter_context(entrant.side.home.served(setting.workers, quantum))
    contest.warm(replace(entrant, servers=[server]), setting.readers)
    return replace(entrant, servers=[*entrant.servers, server])


def _entrants(
    contest: Contest,
    setting: Setting,
    trees: Sequence[Tree],
    folder: Path,
    cluster: "Cluster | None",
) -> list[list[Entrant]]:
    """Return every tree on each database; their homes are filled at the same time."""
    with ExitStack() as stack:
        grounds = [[_on_sqlite(folder / f"statements-{number}") for number in range(len(trees))]]
        if cluster:
            count = stack.enter_context(logged(cluster))
            grounds.append([_on_postgresql(cluster, count) for _ in trees])
        threads = stack.enter_context(ThreadPoolExecutor())
        entrants = [
            [
                threads.submit(
                    _prepared,
                    contest,
                    setting,
                    tree,
                    folder / f"{ground.database}-{number}",
                    ground,
                )
                for number, (tree, ground) in enumerate(zip(trees, each, strict=True))
            ]
            for each in grounds
        ]
        return [[entrant.result() for entrant in each] for each in entrants]


@dataclass(frozen=True)
class Ground:
    """Hold a database for one home, and how the statements that are sent to it are counted."""

    database: str
    urls: Variables
    variables: Variables
    count: Count
    cluster: "Cluster | None" = None


def _on_sqlite(file: Path) -> Ground:
    return Ground("SQLite", {}, hooked(file), in_file(file))


def _on_postgresql(cluster: "Cluster", count: Callable[[str], Count]) -> Ground:
    name = cluster.create()
    urls = {
        "database_url": cluster.url(name),
        "migration_database_url": cluster.url(name, role="penstock_owner"),
    }
    return Ground("PostgreSQL", urls, {}, count(name), cluster)


def _prepared(
    contest: Contest, setting: Setting, tree: Tree, folder: Path, ground: Ground
) -> Entrant:
    """Return a tree whose home is filled, and whose statements were counted."""
    home = created(tree, folder, ground.urls)
    side = Side(home, setting.queries, setting.values)
    with home.served(1, 0.0, ground.variables) as server:
        home.fill(server, setting.readers, setting.queries, setting.values)
        statements = contest.counted(side, server, ground.count, setting.counted)
    return Entrant(side, ground.database, ground.cluster, statements)


@contextmanager
def _cluster(say: Print) -> Iterator["Cluster | None"]:
    """Yield a server of PostgreSQL where that is installed."""
    from tests.databases import cluster as postgresql

    programs = postgresql.programs()
    if programs is None:
        say("PostgreSQL is not installed: its rows are left out.")
        yield None
        return
    cluster = postgresql.launch(programs)
    try:
        yield cluster
    finally:
        cluster.remove()
