"""Test people who request, and decide about requests, at the same time: each is decided once."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlmodel import select
from tests.faults import processes
from tests.faults.figures import amounts
from tests.faults.races.unguarded import drop_uniques
from tests.faults.requests.requesting import (
    REQUESTERS,
    Decide,
    ask,
    build_requests,
    compete,
    compete_asking,
    deciding,
    query_name,
    unchecked,
)
from tests.faults.stage import TIERS, opened

from penstock.persistence.tables import Asker, Charge, Leaf, Query, Request, RequestDecision
from penstock.services.access.principals import OPERATOR
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.each_database

COUNT = 2
UNIQUE = "UNIQUE (request_id)"
at_once = pytest.mark.parametrize("count", amounts("FAULTS_REQUEST_PROCESSES", few=3, many=12))


@pytest.fixture
def home(tmp_path: Path, template: Callable[..., Path]) -> Path:
    return template(tmp_path / "home", "requests", build_requests)


def requested(home: Path, count: int = COUNT) -> list[str]:
    with opened(home) as server:
        return [ask(server, REQUESTERS[0], number) for number in range(count)]


def run(home: Path, count: int, act: Callable[..., None], *arguments: object) -> list[object]:
    """Let so many processes act at once; return what each was told."""
    barrier, told = processes.barrier(count), home.with_name("told")
    processes.finish(
        [
            processes.start(
                home.with_name(f"errors-{number}"),
                act,
                *(home, number, *arguments, barrier, told.with_suffix(f".{number}")),
            )
            for number in range(count)
        ]
    )
    return [json.loads(told.with_suffix(f".{number}").read_text()) for number in range(count)]


def decided(home: Path) -> list[str]:
    """Return the outcomes of all decisions."""
    with opened(home) as server, server.database.read() as session:
        return [row.outcome for row in session.exec(select(RequestDecision)).all()]


def race(home: Path, count: int, requests: list[str], act: Decide) -> list[object]:
    return run(home, count, compete, requests, act)


@at_once
def test_a_request_that_many_approve_and_decline_at_once_is_decided_once(
    home: Path, count: int
) -> None:
    requests = requested(home)
    answers = race(home, count, requests, deciding)
    outcomes = {}
    for told in answers:
        assert isinstance(told, dict)
        for public_id, state in told.items():
            assert public_id not in outcomes, "two were told that they decided"
            outcomes[public_id] = state
    assert set(outcomes) == set(requests)
    approved = {query_name(n) for n, each in enumerate(requests) if outcomes[each] == "approved"}
    with opened(home) as server:
        assert verify(server, OPERATOR).problems == []
        with server.database.read() as session:
            queries = {row.name: row.id for row in session.exec(select(Query)).all()}
            charges = [row.query_id for row in session.exec(select(Charge)).all()]
            leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
    assert set(queries) == approved
    assert all(charges.count(key or 0) == len(TIERS) for key in queries.values())
    ends = [leaf for leaf in leaves if leaf.get("act") in ("approved", "declined")]
    assert sorted(leaf["act"] for leaf in ends) == sorted(outcomes.values())


@at_once
def test_equal_requests_of_two_analysts_at_once_are_one_and_each_has_an_own_name(
    home: Path, count: int
) -> None:
    answers = run(home, count, compete_asking, COUNT)
    by_person = {json.dumps(told): number % 2 for number, told in enumerate(answers)}
    assert sorted(by_person.values()) == [0, 1]
    with opened(home) as server:
        assert verify(server, OPERATOR).problems == []
        with server.database.read() as session:
            assert len(session.exec(select(Request)).all()) == COUNT
            assert len(session.exec(select(Asker)).all()) == 2 * COUNT


def test_the_unique_alone_lets_one_of_them_decide(home: Path) -> None:
    race(home, 2, requested(home, 1), unchecked)
    assert len(decided(home)) == 1


def test_without_a_look_and_the_unique_a_request_is_approved_and_declined(home: Path) -> None:
    drop_uniques(home, UNIQUE, table="request_decision")
    race(home, 2, requested(home, 1), unchecked)
    assert sorted(decided(home)) == ["approved", "declined"]
