"""Test that a silent database server is given up until it answers a probe."""

import threading
from collections.abc import Callable
from time import monotonic

import pytest
from tests.support.threads import no_thread_left

from penstock.persistence.postgresql import breaker
from penstock.persistence.postgresql.breaker import Breaker
from penstock.persistence.postgresql.failures import Silent

LONG = 3600.0


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker, "PAUSE_SECONDS", 0.0)


def wait(condition: Callable[[], bool]) -> None:
    """Wait until it is so; for long only where the probing thread hangs."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.005)


def test_a_server_that_was_heard_is_not_silent() -> None:
    known = Breaker(lambda: True, LONG)
    assert not known.silent(monotonic())
    assert not known.silent(monotonic() - 10 * LONG)  # it was heard of since
    known.require_closed()


def test_everybody_is_refused_until_a_probe_is_answered() -> None:
    answers = threading.Event()
    known = Breaker(answers.is_set, LONG)
    known.trip()
    with pytest.raises(Silent, match="the server sends nothing"):
        known.require_closed()
    answers.set()
    wait(lambda: not known.open)
    known.require_closed()


def test_a_thread_that_cannot_be_had_leaves_nobody_refused_for_ever() -> None:
    known = Breaker(lambda: True, LONG)
    with no_thread_left():
        known.trip()
        with pytest.raises(Silent):
            known.require_closed()
    with pytest.raises(Silent):
        known.require_closed()
    wait(lambda: not known.open)
    known.require_closed()


def test_what_is_heard_of_the_server_closes_it_again() -> None:
    known = Breaker(lambda: False, LONG)
    known.trip()
    known.heard()
    known.require_closed()


def test_silence_is_believed_after_a_probe_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that stood still itself has heard nothing for long, and gives the probe time."""
    now = [1000.0]
    monkeypatch.setattr(breaker, "monotonic", lambda: now[0])
    probed = threading.Event()
    release = threading.Event()

    def probe() -> bool:
        probed.set()
        return not release.wait()

    known = Breaker(probe, 4.0)
    began = now[0]
    now[0] += 2.0
    assert not known.silent(began)
    assert not probed.is_set()
    now[0] += 60.0
    assert not known.silent(began)  # only now it is asked
    assert probed.wait(60)
    now[0] += 1.9
    assert not known.silent(began)
    now[0] += 0.2
    assert known.silent(began)
    assert known.open
    known.heard()
    release.set()
