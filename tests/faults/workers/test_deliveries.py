"""Test that ``penstock work`` sends what waits for the webhook, again after it was killed."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from tests.faults import processes
from tests.faults.processes import Worker
from tests.faults.requests.requesting import build_requests
from tests.faults.stage import opened
from tests.faults.workers import delivering
from tests.faults.workers.delivering import AHEAD, Flaw
from tests.unit.services.webhook.receiver import HANG, Receiver, receiving, status

from penstock.services.access.principals import OPERATOR
from penstock.services.jobs import queue
from penstock.services.webhook import log_reading, outbox
from penstock.services.webhook.outbox import DeliveryView

pytestmark = pytest.mark.only("postgresql")

EVENTS = "budget.raised"
"""The kinds of events of the log that are sent here."""

Start = Callable[..., Worker]


@pytest.fixture
def home(tmp_path: Path, template: Callable[..., Path]) -> Path:
    return template(tmp_path / "home", "requests", build_requests)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def start(home: Path, receiver: Receiver) -> Start:
    """Return ``start(ahead, flaw, events)``, a worker whose clock is so much ahead."""

    def started(ahead: timedelta, flaw: Flaw, events: str = "") -> Worker:
        errors = home.with_name("errors")
        return processes.start(errors, delivering.work, home, receiver.url, ahead, flaw, events)

    return started


def until(worker: Worker, holds: Callable[[], bool]) -> None:
    """Wait until something holds while a worker runs."""
    while not holds():
        assert worker.process.is_alive(), worker.complaint
        time.sleep(0.01)


def stop(home: Path, worker: Worker) -> None:
    """Tell a worker to stop once it takes jobs, and wait until it has."""
    with opened(home) as server:
        until(worker, lambda: queue.is_served(server))
    assert worker.process.pid is not None
    os.kill(worker.process.pid, signal.SIGTERM)
    processes.finish([worker])


def view_of(home: Path) -> DeliveryView:
    with opened(home) as server:
        return delivering.listed(server)


def waits_until_answered(home: Path, worker: Worker) -> DeliveryView:
    """Wait until a worker has noted what the receiver answered."""
    with opened(home) as server:
        until(worker, lambda: delivering.listed(server).answer is not None)
        return delivering.listed(server)


def test_a_worker_sends_what_waits_signed_and_once(
    home: Path, receiver: Receiver, start: Start
) -> None:
    request = delivering.ask(home, receiver.url)
    worker = start(timedelta(0), delivering.no_flaw)
    view = waits_until_answered(home, worker)
    stop(home, worker)
    assert (view.state, view.attempts, view.answer) == ("delivered", 1, "status 204")
    again = start(AHEAD, delivering.no_flaw)
    other = delivering.ask(home, receiver.url, 2)
    until(again, lambda: len(receiver.messages) > 1)
    stop(home, again)
    sent = [message.fields for message in receiver.messages]
    assert [(each["event"], each["request"]) for each in sent] == [
        ("request.opened", request),
        ("request.opened", other),
    ]


def test_a_message_that_was_refused_is_sent_again_by_another_worker(
    home: Path, receiver: Receiver, start: Start
) -> None:
    delivering.ask(home, receiver.url)
    receiver.answer = status("503 Unavailable")
    worker = start(timedelta(0), delivering.no_flaw)
    view = waits_until_answered(home, worker)
    stop(home, worker)
    assert (view.state, view.attempts, view.answer) == ("waiting", 1, "status 503")
    receiver.answer = status("200 OK")
    assert delivered_by_another(home, start) == "delivered"
    first, second = (message.fields for message in receiver.messages)
    assert first == second


def killed_while_it_sends(home: Path, receiver: Receiver, start: Start, flaw: Flaw) -> DeliveryView:
    """Kill a worker whose receiver has the message and has not answered; return what is stored."""
    holding, ended = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        holding.set()
        ended.wait(HANG)

    receiver.answer, taken = hold, receiver.answer
    worker = start(timedelta(0), flaw)
    until(worker, holding.is_set)
    worker.kill()
    receiver.answer = taken
    ended.set()
    return view_of(home)


def delivered_by_another(home: Path, start: Start) -> str:
    """Let another worker send what waits, two minutes later; return the message's state."""
    with opened(home) as server:
        worker = start(AHEAD, delivering.no_flaw)
        until(worker, lambda: delivering.listed(server).state != "waiting")
        state = delivering.listed(server).state
    stop(home, worker)
    return state


