"""Carry out each occurrence of a schedule once, late rather than twice.

``look`` is called every few seconds by every process that runs jobs.  It stores what is due, one
row for each time, in the transaction that sets the schedule's next time: a unique constraint lets
one process do so.  A pending occurrence is a job under the occurrence's own key, so that whoever is
killed, the job is begun again: its version is stored with it, and its queries are found by their
specs.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session, col, select

from penstock.errors import (
    BudgetExhausted,
    Conflict,
    DatabaseUnavailable,
    Forbidden,
    PenstockError,
    RegisteredAlready,
    Unavailable,
)
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.jobs import Occurrence, Schedule
from penstock.persistence.tables.people import User
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal, roles_of
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import idempotency, jobs
from penstock.services.jobs.jobs import JobRequest
from penstock.services.jobs.runner import JobFunction, Run, Runner
from penstock.services.jobs.worker import Kinds
from penstock.services.ledger.charges import require_free_name
from penstock.services.queries import registered, registration
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schedules.feeds import feed_all, require_feeds
from penstock.services.schedules.logged_schedules import in_log, record_act
from penstock.services.schedules.pricing import priced
from penstock.services.schedules.refills import is_unrecognized, require_added_up, unchanged
from penstock.services.schedules.schedules import exceeds, opened_by, spec_of
from penstock.services.schedules.templates import Requests, requests_of
from penstock.services.schedules.timetable import next_after, passed
from penstock.services.schemas.schedules import ScheduleSpec
from penstock.services.streams.fed_elements import Fed
from penstock.transparency_log.background import Into

KIND = "occurrence"

LOOK_SECONDS = 20.0
"""The seconds between two looks of a process."""

GRACE = timedelta(hours=1)
"""How late an occurrence may be without counting as missed."""

MOST_MISSED = 100
"""The missed occurrences that are recorded, the newest; a longer gap is not listed in full."""

PATIENCE = timedelta(hours=6)
"""How long an occurrence is tried while the database, the engine or the file's store is away."""

LONGEST_PAUSE = timedelta(minutes=10)
"""The longest pause after such a failure; the first is one look, and each is twice the last."""

_OPENED = "Another process has opened this occurrence's version; it is gone on with later."
_MISSED = "The server was not running when it was due."


@dataclass(frozen=True)
class _Due:
    """Hold an occurrence that is carried out, its schedule's name and spec, and for whom."""

    number: int
    schedule: str
    spec: ScheduleSpec
    at: datetime
    version: int | None
    schedule_id: int
    principal: Principal


def look(server: Server, runner: Runner) -> None:
    """Store what is due, and begin or go on with what is pending.

    Raises the first error once all schedules were tried; the next call goes on.
    """
    with server.database.read() as session:
        due = select(Schedule.id).where(col(Schedule.next_at) <= server.clock())
        schedules = session.exec(due).all()
    problems: list[PenstockError] = []
    for number in schedules:
        with _apart(problems):
            _store_due(server, required(number))
    with server.database.read() as session:
        # Numbers and not rows: an altered row is refused where it is carried out.
        columns = select(Occurrence.schedule_id, Occurrence.id)
        pending = columns.where(col(Occurrence.state) == "pending")
        rows = session.exec(pending.order_by(col(Occurrence.due_at).desc())).all()
    # One at a time of each schedule: a later version would take the queries of an earlier one.
    for occurrence in dict(rows).values():
        with _apart(problems):
            _begin(server, runner, required(occurrence))
    if problems:
        raise problems[0]


@contextmanager
def _apart(problems: list[PenstockError]) -> Iterator[None]:
    """Keep an error of one schedule, which stops no other."""
    try:
        yield
    except PenstockError as problem:
        problems.append(problem)


def look_on(
    server: Server,
    runner: Runner,
    failed: Callable[[str, BaseException], None],
    ended: threading.Event,
) -> None:
    """Look every few seconds until ``ended``; ``failed`` is called with unexpected errors."""
    while not ended.wait(LOOK_SECONDS):
        tried: Future[None] = Future()
        with Into(tried):
            look(server, runner)
            tried.set_result(None)
        error = tried.exception()
        if error is not None and not isinstance(error, PenstockError):
            failed("schedules", error)


