"""Write the leaves of schedules, and compare the tables of schedules and occurrences with them.

What a schedule is to do is in the leaf that made it, when it is due next in every leaf that moves
that, and each occurrence in two: when it became due, and what became of it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlmodel import Session, select

from penstock.errors import NotFound
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.jobs import Occurrence, Schedule
from penstock.persistence.tables.people import User
from penstock.persistence.tables.queries import Query
from penstock.persistence.tables.streams import FedElement
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.schedules import ScheduleSpec
from penstock.transparency_log import leaves
from penstock.transparency_log.logged_subject import LeafFields, name_of
from penstock.transparency_log.sights import Sight

ENDS = ("done", "refused")
DUE = ("due", "missed")


def record_act(
    session: Session, principal: Principal, row: Schedule, at: datetime, act: str, **more: Any
) -> None:
    """Append the leaf of a change of a schedule, or of an occurrence that became due or ended."""
    try:
        name = ScheduleSpec.model_validate_json(row.spec).dataset
        dataset = dataset_by_name(session, name)
    except NotFound:
        dataset = None  # it was withdrawn since
    record(
        session,
        principal,
        "schedule",
        at,
        dataset=dataset,
        schedule=row.name,
        act=act,
        next=in_log(row.next_at),
        **more,
    )


def in_log(at: datetime | None) -> str | None:
    """Return a time of a schedule as leaves have it."""
    return None if at is None else leaves.timestamp(at)


@dataclass
class _Logged:
    """Hold what the log says of a schedule, and of each occurrence by its time."""

    spec: str
    acts_for: str
    next_at: str | None = None
    states: dict[str | None, object] = field(default_factory=dict)
    skipped: int = 0


class LoggedSchedules:
    """Hold the schedules that the log has, and what became of their occurrences."""

    def __init__(self) -> None:
        self._schedules: dict[str, _Logged] = {}
        self._fed: dict[tuple[str, int], tuple[str, int]] = {}

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a schedule."""
        if leaf["kind"] != "schedule":
            return
        name, act = leaf["schedule"], leaf["act"]
        if act == "create":
            self._schedules[name] = _Logged(_canonical(leaf["spec"]), leaf["acts_for"])
        elif act == "remove":
            del self._schedules[name]
        elif act == "feed":
            self._fed[leaf["stream"], leaf["element"]] = leaf["dataset"], leaf["version"]
        else:
            logged = self._schedules[name]
            logged.next_at = leaf.get("next")
            logged.acts_for = leaf.get("acts_for", logged.acts_for)
            if act in DUE:
                logged.skipped += leaf["skipped"]
            if act == "skipped":  # its data were registered already
                logged.states.pop(leaf["due"])
                logged.skipped += 1
            elif act in ENDS:
                logged.states[leaf["due"]] = act, leaf.get("version")
            elif leaf.get("due") is not None:
                logged.states[leaf["due"]] = "pending"

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where schedules or their occurrences differ."""
        stored = {row.id: _stored(session, row) for row in session.exec(select(Schedule)).all()}
        others = 0
        for row in session.exec(select(Occurrence)).all():
            schedule = stored.get(row.schedule_id)
            if schedule is None:
                others += 1
            elif row.state == "skipped":
                schedule[1].skipped += 1
            else:
                state = (row.state, row.version) if row.state in ENDS else row.state
                schedule[1].states[in_log(row.due_at)] = state
        schedules = dict(stored.values())
        if {name: _itself(each) for name, each in schedules.items()} != {
            name: _itself(each) for name, each in self._schedules.items()
        }:
            yield "the schedules are not those of the log"
        elif others or schedules != self._schedules:
            yield "the occurrences of schedules are not those of the log"
        if _fed(session) != self._fed:
            yield "the elements that schedules fed streams with are not those of the log"


def _fed(session: Session) -> dict[tuple[str, int], tuple[str, int]]:
    """Return the version that gave each element, by stream and number."""
    rows = session.exec(select(FedElement)).all()
    if not rows:
        return {}
    versions = {row.id: (row.name, row.version) for row in session.exec(select(Dataset)).all()}
    streams = {row.id: row.name for row in session.exec(select(Query)).all()}
    return {(streams[row.query_id], row.step): versions[row.dataset_id] for row in rows}


def _itself(schedule: _Logged) -> tuple[str, str, str | None]:
    return schedule.spec, schedule.acts_for, schedule.next_at


def _stored(session: Session, row: Schedule) -> tuple[str, _Logged]:
    """Return a schedule's name and what its row says, without its occurrences."""
    try:
        spec = _canonical(json.loads(row.spec))
    except ValueError:
        spec = row.spec
    by = name_of(session.get(User, row.user_id))
    return row.name, _Logged(spec, by, in_log(row.next_at))


def _canonical(spec: object) -> str:
    return leaves.canonical({"spec": spec}).decode()
