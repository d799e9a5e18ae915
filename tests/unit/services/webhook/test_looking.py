"""Test that a receiver on this machine gets each message, and that nobody waits for it."""

import threading
from collections.abc import Iterator

import pytest
from tests.unit.services.requests.requesting import ask, decide
from tests.unit.services.webhook.receiver import (
    HANG,
    SECRET,
    Receiver,
    receiving,
    status,
    with_webhook,
)
from tests.unit.worlds import World

from penstock.errors import DatabaseUnavailable, IntegrityViolation, Unavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.people import users
from penstock.services.schemas.people.users import UserChange
from penstock.services.webhook import looking, messages, outbox
from penstock.transparency_log import tree_store

pytestmark = pytest.mark.each_database

FIELDS = {"event", "delivery", "request", "state", "dataset", "tiers", "query", "at"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def told(stays: World, receiver: Receiver) -> World:
    return with_webhook(stays, receiver.url)


def test_each_event_is_delivered_once_signed_with_the_promised_fields(
    told: World, receiver: Receiver
) -> None:
    view = ask(told)
    looking.look(told.server)
    decide(told, "ada", view, "approve")
    looking.look(told.server)
    looking.look(told.server)
    sent = [message.fields for message in receiver.messages]
    assert [set(fields) for fields in sent] == [FIELDS, FIELDS]
    assert [(fields["event"], fields["state"], fields["query"]) for fields in sent] == [
        ("request.opened", "open", None),
        ("request.decided", "approved", "by_town"),
    ]
    assert {view.state for view in outbox.listing(told.server, OPERATOR)} == {"delivered"}


def test_a_leaf_that_is_an_event_is_delivered_once_signed(world: World, receiver: Receiver) -> None:
    told = with_webhook(world, receiver.url, "clearance.raised")
    looking.look(told.server)
    change = UserChange.model_validate({"clearance": "internal"})
    users.change(told.server, told.person("ada"), "pia", change)
    looking.look(told.server)
    looking.look(told.server)
    (fields,) = [message.fields for message in receiver.messages]
    assert (fields["event"], fields["user"], fields["by"]) == ("clearance.raised", "pia", "ada")
    (view,) = outbox.listing(told.server, OPERATOR)
    assert (view.state, view.leaf, view.request) == ("delivered", fields["leaf"], None)


def test_a_leaf_that_cannot_be_proven_is_sent_to_nobody(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise IntegrityViolation("The leaf is altered.")

    monkeypatch.setattr(tree_store, "require_proven", refuse)
    told = with_webhook(world, receiver.url, "budget.raised")
    looking.look(told.server)
    answers = {view.answer for view in outbox.listing(told.server, OPERATOR)}
    assert answers == {"not sent: the leaf of the log cannot be read"}
    assert receiver.messages == []


def test_a_receiver_that_was_away_gets_the_message_when_it_is_back(stays: World) -> None:
    with receiving() as away:
        told = with_webhook(stays, away.url)
    ask(told)
    looking.look(told.server)
    (view,) = outbox.listing(told.server, OPERATOR)
    assert (view.state, view.answer) == ("waiting", "no connection: Connection refused")
    with receiving(status("503 "), away.port) as back:
        told.clock.forward(minutes=1)
        looking.look(told.server)
        told.clock.forward(minutes=2)
        back.answer = status("200 OK")
        looking.look(told.server)
    assert len({message.fields["delivery"] for message in back.messages}) == 1
    (view,) = outbox.listing(told.server, OPERATOR)
    assert (view.state, view.attempts) == ("delivered", 3)


def test_a_decision_is_answered_while_a_receiver_holds_the_connection(
    told: World, receiver: Receiver
) -> None:
    holding, ended = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        holding.set()
        ended.wait(HANG)

    receiver.answer = hold
    view = ask(told)
    sender = threading.Thread(target=looking.look, args=[told.server], daemon=True)
    sender.start()
    assert holding.wait(HANG)
    # A transaction of the sender's would let neither of these end on SQLite.
    assert decide(told, "ada", view, "approve").state == "approved"
    assert ask(told, "iris", name="north", where=NORTH).state == "open"
    assert sender.is_alive()
    ended.set()
    sender.join(HANG)
    assert not sender.is_alive()


NORTH = [{"column": "town", "op": "=", "value": "north"}]


def test_neither_the_secret_nor_the_address_is_in_what_is_stored_or_said(
    told: World, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answer = status("500 of-the-address", f"X-Echo: {SECRET}")
    ask(told)
    with caplog.at_level("DEBUG"):
        looking.look(told.server)
    (view,) = outbox.listing(told.server, OPERATOR)
    said = f"{view} {caplog.text} {told.server.settings!r} {receiver.messages[0].body!r}"
    assert SECRET not in said
    assert "of-the-address" not in said


def test_rows_that_cannot_be_read_are_sent_to_nobody(
    told: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise Unavailable("The row is altered.")

    monkeypatch.setattr(messages, "body_of", refuse)
    ask(told)
    looking.look(told.server)
    (view,) = outbox.listing(told.server, OPERATOR)
    assert view.answer == "not sent: the rows of the request cannot be read"
    assert receiver.messages == []


def test_looking_goes_on_after_errors_until_it_is_ended(
    told: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "LOOK_SECONDS", 0.0)
    ended = threading.Event()
    problems = iter([DatabaseUnavailable("away"), ValueError("a bug"), None])
    failed: list[tuple[str, str]] = []

    def look(_: object) -> None:
        problem = next(problems)
        if problem is None:
            ended.set()
        else:
            raise problem

    monkeypatch.setattr(looking, "look", look)
    looking.look_on(told.server, lambda name, error: failed.append((name, str(error))), ended)
    assert failed == [("webhook", "a bug")]
