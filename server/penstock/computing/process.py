"""One child as its parent sees it: started, asked one thing at a time, and killed."""

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
"""What importing what is computed may last, on a machine that is busy."""

PASSED_ON: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "TZ")
"""All that a child is told of its parent's environment, where secrets stand as well."""


class Overtime(Exception):
    """A computation took more time than it may, and its child is killed."""


class Died(Exception):
    """A child ended in the middle of a computation, for no reason that is known."""


class Child:
    """A child that works out what ``module`` knows; ``person`` is whom it last worked for."""

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
        """The operating system's number of it."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it may be asked something."""
        return self._process.poll() is None

    def ask(self, person: str, job: str, document: Document) -> Document:
        """Have ``job`` worked out for ``person``.  Raises ``Overtime`` and ``Died``.

        What is kept from a computation to the next is dropped where it was for another person.
        """
        wish = {"job": job, "asked": document, "fresh": person != self.person}
        self.person = person
        until = time.monotonic() + self._bounds.lasting
        try:
            self._send(frames.written(wish))
            return self._receive(until)
        except BrokenPipeError as problem:
            raise Died from problem

    def kill(self) -> None:
        """End it at once, and forget it."""
        self._process.kill()
        self._process.wait()
        self._close()

    def abandon(self) -> None:
        """Leave it to the process that it was started by, of which this one is a fork.

        It could not end with that one if a fork held its pipe open.
        """
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _send(self, frame: bytes) -> None:
        # A child always reads, so that this does not wait for a computation.
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
