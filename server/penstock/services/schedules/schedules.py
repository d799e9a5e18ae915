"""Make schedules, switch them on and off, show them and remove them.

A schedule is made switched off: what it will spend is shown first (``forecast``), and whoever
switches it on is the person for whom it acts, with the role that they have then.  Every change is
a leaf of the log.
"""

import json
from datetime import datetime
from fractions import Fraction

from sqlmodel import Session, col, delete, select

from penstock.errors import Conflict, Forbidden, InvalidInput, NameTaken, NotFound
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.jobs import Occurrence, Schedule
from penstock.persistence.tables.people import User
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.datasets import declared_next
from penstock.services.pagination import Page, Window
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schedules.logged_schedules import record_act
from penstock.services.schedules.refills import require_added_up
from penstock.services.schedules.statements import in_specs
from penstock.services.schedules.templates import requests_of
from penstock.services.schedules.timetable import next_after
from penstock.services.schemas.schedules import OccurrenceView, ScheduleSpec, ScheduleView
from penstock.services.streams.fed_elements import fed_by
from penstock.spec_fields import folded
from penstock.transparency_log.leaves import timestamp

MOST_SHOWN = 20
MOST = 100
"""The schedules that a server has."""

LONGEST_SPEC = 262_144


def create(server: Server, principal: Principal, spec: ScheduleSpec) -> ScheduleView:
    """Make a schedule, switched off.

    Queries in SQL are stored as the specs that they are read as.  Raises ``InvalidInput`` for a
    timetable, requests or statements that are not valid, ``NameTaken``,
    ``NotFound`` for the dataset, and ``Conflict`` for one whose vectors are pushed.
    """
    principal.require("admin")
    now, spec = server.clock(), in_specs(server, spec)
    requests = requests_of(spec, next_after(spec.cron, spec.timezone, now))
    with server.database.write() as session:
        declared = declared_next(dataset_by_name(session, spec.dataset), requests.version)
        require_added_up(spec, declared)
        names = session.exec(select(Schedule.folded)).all()
        if folded(spec.name) in names:
            raise NameTaken(f"There is a schedule {spec.name!r} already; choose another name.")
        if len(names) >= MOST:
            raise Conflict(f"There are {MOST} schedules, which is the most; remove one first.")
        row = Schedule(
            name=spec.name,
            folded=folded(spec.name),
            user_id=_person(principal),
            spec=text_of(spec),
            created_at=now,
        )
        session.add(row)
        session.flush()
        more = {"spec": json.loads(row.spec), "acts_for": principal.name}
        record_act(session, principal, row, now, "create", **more)
        return view(session, row)


def switch(
    server: Server, principal: Principal, name: str, *, on: bool, made_at: datetime | None = None
) -> ScheduleView:
    """Switch a schedule on, from now and for the caller, or off.

    Occurrences that are under way are finished.  Switching again changes nothing.  Raises
    ``NotFound``, and ``Conflict`` while one is under way for another admin, and for a schedule that
    was made at another time than ``made_at``: what the caller agreed to may be something else.
    """
    principal.require("admin")
    with server.database.write(need=Need.GROWTH if on else Need.RELIEF) as session:
        row = by_name(session, name)
        if made_at is not None and made_at != row.created_at:
            raise Conflict(
                f"The schedule {row.name!r} was made at {timestamp(row.created_at)}, and the one"
                f" that is meant at {timestamp(made_at)}. Read what it will charge, and switch it"
                " again."
            )
        if on != (row.next_at is not None):
            spec, person = spec_of(row), _person(principal) if on else row.user_id
            if person != row.user_id and _under_way(session, row):
                raise Conflict(
                    f"An occurrence of {row.name!r} is under way for {view(session, row).by};"
                    " switch it on when that is done."
                )
            row.reason = None
            row.next_at = next_after(spec.cron, spec.timezone, server.clock()) if on else None
            row.user_id = person
            session.add(row)
            more = {"acts_for": principal.name} if on else {}
            act = "switch_on" if on else "switch_off"
            record_act(session, principal, row, server.clock(), act, **more)
        return view(session, row)


