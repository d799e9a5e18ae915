"""Start processes that share nothing with the test's own but the files they are given.

They are forked from a server that has imported the product and opened nothing, so that
each begins as a worker does, and a hundred of them cost seconds.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

from tests.support import ending

CONTEXT = multiprocessing.get_context("forkserver")
# Found where the tests run from the repository's root; elsewhere they are only slower.
CONTEXT.set_forkserver_preload(["tests.faults.forks.preload"])

HANG = 1800.0
"""Seconds after which a test that hangs is given up; no outcome depends on it."""

_started: "list[Worker]" = []


@dataclass(frozen=True)
class Worker:
    """Hold a process, and the file that its errors go to."""

    process: ForkServerProcess
    errors: Path

    @property
    def complaint(self) -> str:
        """Return what it said before it ended."""
        said = self.errors.read_text() if self.errors.exists() else "nothing said"
        return f"exit code {self.process.exitcode}: {said}"

    def kill(self) -> None:
        """Send SIGKILL, and wait until the process is gone."""
        self.process.kill()
        self.process.join()

    def wait_for_lines(self, path: Path, count: int) -> None:
        """Wait until it has written so many lines."""
        until = time.monotonic() + HANG
        while not path.exists() or path.read_bytes().count(b"\n") < count:
            assert self.process.is_alive(), self.complaint
            assert time.monotonic() < until, "the process hangs"
            time.sleep(0.001)

    def was_killed(self) -> bool:
        """Wait until it has ended, and say how; any way but these two fails the test."""
        self.process.join(HANG)
        assert self.process.exitcode in (0, -signal.SIGKILL), self.complaint
        return self.process.exitcode != 0


def start(errors: Path, target: Callable[..., None], *arguments: object) -> Worker:
    """Run ``target`` in a process of its own."""
    process = CONTEXT.Process(target=_run, args=(errors, target, arguments), daemon=True)
    process.start()
    worker = Worker(process, errors)
    _started.append(worker)
    return worker


def end_all() -> None:
    """Kill what still runs: a test that failed leaves no process that goes on asking."""
    while _started:
        worker = _started.pop()
        if worker.process.is_alive():
            worker.kill()


def barrier(parties: int) -> Barrier:
    """Return a barrier between processes."""
    return CONTEXT.Barrier(parties, timeout=HANG)


def finish(workers: Sequence[Worker]) -> None:
    """Wait until all have ended; the first that fails fails the test and ends the others."""
    running = list(workers)
    while running:
        ended = wait([worker.process.sentinel for worker in running], timeout=HANG)
        over = [worker for worker in running if worker.process.sentinel in ended]
        running = [worker for worker in running if worker not in over]
        failed = [worker for worker in over if worker.process.exitcode]
        if failed or not over:
            for worker in running:
                worker.kill()
        assert over, "the processes hang"
        assert not failed, failed[0].complaint


def _run(errors: Path, target: Callable[..., None], arguments: Sequence[object]) -> None:
    # The server that they are forked from ends with the tests.
    ending.with_the_parent()()
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    target(*arguments)
