"""Test a thread behind the answers.

It hands on what is raised, and ends when it has nothing to do.
"""

import subprocess
import sys
import threading
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

import pytest
from tests.databases.homes import PATIENCE
from tests.support.threads import no_thread_left

from penstock.errors import LogUnavailable
from penstock.transparency_log.background import BackgroundThread


def test_what_is_raised_behind_is_raised_to_who_waits() -> None:
    behind, free = BackgroundThread("test"), threading.Event()

    def fail() -> None:
        raise KeyError("behind")

    def hang() -> str:
        free.wait()
        return "done"

    with pytest.raises(KeyError, match="behind"):
        behind.submit(fail).result()
    hung, later = behind.submit(hang), behind.submit(lambda: "later")
    with pytest.raises(TimeoutError):
        later.result(timeout=0)
    free.set()
    assert (hung.result(), later.result()) == ("done", "later")


def test_a_thread_with_nothing_to_do_ends_and_another_takes_its_place() -> None:
    behind = BackgroundThread("test", idle=0.001)
    threads = []
    for _ in range(50):
        threads.append(behind.submit(threading.current_thread).result())
        threads[-1].join()
        assert not threads[-1].is_alive()
    assert len(set(threads)) == 50


def test_what_comes_as_a_thread_ends_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    behind = BackgroundThread("test")
    late: list[Future[str]] = []

    class Waited(SimpleQueue[Any]):
        """Wait in vain, and then find that something came after all."""

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if self.empty() and not late:
                late.append(behind.submit(lambda: "late"))
                raise Empty
            return super().get(block, timeout)

    monkeypatch.setattr(behind, "_due", Waited())
    assert behind.submit(lambda: "first").result() == "first"
    while not late:
        pass
    assert late[0].result(timeout=PATIENCE) == "late"


def test_a_thread_that_cannot_be_had_is_asked_for_again() -> None:
    """What was refused for want of one is not done later: nobody waits for it."""
    behind, done = BackgroundThread("test"), list[str]()
    with no_thread_left(), pytest.raises(LogUnavailable, match="start no more threads"):
        behind.submit(lambda: done.append("refused"))
    behind.submit(lambda: done.append("later")).result(timeout=PATIENCE)
    assert done == ["later"]


def test_a_process_ends_whatever_hangs_behind_it() -> None:
    program = """
from threading import Event
from penstock.transparency_log.background import BackgroundThread
BackgroundThread("test").submit(Event().wait)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
