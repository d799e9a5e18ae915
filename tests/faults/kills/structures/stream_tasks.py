"""Provide what processes do with the elements of a stream that the tests kill."""

import json
from pathlib import Path
from typing import Any

from sqlmodel import Session
from tests.faults.kills.steps import Steps
from tests.faults.kills.tasks import Flaw
from tests.faults.reports import Report
from tests.faults.stage import Ask, analyst, open_home

from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.schemas.streams import ElementsRequest
from penstock.services.streams import sealed_stream, stream_elements, stream_totals

BATCH = 3


def push(server: Server, first: int) -> None:
    sent = ElementsRequest.model_validate({"from": first, "values": list(range(BATCH))})
    stream_elements.push(server, OPERATOR, "hits", sent)


def push_once(home: Path, first: int, steps: Steps, flaw: Flaw, taken: Path) -> None:
    """Push a batch, and end at the step that ``steps`` names."""
    server = open_home(home)
    flaw(server, Report(taken), Ask("hits", 0, 0.0))
    with steps.watching():
        push(server, first)
    taken.write_text(json.dumps(steps.taken))


def parted(server: Server, report: Report, ask: Ask) -> None:
    """Commit the state before the outputs, so that a batch is two transactions."""
    product = sealed_stream.add_outputs
    begin = "BEGIN" if server.settings.database_url else "BEGIN IMMEDIATE"

    def add_outputs(session: Session, *arguments: Any) -> None:
        session.flush()
        driver = session.connection().connection.dbapi_connection
        assert driver is not None
        driver.cursor().execute("COMMIT")
        driver.cursor().execute(begin)
        product(session, *arguments)

    vars(stream_elements)["add_outputs"] = add_outputs


def read_once(home: Path, steps: Steps, taken: Path) -> None:
    """Read all totals, and end at the step that ``steps`` names."""
    server = open_home(home)
    with steps.watching():
        totals(server, 1)
    taken.write_text(json.dumps(steps.taken))


def totals(server: Server, number: int) -> list[Any]:
    """Return what an analyst is given: 0 is cleared for public, 1 for internal."""
    found = stream_totals.read(server, acting_as(server, analyst(number)), "hits")
    return [item.values.tolist() for item in found.items]
