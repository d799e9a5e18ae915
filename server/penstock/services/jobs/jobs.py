"""Long work on behalf of a person: where it stands, so that they can leave and come back.

A row says what was asked, how far it is, and what came of it; it decides nothing about
privacy, and what it does is done by the service that does it for everybody.  Its key is
the form's, so that a second press finds the same work.  Whoever works on it says so again
and again; where that stops, because a worker was killed, the work counts as interrupted
and is started again under the same key.  That does nothing twice: registering is done
once whatever happens to whoever asks for it.

Rows are authenticated, since they are sent again as they were typed, in their owner's name.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from sqlmodel import Session, col, delete, select

from penstock.errors import Conflict, InvalidInput, NotFound, PenstockError, described, raised_again
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Work
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import idempotency

LIFE = timedelta(days=7)
"""How long a piece of work can be come back to."""

SILENCE = timedelta(minutes=1)
"""Whoever has not said for so long that they work on it does not."""

MOST_OF_ONE = 3
"""Pieces that one person may have under way."""

MOST_SHOWN = 100
LONGEST_SUBJECT = 64

State = Literal["running", "interrupted", "done", "failed"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class Wanted:
    """What is asked for: ``key`` is the form's own, ``fields`` what was typed.

    ``request`` is a keyed hash (``repeats.fingerprint``) of ``kind`` and ``fields``;
    ``subject`` names it among others of its ``kind``.
    """

    kind: str
    key: str
    request: bytes
    fields: str = ""
    subject: str = ""


@dataclass(frozen=True)
class WorkView:
    """A piece of work, as the person sees it whose it is.

    ``percent`` is of the ``stage``, and none where nobody knows it.  ``problem`` is why it
    was refused, ``result`` the name of what came of it.
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
        """Whether nobody works on it any more."""
        return self.state != "running"


@dataclass(frozen=True)
class Begun:
    """A piece of work; ``fresh`` tells that it is the caller's to do."""

    piece: WorkView
    fresh: bool


def begin(
    server: Server, principal: Principal, wanted: Wanted, host: str, *, room: bool = True
) -> Begun:
    """Note a piece of work, or find the one that was begun with this key.

    One that was refused or interrupted is begun again, as it is asked for now.  Raises
    ``InvalidInput`` for a key that is none or that came with something else, and
    ``Conflict`` for more at once than one person may have, or where there is no ``room``.
    """
    key = wanted.key
    if not 1 <= len(key) <= 255 or not key.isascii() or not key.isprintable():
        raise InvalidInput("The form's key is not one of ours; load the page again.")
    now = server.clock()
    with server.database.write_unwatched() as session:
        session.exec(delete(Work).where(col(Work.expires_at) <= now))
        own = session.exec(select(Work).where(col(Work.user_id) == principal.user_id)).all()
        row = next((job_row for job_row in own if job_row.key == wanted.key), None)
        if row is not None and _state(row, now) in ("running", "done"):
            if not idempotency.is_same(row.request, wanted.request):
                raise InvalidInput(
                    "This form was sent before with something else in it, and that is"
                    f" {'being worked on' if row.state == 'running' else 'done'}. Open the form"
                    " anew to send another one."
                )
            return Begun(_view(row, principal, now), fresh=False)
        if not room:
            raise Conflict(
                "The server works on as many long pieces of work as it can. Nothing was begun;"
                " send this again in a moment."
            )
        if sum(_state(job_row, now) == "running" for job_row in own) >= MOST_OF_ONE:
            raise Conflict(
                f"{MOST_OF_ONE} pieces of your work are under way, which is as many as one person"
                " may have. Wait until one of them is done, and send this again."
            )
        row = _again(row, wanted, host, now) if row else _new(principal, wanted, host, now)
        session.add(row)
        session.flush()
        return Begun(_view(row, principal, now), fresh=True)


def beat(server: Server, piece: str, attempt: int, stage: str, percent: int | None) -> None:
    """Say that ``attempt`` is alive, and how far it is; nothing where it is not the last one."""
    with server.database.write_own_rows() as session:
        row = _running(session, piece, attempt)
        if row is not None:
            row.stage, row.percent, row.beat_at = stage, percent, server.clock()
            session.add(row)


