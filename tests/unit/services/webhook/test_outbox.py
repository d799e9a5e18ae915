"""Test that a message waits with what it tells, is sent by one process, and ends."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from sqlmodel import delete
from tests.unit.services.requests.requesting import ask, decide
from tests.unit.services.webhook.receiver import with_webhook
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden
from penstock.persistence.tables import Delivery
from penstock.services.access.principals import OPERATOR
from penstock.services.requests import decisions
from penstock.services.webhook import outbox
from penstock.services.webhook.outbox import MOST_ATTEMPTS, DeliveryView
from penstock.services.webhook.posting import Outcome

pytestmark = pytest.mark.each_database

FAILED = Outcome(delivered=False, answer="status 503")
TAKEN = Outcome(delivered=True, answer="status 204")


@pytest.fixture
def told(stays: World) -> World:
    return with_webhook(stays, "https://example.org/")


def listed(world: World) -> list[DeliveryView]:
    return outbox.listing(world.server, OPERATOR)


def attempted(world: World, outcome: Outcome) -> None:
    (number,) = outbox.due(world.server)
    claim = outbox.claim(world.server, number)
    assert claim is not None
    outbox.settle(world.server, claim, outcome)


def test_a_message_waits_for_each_request_and_for_each_who_is_told_of_a_decision(
    told: World,
) -> None:
    first, second = ask(told, "ines"), ask(told, "iris")
    ask(told, "ines")
    decide(told, "ada", first, "decline")
    events = [(view.event, view.request, view.state) for view in listed(told)]
    assert events == [
        ("request.opened", first.id, "waiting"),
        ("request.opened", second.id, "waiting"),
        ("request.decided", first.id, "waiting"),
        ("request.decided", second.id, "waiting"),
    ]
    with pytest.raises(Forbidden):
        outbox.listing(told.server, told.person("ines"))


def test_without_a_webhook_nothing_waits(stays: World) -> None:
    decide(stays, "ada", ask(stays), "decline")
    assert listed(stays) == []


def test_what_is_refused_tells_nothing(told: World, monkeypatch: pytest.MonkeyPatch) -> None:
    view = ask(told)

    def refuse(*_: object) -> None:
        raise Conflict("no")

    monkeypatch.setattr(decisions, "record_decision", refuse)
    with pytest.raises(Conflict):
        decide(told, "ada", view, "decline")
    assert [each.event for each in listed(told)] == ["request.opened"]


def test_one_of_two_processes_claims_a_message(told: World) -> None:
    for _ in range(3):
        told.clock.forward(days=1)
        view = ask(told)
        (number,) = outbox.due(told.server)
        barrier = Barrier(2)

        def claim(_: int, number: int = number, barrier: Barrier = barrier) -> bool:
            barrier.wait()
            return outbox.claim(told.server, number) is not None

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(claim, range(2))) == [False, True]
        decide(told, "ada", view, "decline")
        with told.server.database.write() as session:
            session.exec(delete(Delivery))


def test_a_message_of_a_process_that_ended_is_due_again(told: World) -> None:
    ask(told)
    (number,) = outbox.due(told.server)
    assert outbox.claim(told.server, number) is not None
    assert outbox.due(told.server) == []
    told.clock.forward(seconds=60)
    assert outbox.due(told.server) == [number]


def test_a_failed_message_is_tried_with_growing_pauses_and_given_up(told: World) -> None:
    ask(told)
    pauses = []
    for _ in range(MOST_ATTEMPTS):
        attempted(told, FAILED)
        assert outbox.due(told.server) == []
        (view,) = listed(told)
        if view.next_at is not None:
            pauses.append((view.next_at - told.clock()) // timedelta(minutes=1))
            told.clock.now = view.next_at
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]
    assert (view.state, view.answer, view.attempts) == ("given_up", "status 503", 12)
    assert outbox.backlog(told.server) == outbox.Backlog(0, 1)
    (again,) = outbox.retry(told.server, OPERATOR)
    assert (again.state, again.attempts) == ("waiting", 0)
    attempted(told, TAKEN)
    (view,) = listed(told)
    assert (view.state, view.answer) == ("delivered", "status 204")
    assert outbox.backlog(told.server) == outbox.Backlog(0, 0)


def test_who_ends_in_the_last_attempt_leaves_no_message_that_waits(told: World) -> None:
    ask(told)
    (number,) = outbox.due(told.server)
    for _ in range(MOST_ATTEMPTS):
        assert outbox.claim(told.server, number) is not None
        told.clock.forward(hours=6)
    assert outbox.claim(told.server, number) is None
    (view,) = listed(told)
    assert view.state == "given_up"


def test_a_message_that_another_process_delivered_stays_delivered(told: World) -> None:
    ask(told)
    (number,) = outbox.due(told.server)
    late = outbox.claim(told.server, number)
    told.clock.forward(minutes=1)
    attempted(told, TAKEN)
    assert late is not None
    outbox.settle(told.server, late, FAILED)
    (view,) = listed(told)
    assert (view.state, view.answer) == ("delivered", "status 204")


def test_what_ended_long_ago_is_forgotten(told: World) -> None:
    ask(told)
    attempted(told, TAKEN)
    told.clock.forward(days=31)
    ask(told, "iris")
    attempted(told, TAKEN)
    assert len(listed(told)) == 1
