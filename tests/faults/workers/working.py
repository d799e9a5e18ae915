"""Define workers that take jobs from the queue, and one that acknowledges them too early."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from sqlmodel import col, select
from tests.faults.stage import HANG, opened, settings_of, vector_query

from penstock.persistence.postgresql.job_queue import QueueState
from penstock.persistence.tables import Charge, Query, Release, User
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import jobs, queue, registrations, worker
from penstock.services.jobs.jobs import JobRequest, WorkView
from penstock.services.jobs.queue import Claim
from penstock.services.jobs.runner import JobFunction, Run, Runner
from penstock.services.operations.home import open_server, utc_now
from penstock.services.queries import registration

KIND = "register"
ADMIN = "ada"
AHEAD = timedelta(minutes=2)
"""By how much the clock of the worker that follows is ahead: more than a heartbeat may be old."""


class Hasty(Runner):
    """Acknowledge a job as soon as it is taken, and do it afterwards."""

    def work_on(self, piece: str, act: Callable[[Claim, Run], str]) -> bool:
        threading.Thread(target=super().work_on, args=(piece, act), daemon=True).start()
        return True


def admin(server: Server) -> Principal:
    """Return the admin whose jobs they are."""
    with server.database.read() as session:
        row = session.exec(select(User).where(col(User.name) == ADMIN)).one()
    return Principal(ADMIN, row.id, frozenset({"admin"}))


def handed_over(server: Server, name: str) -> str:
    """Put the registration of a vector into the queue, and return its number."""
    request = JobRequest(KIND, f"key-{name}", b"x" * 32, fields=name, subject=name)
    begun = jobs.start_job(server, admin(server), request, "test", handed_over=queue.hand_over)
    return begun.piece.id


def prepared(server: Server, principal: Principal, fields: str) -> JobFunction:
    """Return the job that registers the vector of that name."""
    return registrations.of_query(server, principal, vector_query(fields, "gaussian"))


def hang_after_the_charge(folder: Path, reached: Path, runner: type[Runner]) -> None:
    """Be a worker that never gets from a charge to the anchor."""

    def hang(*_: object) -> None:
        reached.write_text("charged\n")
        threading.Event().wait(HANG)

    registration._anchor = hang  # type: ignore[assignment]  # it is to hang there
    with opened(folder) as server:
        worker.serve(server, {KIND: prepared}, runner(server), rhythm=worker.Rhythm(beat=0.2))


def wait_in_the_middle(folder: Path, reached: Path, go: Path) -> None:
    """Be a worker whose job waits until it is let go, and that takes others after it."""

    def waiting(server: Server, principal: Principal, fields: str) -> JobFunction:
        def act(run: Run) -> str:
            reached.write_text("begun\n")
            while not go.exists():
                time.sleep(0.01)
            return prepared(server, principal, fields)(run)

        return act

    with opened(folder) as server:
        worker.serve(server, {KIND: waiting}, Runner(server), rhythm=worker.Rhythm(beat=0.2))


def take_over(folder: Path) -> None:
    """Be a worker that does what waits, two minutes later, and ends."""
    server = open_server(settings_of(folder), clock=lambda: utc_now() + AHEAD)
    rhythm = worker.Rhythm(dead=0)
    worker.serve(server, {KIND: prepared}, Runner(server), once=True, rhythm=rhythm)
    server.database.close()


def view(server: Server, piece: str) -> WorkView:
    """Return a job as its owner sees it."""
    return jobs.show(server, admin(server), piece)


def waiting(server: Server) -> QueueState:
    """Return the state of the queue."""
    state = queue.state(server)
    assert state is not None
    return state


def stored(server: Server) -> tuple[int, int, int]:
    """Return how many queries, charges and releases there are."""
    with server.database.read() as session:
        found = [len(session.exec(select(table)).all()) for table in (Query, Charge, Release)]
    return found[0], found[1], found[2]
