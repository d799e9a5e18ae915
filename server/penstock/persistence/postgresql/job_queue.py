"""Read and change the queue of jobs, which workers of the library procrastinate serve.

Its tables are in a schema of their own, with no more about a job than its public number: neither
what is requested, nor by whom.  A reader of them learns how many jobs there are, and when.  What is
written here is part of the caller's transaction, so that a job and its place in the queue are
committed together.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, text

SCHEMA: Final = "penstock_queue"
QUEUE: Final = "jobs"
TASK: Final = "penstock.job"
ARGUMENT: Final = "piece"
LIBRARY: Final = "3.10"
"""The version of procrastinate whose tables the migrations make."""

ALIVE_SECONDS: Final = 20.0
"""The seconds after its last heartbeat for which a worker counts as alive."""

_ADD = text(
    f"""
SELECT {SCHEMA}.procrastinate_defer_jobs_v1(ARRAY[
         ROW('{QUEUE}', '{TASK}', 0, NULL, CAST(:piece AS text), jsonb_build_object('{ARGUMENT}',
             CAST(:piece AS text)), NULL)::{SCHEMA}.procrastinate_job_to_defer_v1])
 WHERE NOT EXISTS (SELECT 1 FROM {SCHEMA}.procrastinate_jobs
                    WHERE queueing_lock = :piece AND status = 'todo')
"""  # noqa: S608 - constants of this module
)
_ABANDONED = text(
    f"""
SELECT job.id, job.args ->> '{ARGUMENT}' AS piece
  FROM {SCHEMA}.procrastinate_jobs AS job
 WHERE job.status = 'doing'
   AND NOT EXISTS (SELECT 1 FROM {SCHEMA}.procrastinate_workers AS worker
                    WHERE worker.id = job.worker_id
                      AND worker.last_heartbeat >= now() - make_interval(secs => :seconds))
 ORDER BY job.id
   FOR UPDATE OF job SKIP LOCKED
"""  # noqa: S608 - as above
)
_PIECES = text(
    f"SELECT args ->> '{ARGUMENT}' FROM {SCHEMA}.procrastinate_jobs"  # noqa: S608 - as above
    " WHERE status IN ('todo', 'doing')"
)
_RETRY = text(f"SELECT {SCHEMA}.procrastinate_retry_job_v2(:id, NULL, NULL, NULL, NULL)")
_DROP = text(f"SELECT {SCHEMA}.procrastinate_finish_job_v1(:id, 'succeeded', TRUE)")
_STATE = text(
    f"""
SELECT (SELECT count(*) FROM {SCHEMA}.procrastinate_workers
         WHERE last_heartbeat >= now() - make_interval(secs => :seconds)) AS workers,
       count(*) FILTER (WHERE job.status = 'todo') AS waiting,
       count(*) FILTER (WHERE job.status = 'doing') AS taken,
       min(event.at) FILTER (WHERE job.status = 'todo') AS oldest
  FROM {SCHEMA}.procrastinate_jobs AS job
  LEFT JOIN {SCHEMA}.procrastinate_events AS event
    ON event.job_id = job.id AND event.type = 'deferred'
 WHERE job.status IN ('todo', 'doing')
"""  # noqa: S608 - as above
).bindparams(bindparam("seconds", ALIVE_SECONDS))
_TABLES = ("procrastinate_jobs", "procrastinate_events", "procrastinate_workers")


@dataclass(frozen=True)
class QueueState:
    """Hold how many ``workers`` are alive, and how many jobs are ``waiting`` or ``taken``.

    ``oldest`` is the time since when the oldest job waits, None if none does.
    """

    workers: int
    waiting: int
    taken: int
    oldest: datetime | None


def add(connection: Connection, piece: str) -> None:
    """Put a job at the end of the queue, unless it waits there already."""
    connection.execute(_ADD, {"piece": piece})


def abandoned(connection: Connection, seconds: float) -> list[tuple[int, str]]:
    """Return the places in the queue whose worker sent no heartbeat for so long, and lock them.

    Each is its number in the queue, and the job's own.
    """
    rows = connection.execute(_ABANDONED, {"seconds": seconds}).all()
    return [(row.id, row.piece) for row in rows]


def give_back(connection: Connection, number: int) -> None:
    """Let another worker take a place that was abandoned."""
    connection.execute(_RETRY, {"id": number})


def drop(connection: Connection, number: int) -> None:
    """Remove a place from the queue."""
    connection.execute(_DROP, {"id": number})


def pieces(connection: Connection) -> set[str]:
    """Return the numbers of all jobs that wait or were taken."""
    return set(connection.execute(_PIECES).scalars().all())


def state(connection: Connection) -> QueueState:
    """Return the workers that are alive, and what waits for them."""
    row = connection.execute(_STATE).one()
    return QueueState(row.workers, row.waiting, row.taken, row.oldest)


def entitle(connection: Connection, grantee: str) -> None:
    """Grant the quoted role ``grantee`` what a worker and a server need of the queue."""
    connection.exec_driver_sql(f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM {grantee}")
    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {grantee}")
    for table in _TABLES:
        connection.exec_driver_sql(
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {SCHEMA}.{table} TO {grantee}"
        )
        connection.exec_driver_sql(f"GRANT USAGE ON SEQUENCE {SCHEMA}.{table}_id_seq TO {grantee}")
    # A deleted job is taken out of the library's own timetable, which is empty here.
    connection.exec_driver_sql(
        f"GRANT SELECT, UPDATE ON {SCHEMA}.procrastinate_periodic_defers TO {grantee}"
    )