def finish(server: Server, piece: str, attempt: int, result: str) -> None:
    """Keep what came of it."""
    _end(server, piece, attempt, "done", result=result)


def fail(server: Server, piece: str, attempt: int, problem: PenstockError) -> None:
    """Keep why it was refused, in the words that its owner would have been answered."""
    _end(server, piece, attempt, "failed", problem=json.dumps(described(problem)))


def forget(server: Server, principal: Principal, piece: str) -> None:
    """Forget a refusal that its owner was shown at once, with the form that they mend."""
    with server.database.write_own_rows() as session:
        own = col(Work.user_id) == principal.user_id
        session.exec(
            delete(Work).where(own, col(Work.public_id) == piece, col(Work.state) == "failed")
        )


def show(server: Server, principal: Principal, piece: str) -> WorkView:
    """A piece of one's own work.  Raises ``NotFound``, also for that of somebody else."""
    now = server.clock()
    with server.database.read() as session:
        row = session.exec(select(Work).where(col(Work.public_id) == piece)).first()
    if row is None or row.user_id != principal.user_id or row.expires_at <= now:
        raise NotFound(
            f"There is no work {piece!r} of yours. What is done or refused is kept for"
            f" {LIFE.days} days."
        )
    return _view(row, principal, now)


def listing(server: Server, principal: Principal) -> list[WorkView]:
    """One's own work, the newest first, up to ``MOST_SHOWN`` pieces."""
    now = server.clock()
    with server.database.read() as session:
        rows = session.exec(
            select(Work)
            .where(col(Work.user_id) == principal.user_id, col(Work.expires_at) > now)
            .order_by(col(Work.id).desc())
            .limit(MOST_SHOWN)
        ).all()
    return [_view(row, principal, now) for row in rows]


def has_any(server: Server, principal: Principal) -> bool:
    """Whether there is any work of one's own that can still be come back to."""
    own, now = col(Work.user_id) == principal.user_id, server.clock()
    with server.database.read() as session:
        first = session.exec(
            select(Work.id).where(own, col(Work.expires_at) > now).limit(1)
        ).first()
    return first is not None


def kept(server: Server, pieces: Sequence[str]) -> dict[str, tuple[State, datetime]]:
    """Of these pieces, those that there are: their state, and when they were heard of last."""
    now = server.clock()
    with server.database.read() as session:
        rows = session.exec(select(Work).where(col(Work.public_id).in_(pieces))).all()
    return {row.public_id: (_state(row, now), row.finished_at or row.beat_at) for row in rows}


def _new(principal: Principal, wanted: Wanted, host: str, now: datetime) -> Work:
    return Work(
        public_id=secrets.token_hex(16),
        user_id=required(principal.user_id),
        key=wanted.key,
        request=idempotency.newest(wanted.request),
        kind=wanted.kind,
        subject=wanted.subject[:LONGEST_SUBJECT],
        fields=wanted.fields,
        state="running",
        attempt=1,
        stage="beginning",
        host=host,
        started_at=now,
        beat_at=now,
        expires_at=now + LIFE,
    )


def _again(row: Work, wanted: Wanted, host: str, now: datetime) -> Work:
    """The same work, for another attempt."""
    row.request, row.fields = idempotency.newest(wanted.request), wanted.fields
    row.kind, row.subject = wanted.kind, wanted.subject[:LONGEST_SUBJECT]
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
    """The row, locked until the transaction ends, where ``attempt`` is still the one at it."""
    row = session.exec(
        select(Work).where(col(Work.public_id) == piece).with_for_update()
    ).one_or_none()
    mine = row is not None and row.attempt == attempt and row.state == "running"
    return row if mine else None


def _state(row: Work, now: datetime) -> State:
    if row.state == "running" and row.beat_at + SILENCE <= now:
        return "interrupted"
    return next(state for state in STATES if state == row.state)


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
