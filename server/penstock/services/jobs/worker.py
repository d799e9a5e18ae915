"""Be a worker: take jobs from the queue on PostgreSQL and run them, until told to stop.

The library procrastinate keeps the queue: it listens for jobs, runs so many at once, and removes a
job's place only after its outcome is stored.  A worker that is stopped by SIGTERM takes no more
jobs and finishes its own; of one that is killed, or stopped again, others take the jobs over as
soon as their heartbeats are a minute old.
"""

import asyncio
import contextlib
import importlib.metadata
import logging
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import InvalidInput, PenstockError, Unavailable
from penstock.persistence.dialects import dialect_of
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import queue
from penstock.services.jobs.queue import Claim
from penstock.services.jobs.runner import JobFunction, Run, Runner

if TYPE_CHECKING:
    from procrastinate import App
    from psycopg import AsyncConnection

Preparation = Callable[[Server, Principal, str], JobFunction]
"""Return the job of a caller from the fields of its row; raise the errors of the fields."""

Kinds = Mapping[str, Preparation]
"""What this version can run, by kind of job."""


@dataclass(frozen=True)
class Rhythm:
    """Hold the seconds between heartbeats, between sweeps, and of silence of a dead worker."""

    beat: float = 5.0
    sweep: float = 5.0
    dead: float = queue.DEAD_SECONDS


RHYTHM = Rhythm()
RETRY_SECONDS = 10


class _NotStoredError(Exception):
    """Say that a job's outcome could not be stored, or its row not be read."""


def require_possible(server: Server) -> None:
    """Raise ``InvalidInput`` on SQLite, ``Unavailable`` without the library of this version."""
    if server.database.one_writer:
        raise InvalidInput(
            "This home's database is SQLite, where jobs run inside `penstock serve`: there is no"
            " queue, and nothing for a worker to do. Workers are for PostgreSQL"
            " (PENSTOCK_DATABASE_URL)."
        )
    from penstock.persistence.postgresql.job_queue import LIBRARY

    try:
        installed = importlib.metadata.version("procrastinate")
    except importlib.metadata.PackageNotFoundError:
        installed = ""
    if not installed.startswith(f"{LIBRARY}."):
        present = f"procrastinate {installed}" if installed else "no procrastinate"
        raise Unavailable(
            f"The queue's tables are those of procrastinate {LIBRARY}, and {present} is installed:"
            " run `pip install 'penstock[postgres]'`."
        )


def serve(
    server: Server,
    kinds: Kinds,
    runner: Runner,
    *,
    concurrency: int = 1,
    once: bool = False,
    rhythm: Rhythm = RHYTHM,
) -> None:
    """Run jobs of ``kinds`` until SIGTERM or SIGINT; with ``once``, until none waits.

    Raises as ``require_possible`` does.
    """
    require_possible(server)
    # Its messages name jobs at each start and end; its warnings are enough.
    logging.getLogger("procrastinate").setLevel(logging.WARNING)

    def work(piece: str) -> None:
        try:
            stored = runner.work_on(piece, lambda claim, run: _done(server, kinds, claim, run))
        except PenstockError:
            stored = False  # the database is away
        if not stored:
            raise _NotStoredError

    asyncio.run(_serve(server, _app(server, work), concurrency, once=once, rhythm=rhythm))


def _done(server: Server, kinds: Kinds, claim: Claim, run: Run) -> str:
    if claim.kind not in kinds:
        raise Unavailable("The worker's version has no such kind of job; upgrade it.")
    return kinds[claim.kind](server, claim.principal, claim.fields)(run)


async def _serve(
    server: Server, app: "App", concurrency: int, *, once: bool, rhythm: Rhythm
) -> None:
    loop = asyncio.get_running_loop()
    # One thread for each job, and one for sweeps.
    loop.set_default_executor(ThreadPoolExecutor(concurrency + 1))
    async with app.open_async():
        await asyncio.to_thread(queue.sweep, server, rhythm.dead)
        sweeper = asyncio.create_task(_sweep_on(server, rhythm))
        working = asyncio.create_task(
            app.run_worker_async(
                queues=[_queue_name()],
                concurrency=concurrency,
                wait=not once,
                delete_jobs="always",
                update_heartbeat_interval=rhythm.beat,
                stalled_worker_timeout=rhythm.dead,
                install_signal_handlers=False,
            )
        )
        stop = _Stop(working)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)
        try:
            await working
        except asyncio.CancelledError:
            if not stop.requested:
                raise
        else:
            if not once:
                raise Unavailable(
                    "The worker lost its connection to the queue and has ended; its jobs are"
                    " stored. Start it again; a service manager does that by itself."
                )
        finally:
            sweeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sweeper


class _Stop:
    """Stop a worker at the first signal, and the process at once at the second."""

    def __init__(self, working: "asyncio.Task[None]") -> None:
        self._working = working
        self.requested = False

    def __call__(self) -> None:
        if self.requested:
            os._exit(1)  # as if killed: others take its jobs over
        self.requested = True
        self._working.cancel()  # it finishes its jobs, and takes no more


async def _sweep_on(server: Server, rhythm: Rhythm) -> None:
    while True:
        await asyncio.sleep(rhythm.sweep)
        with contextlib.suppress(PenstockError):  # the database may be back at the next one
            await asyncio.to_thread(queue.sweep, server, rhythm.dead)


def _queue_name() -> str:
    from penstock.persistence.postgresql.job_queue import QUEUE

    return QUEUE


def _app(server: Server, work: Callable[[str], None]) -> "App":
    """Return the library's application: one task, on connections to the queue's schema."""
    from procrastinate import App, PsycopgConnector, RetryStrategy

    from penstock.persistence.postgresql import job_queue

    async def settle(connection: "AsyncConnection") -> None:
        await connection.execute(f"SET search_path TO {job_queue.SCHEMA}")  # a constant
        await connection.commit()

    options = dict(dialect_of(server.settings.resolved_database_url).options)
    connector = PsycopgConnector(kwargs=options, configure=settle, min_size=1, max_size=4)
    app = App(connector=connector)
    retry = RetryStrategy(wait=RETRY_SECONDS)
    app.task(name=job_queue.TASK, queue=job_queue.QUEUE, retry=retry)(work)
    return app
