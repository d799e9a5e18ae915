"""Measure first releases of different queries at the same time, on PostgreSQL.

Each client is a process of its own and asks for its own queries, so that nothing but the log is
shared.  *Sequenced*: leaves are stored without a place and put into the tree in batches.
*Chained*: each release puts its own leaf into the tree, in its own transaction, under the one
lock on the end of the log.
"""

import multiprocessing
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from typing import Any
from unittest.mock import patch

from tests.benchmarks.database.world import World, fresh_world, levels_between
from tests.benchmarks.figures import Figure

from penstock.persistence import Database
from penstock.services.access.principals import acting_as
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.settings import Settings
from penstock.transparency_log.sequencer import Sequencer

VALUES = 256
PER_QUERY = 25
"""Levels that each client asks a query for."""


@dataclass(frozen=True)
class Setting:
    """Hold how many clients there are, one figure each, and how many releases each asks for."""

    clients: Sequence[int] = (1, 4, 16)
    queries: int = 4


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Measure first releases a second, sequenced and chained.

    There are none where PostgreSQL is not installed.
    """
    from tests.databases import cluster as postgresql

    programs = postgresql.programs()
    if programs is None:
        return []
    cluster = postgresql.launch(programs)
    figures = []
    try:
        for clients in setting.clients:
            for name, chained in (("sequenced", False), ("chained", True)):
                rate = _rate(cluster, setting, clients, chained=chained)
                plural = "s" if clients > 1 else ""
                figures.append(Figure(f"{clients} client{plural}, {name}", rate, "/s"))
    finally:
        cluster.remove()
    return figures


def _rate(cluster: Any, setting: Setting, clients: int, *, chained: bool) -> float:
    name = cluster.create()
    urls = {
        "database_url": cluster.url(name),
        "migration_database_url": cluster.url(name, role="penstock_owner"),
    }
    with fresh_world(**urls) as world:
        for client in range(clients):
            world.add_analyst(f"analyst-{client}")
            for number in range(setting.queries):
                world.add_query(_query(client, number), VALUES)
        settings = world.server.settings
        world.server.database.close()
        context = multiprocessing.get_context("fork")
        ready = context.Barrier(clients + 1)
        processes = [
            context.Process(target=_ask, args=(settings, client, setting.queries, chained, ready))
            for client in range(clients)
        ]
        for process in processes:
            process.start()
        ready.wait()
        begun = time.perf_counter()
        for process in processes:
            process.join()
        lasted = time.perf_counter() - begun
        failed = [process.exitcode for process in processes if process.exitcode]
        if failed:
            raise RuntimeError(f"{len(failed)} clients failed")
    return clients * setting.queries * PER_QUERY / lasted


def _ask(settings: Settings, client: int, queries: int, chained: bool, ready: Barrier) -> None:
    server = home.open_server(settings)
    world = World(server)
    analyst = acting_as(server, f"analyst-{client}")
    with chain(server) if chained else _as_it_is():
        ready.wait()
        for number in range(queries):
            for level in levels_between(PER_QUERY):
                answer = world.ask(analyst, _query(client, number), level=level)
                assert answer.first
                assert answer.view.receipt.checkpoint


@contextmanager
def chain(server: Server) -> Any:
    """Let every transaction of this process put its leaves into the tree by itself."""
    product = Sequencer.ending

    def ending(self: Sequencer, session: Any) -> None:
        with patch.object(Database, "one_writer", new=True):
            product(self, session)

    with patch.object(Sequencer, "ending", new=ending):
        yield


@contextmanager
def _as_it_is() -> Any:
    yield


def _query(client: int, number: int) -> str:
    return f"query-{client}-{number}"
