"""Hand jobs to workers through the queue on PostgreSQL, and take those of dead workers back.

The queue only decides who runs a job.  What was requested, its state and its heartbeats are in the
job's authenticated row: a worker that finds a job in the queue claims that row first, and a place
that comes twice, late, or from somebody who writes into the queue's tables, claims nothing that
is done or that another worker runs.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlmodel import Session, col, select

from penstock.errors import DatabaseUnavailable
from penstock.persistence.tables.jobs import Work
from penstock.persistence.tables.people import User
from penstock.services.access.principals import Principal, roles_of
from penstock.services.context import Server
from penstock.services.jobs.jobs import WAITING, is_silent

if TYPE_CHECKING:
    from penstock.persistence.postgresql.job_queue import QueueState

DEAD_SECONDS = 30.0
"""The seconds without a heartbeat after which what a worker took is looked at."""


@dataclass(frozen=True)
class Claim:
    """Hold a job that this process has to run now, in its ``attempt``."""

    piece: str
    attempt: int
    kind: str
    fields: str
    principal: Principal


def state(server: Server) -> "QueueState | None":
    """Return the state of the queue; None on SQLite, where there is none.

    Raises ``DatabaseUnavailable``.
    """
    if server.database.one_writer:
        return None
    from penstock.persistence.postgresql import job_queue

    with server.database.read() as session:
        return job_queue.state(session.connection())


def in_words(state: "QueueState", now: datetime) -> str:
    """Return the state of the queue as ``penstock status`` shows it."""
    workers = "no worker, so jobs run in the server" if not state.workers else "1 worker"
    if state.workers > 1:
        workers = f"{state.workers} workers"
    waiting = f"{state.waiting} job{'' if state.waiting == 1 else 's'} waiting"
    if state.oldest is not None:
        waiting += f", the oldest for {max(0, round((now - state.oldest).total_seconds()))} s"
    return f"{workers}; {waiting}, {state.taken} taken"


def is_served(server: Server) -> bool:
    """Return True if a worker is alive; False if there is none, or if that cannot be checked."""
    try:
        present = state(server)
    except DatabaseUnavailable:
        return False
    return present is not None and present.workers > 0


def hand_over(session: Session, piece: str) -> None:
    """Put a job into the queue, in the transaction that stores its row."""
    from penstock.persistence.postgresql import job_queue

    job_queue.add(session.connection(), piece)


def claim(server: Server, piece: str, host: str) -> Claim | None:
    """Take a job from the queue for this process; None if nothing is left to do, or others do it.

    A job whose worker fell silent is claimed for another attempt: what the former one still reports
    is ignored.  The caller acts for the person with the roles that they have now.
    """
    with server.database.write_own_rows() as session:
        row = _locked(session, piece)
        now = server.clock()
        if row is None or row.state != "running" or row.expires_at <= now:
            return None
        if row.stage != WAITING:
            if not is_silent(row, now):
                return None
            row.attempt += 1
        row.stage, row.percent, row.host, row.beat_at = "beginning", None, host, now
        session.add(row)
        user = session.get(User, row.user_id)
        roles = roles_of(user) if user is not None and user.is_active else []
        name = "" if user is None else user.name
        who = Principal(name, row.user_id, frozenset(roles))
        return Claim(row.public_id, row.attempt, row.kind, row.fields, who)


def sweep(server: Server, dead_seconds: float = DEAD_SECONDS) -> None:
    """Give back what dead workers took, and keep waiting jobs from counting as interrupted.

    Every worker does it every few seconds.  While no worker is alive nobody does, so that a job
    that nobody will run counts as interrupted after a minute, and can be started again.
    """
    from penstock.persistence.postgresql import job_queue

    with server.database.write_own_rows() as session:
        connection, now = session.connection(), server.clock()
        for number, piece in job_queue.abandoned(connection, dead_seconds):
            row = _locked(session, piece)
            if row is None or row.state != "running" or row.stage == WAITING:
                # It is over; or it waits again, and gets another place below if it has none.
                job_queue.drop(connection, number)
            elif is_silent(row, now):
                job_queue.give_back(connection, number)
        present = job_queue.pieces(connection)
        for row in _waiting(session):
            row.beat_at = now
            session.add(row)
            if row.public_id not in present:
                job_queue.add(connection, row.public_id)


def _locked(session: Session, piece: str) -> Work | None:
    return session.exec(
        select(Work).where(col(Work.public_id) == piece).with_for_update()
    ).one_or_none()


def _waiting(session: Session) -> list[Work]:
    """Return the rows that wait for a worker, locked, except those that others hold."""
    rows = select(Work).where(col(Work.state) == "running", col(Work.stage) == WAITING)
    return list(session.exec(rows.with_for_update(skip_locked=True)))
