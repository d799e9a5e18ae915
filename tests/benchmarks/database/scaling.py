"""Measure what grows with hosts and rows, in processor time, for ``deploy/SCALING.md``.

Hosts are processes that each open the home for themselves and share one PostgreSQL, as servers on
several machines do; on this one they share the processors too.  So what a release takes of a host's
and of the database's processors is measured, and not how many fit into a second here.
"""

import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

from sqlmodel import col, func, select
from tests.benchmarks.database import registration
from tests.benchmarks.database.crowd import write_crowd
from tests.benchmarks.database.world import World, fresh_world, levels_between
from tests.benchmarks.figures import Figure
from tests.benchmarks.served.compared.processor import processor_seconds

from penstock.persistence.tables.log import Checkpoint, Leaf
from penstock.services.access.principals import acting_as
from penstock.services.operations import home
from penstock.settings import Settings

VALUES = 256
PER_QUERY = 25
"""Levels that a host's reader asks a query for."""


@dataclass(frozen=True)
class Setting:
    """Hold how many hosts and rows there are, one figure each, and how many queries a host has."""

    hosts: Sequence[int] = (1, 2, 4)
    queries: int = 4
    rows: Sequence[int] = (100_000, 1_000_000)


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Measure first releases by hosts, where PostgreSQL is installed, and registrations by rows."""
    return [*_by_hosts(setting), *_by_rows(setting)]


def _by_hosts(setting: Setting) -> list[Figure]:
    from tests.databases import cluster as postgresql

    programs = postgresql.programs()
    if programs is None:
        return []
    cluster = postgresql.launch(programs)
    try:
        return [figure for hosts in setting.hosts for figure in _hosts(cluster, setting, hosts)]
    finally:
        cluster.remove()


def _hosts(cluster: Any, setting: Setting, hosts: int) -> list[Figure]:
    name = cluster.create()
    urls = {
        "database_url": cluster.url(name),
        "migration_database_url": cluster.url(name, role="penstock_owner"),
    }
    releases = hosts * setting.queries * PER_QUERY
    with fresh_world(**urls) as world:
        for host in range(hosts):
            world.add_analyst(f"analyst-{host}")
            for number in range(setting.queries):
                world.add_query(f"query-{host}-{number}", VALUES)
        before = world.server.database.size()
        world.server.database.close()
        started = processor_seconds(cluster.process.pid)
        served = _serve(world.server.settings, hosts, setting.queries)
        stored = processor_seconds(cluster.process.pid) - started
        leaves, checkpoints = _log(world)
        grown = world.server.database.size() - before
    words = f"{hosts} host{'s' if hosts > 1 else ''}"
    return [
        Figure(f"{words}: a first release, of a host's processors", served / releases * 1e3, "ms"),
        Figure(f"{words}: of the database's processors", stored / releases * 1e3, "ms"),
        Figure(f"{words}: leaves in a batch of the log", leaves / max(1, checkpoints), ""),
        Figure(f"{words}: the database grows, a release", grown / releases / 1e3, "kB"),
    ]


def _log(world: World) -> tuple[int, int]:
    """Return how many leaves and checkpoints were added for releases."""
    with world.server.database.read() as session:
        first, leaves = session.exec(
            select(func.min(col(Leaf.index)), func.count()).where(col(Leaf.kind) == "release")
        ).one()
        checkpoints = session.exec(
            select(func.count()).select_from(Checkpoint).where(col(Checkpoint.size) > first)
        ).one()
    return leaves, checkpoints


def _serve(settings: Settings, hosts: int, queries: int) -> float:
    """Let hosts release at the same time, and return the processor seconds that they took."""
    context = multiprocessing.get_context("fork")
    ready = context.Barrier(hosts)
    pipes = [context.Pipe(duplex=False) for _ in range(hosts)]
    processes = [
        context.Process(target=_ask, args=(settings, host, queries, ready, pipes[host][1]))
        for host in range(hosts)
    ]
    for process in processes:
        process.start()
    taken = sum(receiving.recv() for receiving, _ in pipes)
    for process in processes:
        process.join()
    return float(taken)


def _ask(settings: Settings, host: int, queries: int, ready: Barrier, sending: Connection) -> None:
    server = home.open_server(settings)
    world, analyst = World(server), acting_as(server, f"analyst-{host}")
    ready.wait()
    begun = time.process_time()
    for number in range(queries):
        for level in levels_between(PER_QUERY):
            assert world.ask(analyst, f"query-{host}-{number}", level=level).first
    sending.send(time.process_time() - begun)


def _by_rows(setting: Setting) -> list[Figure]:
    figures = []
    for rows in setting.rows:
        with fresh_world() as world:
            file = world.home / "data" / "crowd.parquet"
            file.parent.mkdir()
            write_crowd(file, rows)
            registration.register_dataset(world, {"engine": "duckdb", "uri": str(file)})
            registration.register(world.server, 1)  # what is imported and made once
            begun = time.process_time()
            registration.register(world.server, 2)
            seconds = time.process_time() - begun
            size = file.stat().st_size
        figures += [
            Figure(f"{rows:,} rows: a registration, processor", seconds * 1e3, "ms"),
            Figure(f"{rows:,} rows: the Parquet file", size / 1e6, "MB"),
        ]
    return figures
