"""Run ``penstock work``: a process that runs jobs from the queue on PostgreSQL."""

import ctypes
import os
import sys
import threading

import click

from penstock.cli.home.serving import OWNERS
from penstock.cli.operator import Operator
from penstock.cli.options import option


@click.command()
@option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=1,
    help="Number of jobs to run at once [default: 1].",
)
@option("--once", is_flag=True, help="End when no job waits.")
@click.pass_obj
def work(operator: Operator, concurrency: int, once: bool) -> None:
    """Run registrations, exports and other long jobs from the queue, until stopped.

    SIGTERM lets running jobs finish; a second one ends the process at once. Whatever a worker that
    is killed was doing, another takes over within a minute, and nothing is charged or drawn twice.
    For PostgreSQL; on SQLite jobs run inside `penstock serve`.
    """
    from penstock.http import access_log
    from penstock.services.jobs import long_draws, registrations, worker
    from penstock.services.jobs.runner import Runner
    from penstock.services.operations.home import open_server
    from penstock.services.schedules import occurrences
    from penstock.services.webhook import looking as webhook
    from penstock.tracing.sending import tracing_of
    from penstock.tracing.traced_jobs import traced_kinds
    from penstock.tracing.traced_steps import traced
    from penstock.web.views.analyst.own_jobs import FOR_WORKERS

    settings = operator.settings.model_copy(update={"migration_database_url": ""})
    _protect()
    server = open_server(settings)
    worker.require_possible(server)
    access_log.configure(settings.log_level)
    runner = Runner(server, failed=access_log.failed)
    kinds = {
        **FOR_WORKERS,
        **registrations.FOR_WORKERS,
        **long_draws.FOR_WORKERS,
        **occurrences.FOR_WORKERS,
    }
    tracing = tracing_of(settings)
    ended = threading.Event()
    if not once:
        looking = (server, runner, access_log.failed, ended)
        threading.Thread(
            target=occurrences.look_on, args=looking, name="schedules", daemon=True
        ).start()
        if settings.webhook_url:
            sending = (server, access_log.failed, ended)
            threading.Thread(
                target=webhook.look_on, args=sending, name="webhook", daemon=True
            ).start()
    if tracing is None:
        worker.serve(server, kinds, runner, concurrency=concurrency, once=once)
    else:
        watched, within = traced(server, tracing), traced_kinds(kinds, tracing)
        try:
            worker.serve(watched, within, runner, concurrency=concurrency, once=once)
        finally:
            tracing.close()
    ended.set()


def _protect() -> None:
    """Take the database's owner out of the process, and keep its memory from other programs.

    Keys and exact values pass through it, as through a server's worker.
    """
    for name in OWNERS:
        os.environ.pop(name, None)
    if sys.platform == "linux":
        dumpable = 4  # PR_SET_DUMPABLE of prctl(2)
        ctypes.CDLL(None).prctl(dumpable, 0)
