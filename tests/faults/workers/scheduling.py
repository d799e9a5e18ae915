"""Define a schedule of nights whose occurrences are killed, and what each has to leave.

Every process has a clock that stands still: night after night, each a day after the one before.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from sqlmodel import Session, col, select
from tests.faults.kills.steps import REGISTRATION, Steps
from tests.faults.stage import HANG, TIERS, build, opened, settings_of

from penstock.connectors.duckdb import conformance
from penstock.persistence.tables import Charge, Dataset, FedElement, Query, Release
from penstock.persistence.tables.jobs import Occurrence, Schedule
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import worker
from penstock.services.jobs.runner import Run, Runner
from penstock.services.operations.home import open_server
from penstock.services.people import users
from penstock.services.queries import registration
from penstock.services.schedules import occurrences, schedules, templates
from penstock.services.schedules.templates import Requests
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.schemas.schedules import ScheduleSpec
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams

ADMIN = "ada"
NIGHTS = 400
SOON, LATER = timedelta(minutes=1), timedelta(minutes=3)
"""How long after an occurrence is due the process that is killed looks, and the one after it."""

FILES = (
    "services/schedules/occurrences.py",
    "services/schedules/feeds.py",
    "services/streams/fed_elements.py",
    "services/streams/stream_elements.py",
    "services/datasets/datasets.py",
    "services/jobs/jobs.py",
    *REGISTRATION,
)


@dataclass(frozen=True)
class Nights:
    """Hold a home, and when its schedule is due first."""

    home: Path
    first: datetime

    def due(self, night: int) -> datetime:
        """Return when the occurrence of a night is due."""
        return self.first + timedelta(days=night)


class Left(NamedTuple):
    """Hold what became of a night's occurrence, and how many rows there are of what it makes."""

    states: tuple[str, ...]
    versions: int
    queries: int
    charges: int
    anchors: int
    elements: int


WHOLE = Left(("done",), 1, 2, 2 * len(TIERS), 2, 1)
"""One version, two queries, each charged to every tier and with an anchor, and one element."""

STREAM = "daily"

UNITS_BY_TOWN = {
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
}
COUNT = {
    **UNITS_BY_TOWN,
    "mechanism": "laplace",
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}},
}
DECLARED = {
    "name": "stays",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south"]},
    },
    "budgets": {tier: {"epsilon": 1.0} for tier in TIERS},
}

DAILY = {
    "name": STREAM,
    "dataset": "stays",
    "mechanism": "laplace",
    "length": 2 * NIGHTS,
    "dimension": 2,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.01}},
}

Flaw = Callable[[], None]


def build_schedule(folder: Path) -> None:
    """Build a home whose schedule is switched on, and a file for each of its nights."""
    build(folder, analysts=2)
    files = folder.with_name(f"{folder.name}-files")
    files.mkdir()
    with opened(folder) as server:
        users.create(server, OPERATOR, UserSpec(name=ADMIN, roles=["admin"]))
        source = {"engine": "duckdb", "uri": str(_written(files, "first"))}
        request = DatasetRequest.model_validate({**DECLARED, "source": source})
        datasets.register(server, OPERATOR, request)
        streams.open_stream(server, OPERATOR, StreamRequest.model_validate(DAILY))
        schedules.create(server, acting_as(server, ADMIN), _spec(files))
        on = schedules.switch(server, acting_as(server, ADMIN), "nightly", on=True)
    assert on.next_at is not None
    for night in range(NIGHTS):
        _written(files, f"{on.next_at + timedelta(days=night):%Y-%m-%d}")


def _spec(files: Path) -> ScheduleSpec:
    return ScheduleSpec.model_validate(
        {
            "name": "nightly",
            "dataset": "stays",
            "cron": "0 3 * * *",
            "version": {
                "source": {"engine": "duckdb", "uri": str(files / "{date}.csv")},
                "budgets": DECLARED["budgets"],
            },
            "queries": [
                {**COUNT, "name": "by_town-{date}-{time}"},
                {**COUNT, "name": "in_all-{date}-{time}", "group_by": []},
            ],
            "streams": [{"stream": STREAM, "query": UNITS_BY_TOWN}],
            "total": dict.fromkeys(TIERS, float(NIGHTS)),
        }
    )


