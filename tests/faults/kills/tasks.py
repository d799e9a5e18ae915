"""Define what the processes do that the tests kill."""

import json
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Engine, event
from sqlmodel import Session
from tests.faults.kills.steps import Steps
from tests.faults.reports import Report
from tests.faults.stage import (
    REACH,
    Ask,
    analyst,
    answer,
    asks,
    choices,
    open_home,
    vector_query,
    view_as,
)

from penstock.mechanisms import IntVector
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.context import Server
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.queries.registration import register
from penstock.services.releases import releases
from penstock.services.releases.allowed import AllowedRequest
from penstock.services.releases.grants import HandedRelease
from penstock.services.releases.releases import Answer
from penstock.transparency_log.leaves import AppendedLeaf

Flaw = Callable[[Server, Report, Ask], None]

READER = analyst(0)


def keep_asking(home: Path, number: int, queries: int, told: Path) -> None:
    """Ask for one random level after the other, until somebody ends it."""
    server = open_home(home)
    report = Report(told)
    random = choices("keep asking", number)
    reader = analyst(number % 2)
    while True:
        query = f"query-{random.integers(queries)}"
        (ask,) = asks(server, query, [1 + int(random.integers(REACH))])
        report.add(reader, ask, answer(server, reader, ask))


def ask_once(home: Path, ask: Ask, steps: Steps, flaw: Flaw, told: Path, taken: Path) -> None:
    """Ask for one release, and end at the step that ``steps`` names."""
    server = open_home(home)
    report = Report(told)
    flaw(server, report, ask)
    with steps.watching():
        got = answer(server, READER, ask)
    report.add(READER, ask, got)
    taken.write_text(json.dumps(steps.taken))


def register_once(home: Path, name: str, steps: Steps, taken: Path) -> None:
    """Register a query, and end at the step that ``steps`` names."""
    server = open_home(home)
    request = vector_query(name, "laplace")
    with steps.watching():
        register(server, OPERATOR, request)
    taken.write_text(json.dumps(steps.taken))


def no_flaw(server: Server, report: Report, ask: Ask) -> None:
    """Leave the product as it is."""


def hasty(server: Server, report: Report, ask: Ask) -> None:
    """Answer from inside the transaction, before it is committed."""
    product = releases._hand_out

    def hand_out(
        session: Session,
        server: Server,
        principal: Principal,
        allowed: AllowedRequest,
        release: HandedRelease,
        steps: IntVector | LongVector,
        leaf_id: int | None = None,
    ) -> AppendedLeaf:
        leaf = product(session, server, principal, allowed, release, steps, leaf_id)
        view = view_as(allowed, release, leaf, steps)
        report.add(READER, ask, Answer(view, first=True, drawn=0))
        return leaf

    releases._hand_out = hand_out


def unlogged(server: Server, report: Report, ask: Ask) -> None:
    """Answer without waiting for the log."""
    server.database.watch = None
    vars(server.sequencer)["covers"] = lambda _: True


def piecemeal(server: Server, report: Report, ask: Ask) -> None:
    """Commit after every statement, so that a release is several transactions.

    On PostgreSQL the product stores all rows of a hand-out by one statement; here, as on SQLite, by
    one statement each.
    """
    product = releases._hand_out

    def hand_out(
        session: Session,
        server: Server,
        principal: Principal,
        allowed: AllowedRequest,
        release: HandedRelease,
        steps: IntVector | LongVector,
        leaf_id: int | None = None,
    ) -> AppendedLeaf:
        return product(session, server, principal, allowed, release, steps)

    releases._hand_out = hand_out
    begin = "BEGIN" if server.settings.database_url else "BEGIN IMMEDIATE"

    def commit(connection: Connection, *arguments: object) -> None:
        if str(arguments[1]).startswith(("INSERT", "UPDATE")):
            driver = connection.connection.dbapi_connection
            assert driver is not None
            driver.cursor().execute("COMMIT")
            driver.cursor().execute(begin)

    event.listen(Engine, "after_cursor_execute", commit)