def remove(server: Server, principal: Principal, name: str) -> ScheduleView:
    """Remove a schedule and its list of occurrences; what they registered stays.

    Raises ``NotFound``, and ``Conflict`` while it is on.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        row = by_name(session, name)
        if row.next_at is not None:
            raise Conflict(f"The schedule {row.name!r} is on; switch it off first.")
        last = view(session, row)
        if _under_way(session, row):
            raise Conflict(f"An occurrence of {row.name!r} is under way; wait until it is done.")
        session.exec(delete(Occurrence).where(col(Occurrence.schedule_id) == row.id))
        session.delete(row)
        record_act(session, principal, row, server.clock(), "remove")
        return last


def show(server: Server, principal: Principal, name: str) -> ScheduleView:
    """Show a schedule to admins and auditors.  Raises ``NotFound``."""
    principal.require("admin", "auditor")
    with server.database.read() as session:
        return view(session, by_name(session, name))


def listing(server: Server, principal: Principal, window: Window) -> Page[ScheduleView]:
    """List the schedules in the order in which they were made."""
    principal.require("admin", "auditor")
    with server.database.read() as session:
        rows = session.exec(
            select(Schedule)
            .where(col(Schedule.id) > window.after)
            .order_by(col(Schedule.id))
            .limit(window.limit + 1)
        ).all()
        return window.page(rows, lambda row: view(session, row), lambda row: required(row.id))


def _under_way(session: Session, row: Schedule) -> bool:
    pending = select(Occurrence).where(
        col(Occurrence.schedule_id) == row.id, col(Occurrence.state) == "pending"
    )
    return session.exec(pending.limit(1)).first() is not None


def by_name(session: Session, name: str) -> Schedule:
    """Return a schedule's row.  Raises ``NotFound``."""
    row = session.exec(select(Schedule).where(col(Schedule.folded) == folded(name))).one_or_none()
    if row is None:
        raise NotFound(f"There is no schedule {name!r}.")
    return row


def spec_of(row: Schedule) -> ScheduleSpec:
    """Return the spec that a schedule was made with."""
    return ScheduleSpec.model_validate_json(row.spec)


def opened_by(session: Session, schedule: int) -> int:
    """Return how many versions a schedule has opened."""
    rows = session.exec(select(Occurrence).where(col(Occurrence.schedule_id) == schedule)).all()
    return sum(row.version is not None for row in rows)


def exceeds(versions: int, epsilon: float, total: float) -> bool:
    """Return True if so many versions have more epsilon than a total, as the numbers are written.

    Three times 0.1 is 0.3, which doubles are not.
    """
    return versions * Fraction(repr(epsilon)) > Fraction(repr(total))


def text_of(spec: ScheduleSpec) -> str:
    """Return a spec as it is stored.  Raises ``InvalidInput`` if it is too long."""
    text = json.dumps(spec.model_dump(mode="json"), ensure_ascii=False, sort_keys=True)
    if len(text) > LONGEST_SPEC:
        raise InvalidInput(f"A schedule has at most {LONGEST_SPEC} characters.")
    return text


def view(session: Session, row: Schedule) -> ScheduleView:
    """Return a schedule with its newest occurrences."""
    occurrences = session.exec(
        select(Occurrence)
        .where(col(Occurrence.schedule_id) == row.id)
        .order_by(col(Occurrence.due_at).desc())
        .limit(MOST_SHOWN)
    ).all()
    user, spec = session.get_one(User, row.user_id), spec_of(row)
    return ScheduleView(
        name=row.name,
        made_at=row.created_at,
        by=user.name,
        on=row.next_at is not None,
        next_at=row.next_at,
        reason=row.reason,
        spec=spec.model_dump(mode="json"),
        occurrences=[
            OccurrenceView(
                due_at=occurrence.due_at,
                state=occurrence.state,
                version=occurrence.version,
                problem=occurrence.problem,
                finished_at=occurrence.finished_at,
                elements=_elements(session, spec, occurrence),
            )
            for occurrence in occurrences
        ],
    )


def _elements(session: Session, spec: ScheduleSpec, occurrence: Occurrence) -> dict[str, int]:
    """Return the elements that an occurrence's version gave, by stream."""
    if occurrence.version is None or not spec.streams:
        return {}
    return fed_by(session, spec.dataset, occurrence.version)


def _person(principal: Principal) -> int:
    """Return the number of the user for whom a schedule acts.  Raises ``Forbidden``."""
    if principal.user_id is None:
        raise Forbidden("A schedule acts for an admin, who is a user; name one with --by.")
    return required(principal.user_id)