def _written(files: Path, name: str) -> Path:
    path = files / f"{name}.csv"
    path.write_text("person,town\n" + f"{name},north\n" + "p,south\nq,north\n")
    return path


def first_due(home: Path) -> datetime:
    """Return when the schedule is due next."""
    with opened(home) as server, server.database.read() as session:
        at = session.exec(select(Schedule.next_at)).one()
    assert at is not None
    return at


def opened_at(home: Path, now: datetime) -> Server:
    """Return the server of a process whose clock stands there."""
    return open_server(settings_of(home), clock=lambda: now)


def look(server: Server) -> None:
    """Look for what is due, and carry it out in this process."""
    occurrences.look(server, Runner(server, patience=3600, pulse=None, host="here"))


def look_once(home: Path, now: datetime, steps: Steps, flaw: Flaw, taken: Path) -> None:
    """Look, and end at the step that ``steps`` names.

    The engine is not probed in this process, which would take most of its time and none of the
    steps: the process that finishes the occurrence does that.
    """
    vars(conformance)["differences"] = lambda _form: []
    server = opened_at(home, now)
    flaw()
    with steps.watching():
        look(server)
    taken.write_text(json.dumps(steps.taken))


def hang_after_the_charge(home: Path, now: datetime, reached: Path) -> None:
    """Be a worker of the queue that never gets from a charge to the anchor."""

    def hang(*_: object) -> None:
        reached.write_text("charged\n")
        threading.Event().wait(HANG)

    vars(registration)["_anchor"] = hang
    server = opened_at(home, now)
    rhythm = worker.Rhythm(beat=0.2)
    worker.serve(server, occurrences.FOR_WORKERS, Runner(server), rhythm=rhythm)


def take_over(home: Path, now: datetime) -> None:
    """Be a worker of the queue that does what waits, and ends."""
    server = opened_at(home, now)
    rhythm = worker.Rhythm(dead=0)
    worker.serve(server, occurrences.FOR_WORKERS, Runner(server), once=True, rhythm=rhythm)


def no_flaw() -> None:
    """Leave the product as it is."""


def hasty() -> None:
    """Note that an occurrence is done before more of it than its version is carried out."""
    product = occurrences._open_version

    def open_version(server: Server, due: occurrences._Due, requests: Requests) -> int:
        version = product(server, due, requests)
        occurrences._end(server, due.number, "done", None)
        return version

    occurrences._open_version = open_version


def of_the_moment() -> None:
    """Name queries after the time at which they are carried out, not that at which they are due."""

    product = occurrences._carry_out

    def carry_out(server: Server, due: occurrences._Due, run: Run) -> None:
        now = server.clock()

        def requests_of(spec: ScheduleSpec, _: datetime) -> Requests:
            return templates.requests_of(spec, now)

        vars(occurrences)["requests_of"] = requests_of
        product(server, due, run)

    occurrences._carry_out = carry_out


def left(server: Server, at: datetime) -> Left:
    """Return what there is of the night on which an occurrence is due."""
    with server.database.read() as session:
        states = session.exec(select(Occurrence.state).where(col(Occurrence.due_at) == at)).all()
        versions = _versions(session, f"{at:%Y-%m-%d}.csv")
        queries = session.exec(select(Query.id).where(col(Query.dataset_id).in_(versions))).all()
        charges = session.exec(select(Charge).where(col(Charge.query_id).in_(queries))).all()
        anchors = session.exec(select(Release).where(col(Release.query_id).in_(queries))).all()
        fed = session.exec(select(FedElement).where(col(FedElement.dataset_id).in_(versions))).all()
    counted = (versions, queries, charges, anchors, fed)
    return Left(tuple(states), *(len(rows) for rows in counted))


def _versions(session: Session, file: str) -> list[int | None]:
    return [row.id for row in session.exec(select(Dataset)) if file in row.spec]
