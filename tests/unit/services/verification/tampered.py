"""Provide a world with rows in every table that is authenticated, and whoever can write to them."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import sqlmodel
from sqlalchemy import Connection, create_engine, delete, insert, select, text
from sqlalchemy.pool import NullPool
from tests.unit import worlds
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.persistence import row_authentication, tables
from penstock.persistence.append_only import HISTORY
from penstock.persistence.tables import (
    Allowance,
    AllowanceCharge,
    Asker,
    Decision,
    FedElement,
    GroupMapping,
    Invitation,
    Occurrence,
    Proposal,
    ProviderAccount,
    Request,
    RequestComment,
    RequestDecision,
    Schedule,
    SpentFloor,
    Withdrawal,
    Wording,
    metadata,
)
from penstock.services.access import sessions
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections, datasets
from penstock.services.jobs import idempotency, jobs
from penstock.services.jobs.jobs import JobRequest
from penstock.services.people import tokens
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
)

TOKENS = "tokens.json"
KINDS = tuple(getattr(tables, name) for name in tables.__all__ if name != "metadata")
TABLES = tuple(row_authentication.signed_tables())


def fill(world: World) -> dict[str, str]:
    """Put at least two rows into every table that is authenticated; tokens by their users."""
    server = world.server
    datasets.register(server, OPERATOR, DatasetRequest.model_validate({**SITES, "name": "others"}))
    world.push()
    world.push("second", share=0.01, levels=None)
    for name in ("pia", "paul", "ines"):
        world.ask(name)
    given = {
        name: tokens.issue(server, OPERATOR, name, TokenSpec()) for name in ("pia", "ines", "ada")
    }
    tokens.revoke(server, OPERATOR, "ada", given["ada"].prefix)
    for name in ("pia", "ines"):
        sessions.sign_in(server, given[name].token)
    for key in ("first", "second"):
        begun = idempotency.open_request(
            server, world.person("ada"), key, idempotency.fingerprint(server, b"x")
        )
        assert isinstance(begun, idempotency.OpenRequest)
        idempotency.finish(server, begun, 200, b"{}")
    for key in ("first", "second"):
        wanted = JobRequest(
            "export_log", key, idempotency.fingerprint(server, b"x"), "a=b", "the log"
        )
        piece = jobs.start_job(server, world.person("otto"), wanted, "here").piece
        jobs.finish(server, piece.id, piece.attempt, "log.jsonl")
    for delta in (1e-7, 1e-8):
        corrections.correct(server, OPERATOR, "others", CorrectionRequest(delta=delta))
    store(world)
    return {name: one.token for name, one in given.items()}


def store(world: World) -> None:
    """Put two rows into tables that no use case fills so early, such as floors and proposals."""
    with world.server.database.write() as session:
        now = world.clock()
        for number in (1, 2):
            session.add(SpentFloor(dataset_id=1, tier_id=number, loss=7, failure=0, at=now))
            session.add(_allowance(number, now))
            session.flush()
            session.add(_taken(number, now))
            session.add_all(
                [*_of_provider(number, now), _invitation(number, now), _wording(number, now)]
            )
            session.add(FedElement(query_id=number, dataset_id=1, step=number, created_at=now))
            proposal = Proposal(
                public_id=f"proposal-{number}",
                act="delete_tier",
                request='{"act":"delete_tier","tier":"public"}',
                basis="{}",
                by="ada",
                at=now,
                expires_at=now + timedelta(days=number),
            )
            name = f"schedule-{number}"
            schedule = Schedule(name=name, folded=name, user_id=1, spec="{}", created_at=now)
            session.add_all([proposal, schedule])
            session.flush()
            session.add(
                Decision(
                    proposal_id=proposal.id or 0,
                    outcome="failed",
                    proposed_by="ada",
                    by="bea",
                    at=now,
                    reason="too late",
                )
            )
            session.add(Occurrence(schedule_id=schedule.id or 0, due_at=now, state="pending"))
            request = Request(dataset_id=1, canonical_hash=f"{number:064}", turn=1, at=now)
            session.add(request)
            session.flush()
            add_rows(session, request, number)


def add_rows(session: sqlmodel.Session, request: Request, number: int) -> None:
    """Put a row into every table of requests."""
    key, now = request.id or 0, request.at
    asker = Asker(
        public_id=f"asker-{number}",
        request_id=key,
        user_id=1,
        turn=1,
        spec="{}",
        purpose="a report",
        at=now,
    )
    session.add(asker)
    session.flush()
    session.add(Withdrawal(asker_id=asker.id or 0, at=now))
    session.add(RequestComment(request_id=key, by="ada", comment="Why?", at=now))
    of = asker.id or 0
    decision = RequestDecision(request_id=key, asker_id=of, outcome="declined", by="ada", at=now)
    session.add(decision)


def _of_provider(number: int, now: datetime) -> list[sqlmodel.SQLModel]:
    """Return a group and a user's account of a provider."""
    issuer = "https://id.example.org"
    mapping = GroupMapping(
        issuer=issuer, group_name="g", version=number, roles="", tier_id=1, at=now, by="ada"
    )
    account = ProviderAccount(
        user_id=number, issuer=issuer, subject=f"{number}", follows=True, created_at=now
    )
    return [mapping, account]