def _store_due(server: Server, number: int) -> None:
    """Store a schedule's occurrences that are due, and its next time.

    Times are computed before the transaction, which would keep all other writers waiting.
    """
    now = server.clock()
    with server.database.read() as session:
        seen = session.get(Schedule, number)
        if seen is None or seen.next_at is None or seen.next_at > now:
            return
        spec, first = spec_of(seen), seen.next_at
    later, newest = passed(spec.cron, spec.timezone, first, now, MOST_MISSED)
    count, listed = 1 + later, [first, *newest][-MOST_MISSED:]
    coming = next_after(spec.cron, spec.timezone, now)
    with server.database.write() as session:
        row = session.exec(
            select(Schedule).where(col(Schedule.id) == number).with_for_update()
        ).one_or_none()
        if row is None or row.next_at != first:
            return  # another process was faster, or it was switched off
        late = now - listed[-1] > GRACE
        carried_out = None if late and spec.missed == "skip" else listed[-1]
        for at in listed:
            skipped = at != carried_out
            session.add(
                Occurrence(
                    schedule_id=number,
                    due_at=at,
                    state="skipped" if skipped else "pending",
                    problem=_MISSED if skipped else None,
                    finished_at=now if skipped else None,
                )
            )
        row.next_at = coming
        session.add(row)
        more = {
            "due": in_log(carried_out),
            "occurrences": count,
            "skipped": len(listed) - (carried_out is not None),
        }
        act = "missed" if count > 1 or late else "due"
        record_act(session, _person(session, row), row, now, act, **more)


def _begin(server: Server, runner: Runner, number: int) -> None:
    """Begin a pending occurrence's job, unless it runs."""
    try:
        due = _due(server, number)
    except PenstockError as problem:
        if isinstance(problem, DatabaseUnavailable):
            raise
        _end(server, number, "refused", problem.detail)
        return
    key = f"{KIND}-{number}"
    if due is None or _is_paused(server, due.principal, key):
        return
    request = JobRequest(
        kind=KIND,
        key=key,
        request=idempotency.fingerprint(server, KIND.encode(), str(number).encode()),
        fields=str(number),
        subject=due.schedule,
    )
    try:
        view = runner.start(due.principal, request, act(server, number))
    except DatabaseUnavailable:
        raise
    except (Conflict, Unavailable):
        return  # the person's jobs are as many as may be; the next look tries again
    away = isinstance(view.problem, Unavailable) and server.clock() < due.at + PATIENCE
    if view.problem is not None and not away:
        _end(server, number, "refused", view.problem.detail)


def _is_paused(server: Server, principal: Principal, key: str) -> bool:
    """Return True if a job failed so recently that no process is to try it again yet.

    Each attempt may cost the engine a whole query, and every process looks.
    """
    last = jobs.with_key(server, principal, key)
    if last is None or last.finished_at is None or not isinstance(last.problem, Unavailable):
        return False
    pause = timedelta(seconds=LOOK_SECONDS * 2 ** min(last.attempt - 1, 10))
    # A clock that was set back would have it wait for days.
    return timedelta() <= server.clock() - last.finished_at < min(pause, LONGEST_PAUSE)


def act(server: Server, number: int) -> JobFunction:
    """Return the job of an occurrence."""

    def carry_out(run: Run) -> str:
        due = _due(server, number)
        if due is None:
            return str(number)
        try:
            _carry_out(server, due, run)
        except Unavailable:
            raise  # the next look goes on where it stopped
        except RegisteredAlready as problem:
            same = unchanged(due.spec, problem)
            state = "skipped" if same else "refused"
            _end(server, number, state, same or problem.detail, opened=False)
        except PenstockError as problem:
            _end(server, number, "refused", problem.detail)
        else:
            _end(server, number, "done", None)
        return due.schedule

    return carry_out


def _prepared(server: Server, principal: Principal, fields: str) -> JobFunction:
    principal.require("admin")
    return act(server, int(fields))


FOR_WORKERS: Kinds = {KIND: _prepared}
"""How a worker carries out occurrences."""