def test_a_message_of_a_killed_worker_is_sent_again_by_another(
    home: Path, receiver: Receiver, start: Start
) -> None:
    delivering.ask(home, receiver.url)
    view = killed_while_it_sends(home, receiver, start, delivering.no_flaw)
    assert (view.state, view.attempts, view.answer) == ("waiting", 1, None)
    assert delivered_by_another(home, start) == "delivered"
    first, second = (message.fields for message in receiver.messages)
    assert first == second


def test_a_message_that_is_noted_before_it_is_sent_is_found_to_be_lost(
    home: Path, receiver: Receiver, start: Start
) -> None:
    delivering.ask(home, receiver.url)
    view = killed_while_it_sends(home, receiver, start, delivering.hasty)
    assert view.state == "delivered"
    other = delivering.ask(home, receiver.url, 2)
    worker = start(AHEAD, delivering.no_flaw)
    until(worker, lambda: len(receiver.messages) > 1)
    stop(home, worker)
    # Whoever answered nothing is not sent it again, while what came later is.
    assert [message.fields["request"] for message in receiver.messages[1:]] == [other]


def raised_and_killed(home: Path, start: Start, flaw: Flaw) -> None:
    """Raise a budget, and let a worker read the log that is killed before it commits a message."""
    with opened(home) as server:
        log_reading.read_on(server)  # what was before is not sent
    delivering.raise_budget(home, 21.0)
    assert start(timedelta(0), flaw, EVENTS).was_killed()
    with opened(home) as server:
        assert outbox.listing(server, OPERATOR) == []


def sent_by_the_next(home: Path, receiver: Receiver, start: Start) -> list[float]:
    """Raise a budget again; return the budgets that the next worker sends up to that one."""
    delivering.raise_budget(home, 22.0)
    worker = start(AHEAD, delivering.no_flaw, EVENTS)
    until(worker, lambda: bool(receiver.messages) and epsilons(receiver)[-1] == 22.0)
    stop(home, worker)
    return epsilons(receiver)


def epsilons(receiver: Receiver) -> list[float]:
    assert {message.fields["event"] for message in receiver.messages} == {EVENTS}
    return [message.fields["epsilon"] for message in list(receiver.messages)]


def test_an_event_of_the_log_is_sent_if_who_read_it_was_killed_before_its_message_was_kept(
    home: Path, receiver: Receiver, start: Start
) -> None:
    raised_and_killed(home, start, delivering.killed_before_the_commit)
    assert sent_by_the_next(home, receiver, start) == [21.0, 22.0]


def test_an_event_that_is_noted_before_its_message_is_kept_is_found_to_be_lost(
    home: Path, receiver: Receiver, start: Start
) -> None:
    raised_and_killed(home, start, delivering.noted_before_messages_are_stored)
    assert sent_by_the_next(home, receiver, start) == [22.0]


def test_a_message_about_a_leaf_is_sent_again_after_its_sender_was_killed(
    home: Path, receiver: Receiver, start: Start
) -> None:
    with opened(home) as server:
        log_reading.read_on(server)
    delivering.raise_budget(home, 21.0)
    sending = partial(start, events=EVENTS)
    view = killed_while_it_sends(home, receiver, sending, delivering.no_flaw)
    assert (view.state, view.event, view.attempts) == ("waiting", EVENTS, 1)
    assert delivered_by_another(home, sending) == "delivered"
    first, second = (message.fields for message in receiver.messages)
    assert first == second
    assert first["epsilon"] == 21.0
