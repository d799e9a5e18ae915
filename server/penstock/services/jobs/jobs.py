"""Keep the state of long jobs, so that people can leave and return.

A row holds a request, its progress and its result; it decides nothing about privacy, and the job
calls the same service as any other caller.  Its key is the form's, so that submitting a form
twice finds the same job.  The worker sends a heartbeat; if that stops, because the worker was
killed, the job counts as interrupted and is started again under the same key.  Nothing is done
twice: registering happens once however often it is requested.

Rows are authenticated, since their fields are submitted again in their owner's name.
"""

import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from sqlmodel import Session, col, delete, select

from penstock.errors import Conflict, InvalidInput, NotFound, PenstockError, described, raised_again
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.jobs import Work
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import idempotency

LIFE = timedelta(days=7)
"""The time for which a job is kept."""

SILENCE = timedelta(minutes=1)
"""The time without a heartbeat after which a job counts as interrupted."""

MOST_PER_PERSON = 3
"""The jobs that one person may have in progress."""

WAITING = "waiting for a worker"
"""The stage of a job that is in the queue, and that no worker has taken yet."""

FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.02, 1.0
"""The seconds between two looks at a job that another process runs: they double."""

MOST_SHOWN = 100
LONGEST_SUBJECT = 64

State = Literal["running", "interrupted", "done", "failed"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class JobRequest:
    """Hold a requested job: ``key`` is the form's own, ``fields`` are its inputs.

    ``request`` is a keyed hash (``idempotency.fingerprint``) of ``kind`` and ``fields``;
    ``subject`` names the job among others of its ``kind``.
    """

    kind: str
    key: str
    request: bytes
    fields: str = ""
    subject: str = ""


@dataclass(frozen=True)
class WorkView:
    """Hold a job as its owner sees it.

    ``percent`` is that of the ``stage``, None if unknown.  ``problem`` is the reason of a refusal,
    ``result`` the name of what the job made.
    """

    id: str
    kind: str
    key: str
    subject: str
    fields: str
    by: str
    state: State
    attempt: int
    stage: str
    percent: int | None
    problem: PenstockError | None
    result: str | None
    host: str
    started_at: datetime
    beat_at: datetime
    finished_at: datetime | None

    @property
    def over(self) -> bool:
        """Return True if nobody works on the job any more."""
        return self.state != "running"


@dataclass(frozen=True)
class JobStart:
    """Hold a job; if it is ``fresh`` the caller has to run it."""

    piece: WorkView
    fresh: bool


def start_job(
    server: Server,
    principal: Principal,
    job_request: JobRequest,
    host: str,
    *,
    room: bool = True,
    handed_over: Callable[[Session, str], None] | None = None,
) -> JobStart:
    """Record a job, or return the one that was begun with this key.

    A refused or interrupted job is begun again with the present request.  With ``handed_over`` a
    worker will run it: that is called with the job's number in the transaction that stores it.
    Raises ``InvalidInput`` for a malformed key or one that came with another request, and
    ``Conflict`` for more jobs at once than one person may have, or if there is no ``room``.
    """
    if not idempotency.is_well_formed(job_request.key):
        raise InvalidInput("This server did not issue the form's key; load the page again.")
    now = server.clock()
    with server.database.write_unwatched() as session:
        session.exec(delete(Work).where(col(Work.expires_at) <= now))
        own = session.exec(select(Work).where(col(Work.user_id) == principal.user_id)).all()
        row = next((job_row for job_row in own if job_row.key == job_request.key), None)
        if row is not None and _state(row, now) in ("running", "done"):
            if not idempotency.is_same(row.request, job_request.request):
                raise InvalidInput(
                    "This form was sent before with other content, and that is"
                    f" {'being worked on' if row.state == 'running' else 'done'}. Open the form"
                    f" again to send another one."
                )
            return JobStart(_view(row, principal, now), fresh=False)
        if not room:
            raise Conflict(
                "The server runs as many jobs as it can. Nothing was started; send this again in a"
                " moment."
            )
        if sum(_state(job_row, now) == "running" for job_row in own) >= MOST_PER_PERSON:
            raise Conflict(
                f"{MOST_PER_PERSON} of your jobs are in progress, which is the most that one person"
                f" may have. Wait until one of them is done, and send this again."
            )
        row = (
            _again(row, job_request, host, now) if row else _new(principal, job_request, host, now)
        )
        if handed_over is not None:
            row.stage = WAITING
        session.add(row)
        session.flush()
        if handed_over is not None:
            handed_over(session, row.public_id)
        return JobStart(_view(row, principal, now), fresh=True)


def beat(server: Server, piece: str, attempt: int, stage: str, percent: int | None) -> None:
    """Record a heartbeat of ``attempt`` and its progress, unless a later attempt took over."""
    with server.database.write_own_rows() as session:
        row = _running(session, piece, attempt)
        if row is not None:
            row.stage, row.percent, row.beat_at = stage, percent, server.clock()
            session.add(row)


def finish(server: Server, piece: str, attempt: int, result: str) -> None:
    """Store the result of a job."""
    _end(server, piece, attempt, "done", result=result)


def fail(server: Server, piece: str, attempt: int, problem: PenstockError) -> None:
    """Store the reason why a job was refused, in the words of the answer to its owner."""
    _end(server, piece, attempt, "failed", problem=json.dumps(described(problem)))


def forget(server: Server, principal: Principal, piece: str) -> None:
    """Delete a job that is over, whose owner was given the result or the refusal at once."""
    with server.database.write_own_rows() as session:
        own = col(Work.user_id) == principal.user_id
        session.exec(
            delete(Work).where(own, col(Work.public_id) == piece, col(Work.state) != "running")
        )


def show(server: Server, principal: Principal, piece: str) -> WorkView:
    """Return one of the caller's own jobs.  Raises ``NotFound``, also for another person's job."""
    now = server.clock()
    with server.database.read() as session:
        row = session.exec(select(Work).where(col(Work.public_id) == piece)).first()
    if row is None or row.user_id != principal.user_id or row.expires_at <= now:
        raise NotFound(
            f"There is no job {piece!r} of yours. Finished and refused jobs are kept for"
            f" {LIFE.days} days."
        )
    return _view(row, principal, now)


def wait(server: Server, principal: Principal, piece: str, patience: float) -> WorkView:
    """Return one of the caller's own jobs when it is over, or after ``patience`` seconds.

    No connection is held meanwhile.  Raises as ``show`` does.
    """
    until, pause = time.monotonic() + patience, FIRST_LOOK_SECONDS
    while True:
        view = show(server, principal, piece)
        left = until - time.monotonic()
        if view.over or left <= 0:
            return view
        time.sleep(min(pause, left))
        pause = min(2 * pause, LAST_LOOK_SECONDS)


def listing(server: Server, principal: Principal) -> list[WorkView]:
    """Return the caller's own jobs, the newest first, up to ``MOST_SHOWN``."""
    now = server.clock()
    with server.database.read() as session:
        rows = session.exec(
            select(Work)
            .where(col(Work.user_id) == principal.user_id, col(Work.expires_at) > now)
            .order_by(col(Work.id).desc())
            .limit(MOST_SHOWN)
        ).all()
    return [_view(row, principal, now) for row in rows]


def with_key(server: Server, principal: Principal, key: str) -> WorkView | None:
    """Return the caller's own job with this key, if there is one."""
    own, now = col(Work.user_id) == principal.user_id, server.clock()
    with server.database.read() as session:
        row = session.exec(select(Work).where(own, col(Work.key) == key)).one_or_none()
    return None if row is None or row.expires_at <= now else _view(row, principal, now)


def has_any(server: Server, principal: Principal) -> bool:
    """Return True if the caller has any job that is still kept."""
    own, now = col(Work.user_id) == principal.user_id, server.clock()
    with server.database.read() as session:
        first = session.exec(
            select(Work.id).where(own, col(Work.expires_at) > now).limit(1)
        ).first()
    return first is not None


def kept(server: Server, pieces: Sequence[str]) -> dict[str, tuple[State, datetime]]:
    """Return the state and last heartbeat of those of the given jobs that exist."""
    now = server.clock()
    with server.database.read() as session:
        rows = session.exec(select(Work).where(col(Work.public_id).in_(pieces))).all()
    return {row.public_id: (_state(row, now), row.finished_at or row.beat_at) for row in rows}


def _new(principal: Principal, job_request: JobRequest, host: str, now: datetime) -> Work:
    return Work(
        public_id=secrets.token_hex(16),
        user_id=required(principal.user_id),
        key=job_request.key,
        request=idempotency.newest(job_request.request),
        kind=job_request.kind,
        subject=job_request.subject[:LONGEST_SUBJECT],
        fields=job_request.fields,
        state="running",
        attempt=1,
        stage="beginning",
        host=host,
        started_at=now,
        beat_at=now,
        expires_at=now + LIFE,
    )


def _again(row: Work, job_request: JobRequest, host: str, now: datetime) -> Work:
    """Return the same job for another attempt."""
    row.request, row.fields = idempotency.newest(job_request.request), job_request.fields
    row.kind, row.subject = job_request.kind, job_request.subject[:LONGEST_SUBJECT]
    row.state, row.stage, row.percent = "running", "beginning", None
    row.problem = row.result = row.finished_at = None
    row.attempt, row.host = row.attempt + 1, host
    row.started_at = row.beat_at = now
    row.expires_at = now + LIFE
    return row


def _end(
    server: Server,
    piece: str,
    attempt: int,
    state: State,
    result: str | None = None,
    problem: str | None = None,
) -> None:
    with server.database.write_own_rows() as session:
        row = _running(session, piece, attempt)
        if row is not None:
            now = server.clock()
            row.state, row.result, row.problem = state, result, problem
            row.beat_at = row.finished_at = now
            row.expires_at = now + LIFE
            session.add(row)


def _running(session: Session, piece: str, attempt: int) -> Work | None:
    """Return the row, locked for this transaction, if ``attempt`` is still the current one."""
    row = session.exec(
        select(Work).where(col(Work.public_id) == piece).with_for_update()
    ).one_or_none()
    mine = row is not None and row.attempt == attempt and row.state == "running"
    return row if mine else None


def _state(row: Work, now: datetime) -> State:
    if row.state == "running" and is_silent(row, now):
        return "interrupted"
    return next(state for state in STATES if state == row.state)


def is_silent(row: Work, now: datetime) -> bool:
    """Return True if a job's last heartbeat is so old that whoever ran it does no more."""
    return row.beat_at + SILENCE <= now


def _view(row: Work, principal: Principal, now: datetime) -> WorkView:
    return WorkView(
        id=row.public_id,
        kind=row.kind,
        key=row.key,
        subject=row.subject,
        fields=row.fields,
        by=principal.name,
        state=_state(row, now),
        attempt=row.attempt,
        stage=row.stage,
        percent=row.percent,
        problem=None if row.problem is None else raised_again(json.loads(row.problem)),
        result=row.result,
        host=row.host,
        started_at=row.started_at,
        beat_at=row.beat_at,
        finished_at=row.finished_at,
    )