def _carry_out(server: Server, due: _Due, run: Run) -> None:
    """Register an occurrence's version, then its queries, and feed its streams.

    Each is found if it was done before.
    """
    principal, requests = due.principal, requests_of(due.spec, due.at)
    principal.require("admin")
    version = due.version or _open_version(server, due, requests)
    for number, query in enumerate(requests.queries):
        run("registering the queries", 100 * number // len(requests.queries))
        if registered.query(server, principal, query) is None:
            registration.register(server, principal, query, version=version)
    feed_all(server, principal, requests, due.spec.dataset, version, run, _logged_feed(server, due))


def _logged_feed(server: Server, due: _Due) -> Fed:
    """Return what appends the leaf of an element that an occurrence adds to a stream."""

    def append(session: Session, stream: Query, element: int, state: str | None) -> None:
        row = session.get_one(Occurrence, due.number)
        schedule = session.get_one(Schedule, due.schedule_id)
        more = {"stream": stream.name, "element": element, "version": row.version}
        read = {} if state is None else {"read_state": state}
        at, time = server.clock(), in_log(due.at)
        record_act(session, due.principal, schedule, at, "feed", due=time, **more, **read)

    return append


def _open_version(server: Server, due: _Due, requests: Requests) -> int:
    """Register the version, if all that follows fits: else nothing is stored.

    Return its number, which is stored with it: whoever is killed or races knows whether there is
    one, also if the data have another version by then.
    """
    principal, name = due.principal, due.spec.dataset

    def keep(session: Session, version: int) -> None:
        row = session.get_one(Occurrence, due.number)
        if row.state != "pending" or row.version is not None:
            raise DatabaseUnavailable(_OPENED)
        _require_total(due, requests, opened_by(session, row.schedule_id))
        row.version = version
        session.add(row)

    with server.database.read() as session:
        before = dataset_by_name(session, name)
        for query in requests.queries:  # else the version would be for nothing
            require_free_name(session, query.name)
        _require_total(due, requests, opened_by(session, due.schedule_id))
    declared = datasets.next_version(server, before, requests.version)
    require_added_up(due.spec, declared)
    priced(server, principal, declared, requests)
    with server.database.read() as session:
        require_feeds(session, declared, requests)
    refilled = is_unrecognized(due.spec, declared)
    version = datasets.add_version(
        server, principal, name, requests.version, keep, refilled=refilled
    )
    return version.version


def _require_total(due: _Due, requests: Requests, opened: int) -> None:
    """Raise ``BudgetExhausted`` if the schedule's versions would have more than its total."""
    for tier, most in due.spec.total.items():
        budget = requests.version.budgets.get(tier)
        if budget is not None and exceeds(opened + 1, budget.epsilon, most):
            raise BudgetExhausted(
                f"The schedule's total for tier {tier!r} is epsilon {most:g}, and its"
                f" {opened} versions have {opened * budget.epsilon:g}: there is no room"
                f" for another {budget.epsilon:g}. Nothing was registered."
            )


def _due(server: Server, number: int) -> _Due | None:
    """Return a pending occurrence; None if it is not pending.

    Raises ``Forbidden`` if whoever switched it on may not do it any more.
    """
    with server.database.read() as session:
        row = session.get(Occurrence, number)
        if row is None or row.state != "pending":
            return None
        schedule = session.get_one(Schedule, row.schedule_id)
        principal = _person(session, schedule)
        if "admin" not in principal.roles:
            raise Forbidden(
                f"{principal.name} switched the schedule on, and is no admin any more. Nothing was"
                " registered."
            )
        return _Due(
            number,
            schedule.name,
            spec_of(schedule),
            row.due_at,
            row.version,
            row.schedule_id,
            principal,
        )


def _person(session: Session, schedule: Schedule) -> Principal:
    user = session.get_one(User, schedule.user_id)
    roles = frozenset(roles_of(user)) & {"admin"} if user.is_active else frozenset()
    return Principal(user.name, user.id, roles)


def _end(
    server: Server, number: int, state: str, problem: str | None, *, opened: bool = True
) -> None:
    """Store what became of an occurrence, and switch its schedule off if it says so.

    One that ends before it ``opened`` a version is left to the process that opened one since.
    """
    with server.database.write() as session:
        row = session.exec(
            select(Occurrence).where(col(Occurrence.id) == number).with_for_update()
        ).one()
        if row.state != "pending":
            return
        if row.version is not None and not opened:
            raise DatabaseUnavailable(_OPENED)
        row.state, row.problem, row.finished_at = state, problem, server.clock()
        schedule = session.get_one(Schedule, row.schedule_id)
        session.add(row)
        off = state == "refused" and spec_of(schedule).refused == "switch_off"
        if off and schedule.next_at is not None:
            schedule.next_at, schedule.reason = None, problem
            session.add(schedule)
        who = _person(session, schedule)
        more = {"version": row.version, "due": in_log(row.due_at), "off": off or None}
        record_act(session, who, schedule, server.clock(), state, **more)
