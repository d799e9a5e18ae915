"""Provide the release transaction with its guards taken off, for the tests to catch.

The product's own steps in another order: neighbors are read, and the vector is drawn,
before the lock is taken.  ``gate`` stands between the reading and the writing, so that
every process has read before any writes.  Nothing here is left to luck.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select
from tests.faults.races.traced import Placed, place
from tests.faults.stage import Ask, settings_of, view_as

from penstock.errors import IntegrityViolation
from penstock.mechanisms import IntVector
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.sealed_state import open_state
from penstock.services.releases import releases
from penstock.services.releases.allowed import AllowedRequest, allowed_and_received
from penstock.services.releases.lookups import ReceivedRelease
from penstock.services.releases.releases import Answer
from penstock.services.schemas.queries import ReleaseRequest

Gate = Callable[[], object]
Variant = Callable[[Server, Principal, Ask, Gate], Answer]

RUNG, SEQ = "UNIQUE (query_id, rung)", "UNIQUE (query_id, seq)"


@dataclass(frozen=True)
class Early:
    """Hold what was read without a lock, and drawn from it."""

    seq: int
    release: Release | None
    accurate: Release | None
    noisy: Release | None
    steps: IntVector


def guarded(server: Server, principal: Principal, ask: Ask, _: Gate) -> Answer:
    """Return the product."""
    return releases.request(server, principal, ask.query, ReleaseRequest(level=ask.level))


def unlocked(server: Server, principal: Principal, ask: Ask, gate: Gate) -> Answer:
    """Take no lock: what was read is trusted when it is written, unless a UNIQUE objects.

    Whoever is refused by one starts over.
    """
    while True:
        early = _read(server, principal, ask)
        if isinstance(early, Answer):
            return early
        gate()
        gate = _open
        try:
            with server.database.write_beside() as session:
                return _written(session, server, principal, ask, early)
        except IntegrityViolation as refused:
            if not isinstance(refused.__cause__, IntegrityError):
                raise


def forging(server: Server, principal: Principal, ask: Ask, gate: Gate) -> Answer:
    """Draw from what was read early, take the lock, and record what should have been read."""
    early = _read(server, principal, ask)
    if isinstance(early, Answer):
        return early
    gate()
    with server.database.write() as session:
        now, _ = _looked_up(session, server, principal, ask)
        stored = _stored(session, now)
        if stored is not None:
            steps = open_state(server, now.dataset, now.query, stored)
            honest = Early(now.query.seq, stored, None, None, steps)
        else:
            below, above = _neighbors(session, now)
            honest = Early(now.query.seq, None, below, above, early.steps)
        return _written(session, server, principal, ask, honest)


def drop_uniques(folder: Path, *uniques: str, table: str = "release") -> None:
    """Take the named constraints off one of a home's tables."""
    url = settings_of(folder).migration_database_url
    if not url:
        _rebuild_without(folder, table, *uniques)
        return
    with psycopg.connect(url) as connection:
        for unique in uniques:
            (name,) = connection.execute(
                "SELECT conname FROM pg_constraint"
                " WHERE conrelid = %s::regclass AND pg_get_constraintdef(oid) = %s",
                [table, unique],
            ).fetchall()
            connection.execute(
                sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(
                    sql.Identifier(table), sql.Identifier(*name)
                )
            )


def _rebuild_without(folder: Path, table: str, *uniques: str) -> None:
    """Make the table again, since SQLite cannot drop a constraint."""
    connection = sqlite3.connect(folder / "database" / "penstock.db", isolation_level=None)
    ((made,),) = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", [table]
    )
    triggers = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", [table]
    ).fetchall()
    kept = [line for line in made.splitlines() if not any(one in line for one in uniques)]
    assert len(kept) == len(made.splitlines()) - len(uniques)
    connection.execute("BEGIN")
    connection.execute("\n".join(kept).replace(f"TABLE {table}", "TABLE rebuilt", 1))
    connection.execute(f"INSERT INTO rebuilt SELECT * FROM {table}")  # noqa: S608 - ours
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE rebuilt RENAME TO {table}")
    for (trigger,) in triggers:
        connection.execute(trigger)
    connection.execute("COMMIT")
    connection.close()


def _open() -> None:
    """Stand for the gate to those who have passed it once."""


def _read(server: Server, principal: Principal, ask: Ask) -> Early | Answer:
    with server.database.read() as session:
        now, received = _looked_up(session, server, principal, ask)
        if received is not None:
            steps = open_state(server, now.dataset, now.query, received)
            return releases._answer(server, now, received, steps, first=False)
        stored = _stored(session, now)
        if stored is not None:
            steps = open_state(server, now.dataset, now.query, stored)
            return Early(now.query.seq, stored, None, None, steps)
        accurate, noisy = _neighbors(session, now)

        def point(release: Release) -> Placed:
            steps = open_state(server, now.dataset, now.query, release)
            return now.kind.ladder.value(release.rung), steps

        assert accurate is not None
        steps = place(
            now.kind.mechanism,
            point(accurate),
            point(noisy) if noisy else None,
            now.kind.ladder.value(now.rung),
            server.randomness(),
        )
        return Early(now.query.seq, None, accurate, noisy, steps)


def _looked_up(
    session: Session, server: Server, principal: Principal, ask: Ask
) -> tuple[AllowedRequest, ReceivedRelease | None]:
    """Return what the product looks up, with the query's row in this transaction."""
    target = ReleaseRequest(level=ask.level)
    now, received = allowed_and_received(session, server, principal, ask.query, target)
    row = session.get_one(Query, required(now.query.id))
    return replace(now, known=replace(now.known, query=row)), received


def _neighbors(session: Session, now: AllowedRequest) -> tuple[Release | None, Release | None]:
    rung, of_query = col(Release.rung), select(Release).where(Release.query_id == now.query.id)
    accurate = session.exec(of_query.where(rung < now.rung).order_by(rung.desc()).limit(1)).first()
    return accurate, session.exec(of_query.where(rung > now.rung).order_by(rung).limit(1)).first()


def _stored(session: Session, now: AllowedRequest) -> Release | None:
    return session.exec(
        select(Release)
        .where(col(Release.query_id) == now.query.id, col(Release.rung) == now.rung)
        .order_by(col(Release.id))
    ).first()


def _written(
    session: Session, server: Server, principal: Principal, ask: Ask, early: Early
) -> Answer:
    now, _ = _looked_up(session, server, principal, ask)
    release = early.release
    if release is None:
        now.query.seq = early.seq
        release = releases.store(
            session,
            server,
            now.dataset,
            now.query,
            now.rung,
            early.steps,
            early.accurate,
            early.noisy,
        )
    leaf = releases._hand_out(session, server, principal, now, release, early.steps)
    return Answer(view_as(now, release, leaf, early.steps), first=True, drawn=0)