def _invitation(number: int, now: datetime) -> Invitation:
    return Invitation(
        prefix=f"invited{number}",
        digest=bytes(32),
        name=f"new-{number}",
        folded=f"new-{number}",
        roles="analyst",
        tier_id=number,
        by="ada",
        inviter_id=number,
        parent_id=number,
        created_at=now,
        expires_at=now + timedelta(days=number),
    )


def _wording(number: int, now: datetime) -> Wording:
    texts: dict[str, Any] = {"title": "Visits", "description": "", "measured_in": "days"}
    texts |= {"tags": "[]", "labels": "{}", "owners": "[]"}
    return Wording(**texts, query_id=number, version=1, at=now, by="ada")


def _allowance(number: int, now: datetime) -> Allowance:
    return Allowance(
        dataset_id=1,
        tier_id=number,
        version=1,
        epsilon=0.5,
        delta=1e-6,
        order=57.0,
        limit_loss=1 << 38,
        limit_failure=1 << 40,
        spent_loss=0,
        spent_failure=0,
        at=now,
        by="operator",
    )


def _taken(number: int, now: datetime) -> AllowanceCharge:
    """Return what the query of this number took of the allowance of this number."""
    return AllowanceCharge(
        allowance_id=number,
        seq=0,
        query_id=number,
        rung=4000,
        loss=5,
        failure=5,
        loss_total=5,
        failure_total=5,
        at=now,
    )


def filled(world: World) -> None:
    """Fill a world of nothing, and keep the tokens in its home."""
    worlds.fill(world)
    (world.server.settings.home / TOKENS).write_text(json.dumps(fill(world)))


def tokens_of(world: World) -> dict[str, str]:
    """Return the tokens of a world that was ``filled``, by their users."""
    kept: dict[str, str] = json.loads((world.server.settings.home / TOKENS).read_text())
    return kept


@contextmanager
def owned(world: World) -> Iterator[Connection]:
    """Yield the database as its owner has it, and SQLite without foreign keys and checks."""
    url = world.server.settings.resolved_migration_url.replace("postgresql:", "postgresql+psycopg:")
    with create_engine(url, poolclass=NullPool).connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.execute(text("PRAGMA ignore_check_constraints = ON"))
        yield connection
        connection.commit()


@contextmanager
def unguarded(world: World) -> Iterator[Connection]:
    """Yield the database as its owner has it, with triggers off too."""
    with owned(world) as connection:
        if connection.dialect.name == "sqlite":
            kept = triggers(connection)
            off = [f'DROP TRIGGER "{name}"' for name, _ in kept]
            on = [statement for _, statement in kept]
        else:
            off = [f'ALTER TABLE IF EXISTS "{table}" DISABLE TRIGGER USER' for table in HISTORY]
            on = [f'ALTER TABLE IF EXISTS "{table}" ENABLE TRIGGER USER' for table in HISTORY]
        for statement in off:
            connection.execute(text(statement))
        yield connection
        for statement in on:
            connection.execute(text(statement))


def triggers(connection: Connection) -> Sequence[tuple[str, str]]:
    """Return the triggers of an SQLite database, and how they are made."""
    found = connection.execute(
        text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
    )
    return [(name, statement) for name, statement in found]


def alter(world: World, statement: str) -> None:
    """Change the database by a statement, as somebody would who owns it."""
    with unguarded(world) as connection:
        assert connection.execute(text(statement)).rowcount > 0


def put_back(world: World, table: str, rows: Sequence[Any]) -> None:
    """Let a table have these rows and no others."""
    with unguarded(world) as connection:
        connection.execute(delete(metadata.tables[table]))
        if rows:
            connection.execute(insert(metadata.tables[table]), [dict(row) for row in rows])


def rows_of(world: World, name: str) -> list[Any]:
    """Return the rows of a table as they are, by their number."""
    table = metadata.tables[name]
    with world.server.database.read() as session:
        return list(session.connection().execute(select(table).order_by(table.c.id)).mappings())


def read_all(world: World, table: str) -> int:
    """Load every row of a table as services do; how many there are."""
    kind = next(kind for kind in KINDS if kind.__tablename__ == table)
    with world.server.database.read() as session:
        return len(session.exec(sqlmodel.select(kind)).all())
