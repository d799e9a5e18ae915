"""Define a home in which analysts request counts of stays, and what processes do there."""

import json
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Literal

from sqlalchemy.exc import IntegrityError, MultipleResultsFound
from sqlmodel import Session
from tests.faults.kills.steps import REGISTRATION, Steps
from tests.faults.stage import TIERS, analyst, build, choices, open_home, opened

from penstock.connectors.planning.refusals import checked
from penstock.errors import Conflict
from penstock.persistence.tables import Query, Request
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.requests import asking, decisions, rows
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.schemas.requests.specs import AskRequest, DecisionRequest

REQUESTERS = (analyst(1), analyst(3))
"""Analysts of the upper tier, for whom queries at both tiers can be requested."""

_STAYS: dict[str, Any] = {
    "name": "stays",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "columns": {
        "person": {"type": "string"},
        "nights": {"type": "integer", "lower": 0, "upper": 10_000},
    },
    "budgets": {tier: {"epsilon": 20.0} for tier in TIERS},
}

FILES = (
    "services/requests/decisions.py",
    "services/requests/logged_requests.py",
    *REGISTRATION,
)

Decide = Callable[[Server, str, str, Barrier], str]


def build_requests(folder: Path) -> None:
    """Build a home with four analysts and a dataset of which queries may be requested."""
    build(folder, analysts=4)
    file = folder.with_name(f"{folder.name}-stays.csv")
    file.write_text("person,nights\n" + "".join(f"p{number},{number}\n" for number in range(50)))
    with opened(folder) as server:
        source = {"engine": "duckdb", "uri": str(file)}
        request = DatasetRequest.model_validate({**_STAYS, "source": source})
        datasets.register(server, OPERATOR, request)


def ask(server: Server, person: str, number: int) -> str:
    """Request the count of stays of at most ``number`` nights; return the request's identifier."""
    fields = {
        "name": query_name(number),
        "dataset": "stays",
        "where": [{"column": "nights", "op": "<=", "value": number}],
        "aggregate": {"type": "count_units"},
        "mechanism": "laplace",
        "levels": {"public": {"epsilon": 0.02}, "internal": {"epsilon": 0.04}},
        "purpose": "The yearly report",
    }
    view = asking.ask(server, acting_as(server, person), checked(AskRequest, fields))
    assert view.id is not None
    return view.id


def query_name(number: int) -> str:
    return f"query-{number}"


def decide(server: Server, public_id: str, decision: Literal["approve", "decline"]) -> str:
    """Decide about a request as the operator; return its state."""
    sent = DecisionRequest(decision=decision)
    return decisions.decide(server, OPERATOR, public_id, sent).state


def approve_once(home: Path, steps: Steps, taken: Path, public_id: str) -> None:
    """Approve a request, and end at the step that ``steps`` names."""
    server = open_home(home)
    with steps.watching():
        decide(server, public_id, "approve")
    taken.write_text(json.dumps(steps.taken))


def in_two_transactions(home: Path, steps: Steps, taken: Path, public_id: str) -> None:
    """Approve by a broken variant: the decision is stored after the query was registered."""
    product = registration.register

    def register(*arguments: Any, also: Callable[[Session, Query], None], **version: Any) -> Any:
        view = product(*arguments, **version)
        server: Server = arguments[0]
        with server.database.write() as session:
            query = rows.same_statistic(session, _hash_of(session, public_id))
            assert query is not None
            also(session, query)
        return view

    vars(registration)["register"] = register
    approve_once(home, steps, taken, public_id)


def _hash_of(session: Session, public_id: str) -> str:
    asker = rows.asker_row(session, OPERATOR, public_id)
    return session.get_one(Request, asker.request_id).canonical_hash


def deciding(server: Server, public_id: str, decision: Any, _: Barrier) -> str:
    """Decide as the product does."""
    return decide(server, public_id, decision)


def unchecked(server: Server, public_id: str, decision: Any, _: Barrier) -> str:
    """Decide by a broken variant, which does not look whether others have decided."""
    vars(rows)["require_undecided"] = lambda *_: None
    return decide(server, public_id, decision)


def compete(
    home: Path, number: int, requests: list[str], act: Decide, barrier: Barrier, told: Path
) -> None:
    """Decide about all requests: those with even numbers approve, the others decline."""
    server = open_home(home)
    order = choices("requests", number).permutation(len(requests))
    states = {}
    barrier.wait()
    for public_id in (requests[place] for place in order):
        with suppress(Conflict, IntegrityError, MultipleResultsFound):
            decision = "decline" if number % 2 else "approve"
            states[public_id] = act(server, public_id, decision, barrier)
    told.write_text(json.dumps(states))


def compete_asking(home: Path, number: int, count: int, barrier: Barrier, told: Path) -> None:
    """Request the same ``count`` statistics as others do at the same time."""
    server = open_home(home)
    order = [int(place) for place in choices("ask", number).permutation(count)]
    barrier.wait()
    identifiers = {place: ask(server, REQUESTERS[number % 2], place) for place in order}
    told.write_text(json.dumps([identifiers[place] for place in range(count)]))
