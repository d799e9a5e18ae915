"""Test ``kill -9`` while a request is approved: decided and charged at once, or not at all."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlmodel import select
from tests.faults.figures import figure
from tests.faults.kills.aftermath import Aftermath
from tests.faults.kills.killing import killed
from tests.faults.kills.steps import Steps, chosen
from tests.faults.requests.requesting import (
    FILES,
    REQUESTERS,
    approve_once,
    ask,
    build_requests,
    decide,
    in_two_transactions,
    query_name,
)
from tests.faults.stage import TIERS, opened

from penstock.persistence.tables import Asker, Charge, Leaf, Query, Release, RequestDecision
from penstock.services.access.principals import acting_as
from penstock.services.context import Server
from penstock.services.requests import views

STRIDE = figure("FAULTS_REQUEST_STRIDE", 64)
MOMENTS = ("before INSERT INTO request_decision", "before INSERT INTO release")


WHOLES = range(2)
"""The requests that are approved without a kill, to name its steps."""


class Left(NamedTuple):
    """Hold what there is of a request's approval, in rows."""

    decisions: int
    status: str
    charges: int
    anchors: int
    leaves: int


OPEN = Left(0, "", 0, 0, 0)
CHARGED = Left(1, "pending", len(TIERS), 0, len(TIERS) + 2)
WHOLE = Left(1, "active", len(TIERS), 1, len(TIERS) + 2)
"""The leaves of the decision, the query, and its level at each tier."""


@pytest.fixture
def home(tmp_path: Path, template: Callable[..., Path]) -> Path:
    return template(tmp_path / "home", "requests", build_requests)


def moments(taken: Sequence[str]) -> list[str]:
    """Return a step in each of the two transactions, and that after each COMMIT behind them."""
    near = [taken.index(step) for step in MOMENTS]
    commits = [place for place, step in enumerate(taken) if step.startswith("before COMMIT")]
    ends = [next(place for place in commits if place > start) for start in near]
    return [taken[place] for place in sorted([*near, *(end + 1 for end in ends)])]


def left(server: Server, public_id: str, number: int) -> Left:
    """Return what there is of an approval."""
    with server.database.read() as session:
        asker = session.exec(select(Asker).where(Asker.public_id == public_id)).one()
        made = select(RequestDecision).where(RequestDecision.request_id == asker.request_id)
        query = session.exec(select(Query).where(Query.name == query_name(number))).first()
        key = None if query is None else query.id
        leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
        return Left(
            len(session.exec(made).all()),
            "" if query is None else query.status,
            len(session.exec(select(Charge).where(Charge.query_id == key)).all()),
            len(session.exec(select(Release).where(Release.query_id == key)).all()),
            sum(leaf.get("query") == query_name(number) for leaf in leaves),
        )


@pytest.mark.parametrize(
    ("choose", "least"),
    [
        pytest.param(moments, 4, id="few"),
        pytest.param(partial(chosen, stride=STRIDE), 50, id="many", marks=pytest.mark.nightly),
    ],
)
def test_an_approval_that_is_killed_at_any_step_is_finished_by_repeating_it(
    home: Path, choose: Callable[[Sequence[str]], Sequence[str]], least: int
) -> None:
    steps = _approved_whole(home)
    outcomes = []
    tried = dict(enumerate(choose(steps), start=len(WHOLES)))
    with opened(home) as server:
        requests = {number: ask(server, REQUESTERS[0], number) for number in tried}
        assert {left(server, requests[number], number) for number in tried} == {OPEN}
        aftermath = Aftermath(server)
    for number, step in tried.items():
        public_id = requests[number]
        act = partial(approve_once, public_id=public_id)
        was_killed = killed(home, act, Steps(FILES, step)) is None
        with opened(home) as server:
            after = left(server, public_id, number)
            assert was_killed or after == WHOLE
            if was_killed:
                outcomes.append(after)
            if after != WHOLE:
                assert decide(server, public_id, "approve") == "approved"
            assert left(server, public_id, number) == WHOLE
            assert aftermath.complaints(server) == []
            own = views.show(server, acting_as(server, REQUESTERS[0]), public_id)
            assert (own.state, own.query) == ("approved", query_name(number))
    assert len(outcomes) >= least
    assert list(dict.fromkeys(outcomes)) == [OPEN, CHARGED, WHOLE]
    assert outcomes == sorted(outcomes, key=[OPEN, CHARGED, WHOLE].index)
    with opened(home) as server:
        assert aftermath.final_complaints(server, []) == []


def test_a_decision_beside_the_charge_s_transaction_is_found_to_be_missing(home: Path) -> None:
    with opened(home) as server:
        public_id = ask(server, REQUESTERS[0], 0)
    act = partial(in_two_transactions, public_id=public_id)
    assert killed(home, act, Steps(named="before INSERT INTO request_decision")) is None
    with opened(home) as server:
        after = left(server, public_id, 0)
    assert (after.decisions, after.charges) == (0, len(TIERS))


def _approved_whole(home: Path) -> list[str]:
    """Return the steps of an approval; they differ with what the tree of the log has."""
    found: list[str] = []
    with opened(home) as server:
        requests = [ask(server, REQUESTERS[0], number) for number in WHOLES]
    for public_id in requests:
        taken = killed(home, partial(approve_once, public_id=public_id), Steps(FILES))
        assert taken is not None
        found = max(found, taken, key=len)
    return found
