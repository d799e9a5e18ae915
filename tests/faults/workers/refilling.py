"""Define a schedule over one file that is refilled, or one that nobody recognizes, every night."""

import hmac
import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlmodel import col, select
from tests.faults.stage import TIERS, build, opened
from tests.faults.workers.scheduling import ADMIN, COUNT, DECLARED, NIGHTS, Left, Nights, first_due

from penstock.connectors.connector import Snapshot
from penstock.connectors.duckdb.connector import Files
from penstock.connectors.duckdb.source_file import SourceFile
from penstock.connectors.progress import Progress
from penstock.connectors.specs.models import DatasetSpec
from penstock.persistence.tables import Charge, Dataset, Query, Release
from penstock.persistence.tables.jobs import Occurrence, Schedule
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.people import users
from penstock.services.schedules import occurrences, schedules
from penstock.services.schedules.templates import Requests
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.schemas.schedules import ScheduleSpec

WHOLE = Left(("done",), 1, 1, len(TIERS), 1, 0)
"""One version, and a query that is charged to every tier and has an anchor."""


@dataclass(frozen=True)
class Refilled(Nights):
    """Hold a home, when its schedule is due first, and the file that it reads every night."""

    file: Path

    def refill(self, night: int) -> None:
        """Write the rows of a night."""
        write(self.file, night)


def refilled(home: Path) -> Refilled:
    """Return a home whose schedule reads one file, which copies of the home share."""
    with opened(home) as server, server.database.read() as session:
        spec = json.loads(session.exec(select(Schedule.spec)).one())
    return Refilled(home, first_due(home), Path(spec["version"]["source"]["uri"]))


def write(file: Path, night: int) -> None:
    """Write the rows of a night to a file."""
    file.write_text(f"person,town\nnight-{night},north\np,south\nq,north\n")


def build_refilled(folder: Path) -> None:
    """Build a home whose schedule is switched on, and reads one file."""
    build(folder, analysts=2)
    file = folder.with_name("tonight.csv")
    write(file, 0)
    source = {"engine": "duckdb", "uri": str(file)}
    spec = {
        "name": "nightly",
        "dataset": "stays",
        "cron": "0 3 * * *",
        "version": {"source": source, "budgets": DECLARED["budgets"]},
        "queries": [{**COUNT, "name": "by_town-{date}"}],
        "total": dict.fromkeys(TIERS, float(NIGHTS)),
    }
    with opened(folder) as server:
        users.create(server, OPERATOR, UserSpec(name=ADMIN, roles=["admin"]))
        request = DatasetRequest.model_validate({**DECLARED, "source": source})
        datasets.register(server, OPERATOR, request)
        admin = acting_as(server, ADMIN)
        schedules.create(server, admin, ScheduleSpec.model_validate(spec))
        schedules.switch(server, admin, "nightly", on=True)


TAKEN = ("snapshot", "fingerprint", "check_registered", "_opened")
"""What of the connector of files ``unrecognized`` replaces."""


def unrecognized() -> None:
    """Take a file as PostgreSQL takes a view: whatever its rows are, it is the registered one."""
    product, bytes_of = Files._opened, Files.fingerprint

    def fingerprint(_: Files, dataset: DatasetSpec, key: bytes, _progress: Progress) -> bytes:
        return hmac.digest(key, json.dumps(dataset.source.uri).encode(), "sha256")

    def opened_as_it_is(
        files: Files, dataset: DatasetSpec, key: bytes, _: bytes, progress: Progress
    ) -> AbstractContextManager[tuple[SourceFile, Sequence[str]]]:
        return product(files, dataset, key, bytes_of(files, dataset, key, progress), progress)

    def check_registered(files: Files, *_: object) -> None:
        """Take the file for the registered one."""

    values = (Snapshot.NONE, fingerprint, check_registered, opened_as_it_is)
    for name, value in zip(TAKEN, values, strict=True):
        setattr(Files, name, value)


def by_its_spec() -> None:
    """Take the newest version for an occurrence's own if it has the occurrence's spec."""
    unrecognized()
    product = occurrences._open_version

    def open_version(server: Server, due: occurrences._Due, requests: Requests) -> int:
        with server.database.read() as session:
            newest = datasets.visible_dataset(session, due.principal, due.spec.dataset)
        if newest.version > 1:
            return newest.version
        return product(server, due, requests)

    occurrences._open_version = open_version


def left(server: Server, at: datetime) -> tuple[int | None, Left]:
    """Return the version of a night on which an occurrence is due, and what there is of it."""
    with server.database.read() as session:
        rows = session.exec(select(Occurrence).where(col(Occurrence.due_at) == at)).all()
        number = rows[0].version if rows else None
        version = select(Dataset.id).where(col(Dataset.version) == number, Dataset.name == "stays")
        versions = session.exec(version).all()
        queries = session.exec(select(Query.id).where(col(Query.dataset_id).in_(versions))).all()
        charges = session.exec(select(Charge).where(col(Charge.query_id).in_(queries))).all()
        anchors = session.exec(select(Release).where(col(Release.query_id).in_(queries))).all()
    counted = (versions, queries, charges, anchors, ())
    return number, Left(tuple(row.state for row in rows), *map(len, counted))


def newest(server: Server) -> int:
    """Return the number of the newest version."""
    return datasets.show(server, OPERATOR, "stays").version
