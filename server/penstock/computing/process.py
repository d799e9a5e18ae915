"""Start a child, send it one request at a time, and kill it."""

import os
import select
import signal
import subprocess
import sys
import time
from typing import Final

from penstock.computing import frames
from penstock.computing.bounds import Bounds
from penstock.computing.frames import Document

STARTING_SECONDS: Final = 120.0
"""The most time for a child's imports, on a machine that is busy."""

PASSED_ON: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "TZ")
"""The variables that a child receives of its parent's environment, which holds secrets too."""


class Overtime(Exception):
    """Report a computation that took more time than it may, and whose child is killed."""


class Died(Exception):
    """Report a child that ended in the middle of a computation, for an unknown reason."""


class Child:
    """Hold a child that runs jobs of ``module``; ``person`` is the last for whom it worked."""

    def __init__(self, module: str, bounds: Bounds) -> None:
        self._bounds = bounds
        self.person: str | None = None
        inherited = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [
                *(sys.executable, "-P", "-m", "penstock.computing.child"),
                *(module, str(bounds.seconds), str(bounds.memory)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # One thread of linear algebra: each would take megabytes of address space.
            env={**inherited, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )
        try:
            self._receive(time.monotonic() + STARTING_SECONDS)
        except (Overtime, Died):
            self.kill()
            raise

    @property
    def pid(self) -> int:
        """Return the child's process number."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return True if the child can take a request."""
        return self._process.poll() is None

    def ask(self, person: str, job: str, document: Document) -> Document:
        """Run ``job`` for ``person`` in the child.  Raises ``Overtime`` and ``Died``.

        The child first drops what it keeps between computations if its last was for another person.
        """
        request = {"job": job, "document": document, "fresh": person != self.person}
        self.person = person
        until = time.monotonic() + self._bounds.lasting
        try:
            self._send(frames.written(request))
            return self._receive(until)
        except BrokenPipeError as problem:
            raise Died from problem

    def kill(self) -> None:
        """End the child at once, and release its pipes."""
        self._process.kill()
        self._process.wait()
        self._close()

    def abandon(self) -> None:
        """Leave the child to the process that started it, of which this one is a fork.

        The child could not end with that process if a fork held its pipe open.
        """
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _send(self, frame: bytes) -> None:
        # A child always reads, so this does not wait for a computation.
        if self._process.stdin is None:
            raise Died
        rest = memoryview(frame)
        while rest:
            rest = rest[self._process.stdin.write(rest) or 0 :]

    def _receive(self, until: float) -> Document:
        head = self._exactly(frames.HEAD.size, until)
        (length,) = frames.HEAD.unpack(head)
        return frames.decoded(self._exactly(length, until))

    def _exactly(self, size: int, until: float) -> bytes:
        if self._process.stdout is None:
            raise Died
        descriptor, received = self._process.stdout.fileno(), bytearray()
        ready = select.poll()
        ready.register(descriptor, select.POLLIN)
        while len(received) < size:
            left = until - time.monotonic()
            if left <= 0 or not ready.poll(left * 1000):
                raise Overtime
            part = os.read(descriptor, min(size - len(received), 1 << 20))
            if not part:
                raise self._ended()
            received += part
        return bytes(received)

    def _ended(self) -> Exception:
        out_of_time = self._process.wait() == -signal.SIGXCPU
        return Overtime() if out_of_time else Died()
