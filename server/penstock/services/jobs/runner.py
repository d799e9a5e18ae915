"""Working on what takes long, behind the answers: one thread a piece, and one that speaks.

A thread that works says how far it is as often as it likes: that is kept in memory, and
one thread of the process writes it down about once a second for all of them, beside a sign
of life.  Threads end with their process, in the middle of what they do, as in any crash.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from penstock.errors import PenstockError, Unavailable
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import jobs
from penstock.services.jobs.jobs import Wanted, WorkView
from penstock.services.retry import again
from penstock.transparency_log.background import Into

MOST = 8
"""Pieces that one process works on."""

PULSE_SECONDS = 1.0
PATIENCE_SECONDS = 2.0

INTERNAL = "The server failed at this; its log says where, under the number of this work."


@dataclass
class Run:
    """One attempt at a piece of work.  Called, it takes note of how far that is."""

    piece: str
    attempt: int
    stage: str = "beginning"
    percent: int | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def __call__(self, stage: str, percent: int | None = None, /) -> None:
        """Take note of the stage and its percent (``connectors.Progress``)."""
        self.stage, self.percent = stage, percent

    @property
    def resumed(self) -> bool:
        """Whether somebody may have come to the end of it before."""
        return self.attempt > 1


Act = Callable[[Run], str]
"""Does a piece of work, and answers with the name of what came of it."""


def unheard(piece: str, error: BaseException) -> None:
    """Tell nobody what failed."""


def uncounted(_person: str, _seconds: float) -> None:
    """Count nothing."""


class Runner:
    """Works on pieces for the people who asked for them.

    A caller waits ``patience`` seconds for what may be done soon.  ``pulse`` is how many
    seconds pass between two signs of life; with none ``beat`` is for the caller to call.
    ``host`` is what this machine is called; ``failed`` hears of errors that are none of
    ours, ``computed`` for whom how many seconds of a processor were used.
    """

    def __init__(
        self,
        server: Server,
        *,
        patience: float = PATIENCE_SECONDS,
        pulse: float | None = PULSE_SECONDS,
        host: str = "",
        failed: Callable[[str, BaseException], None] = unheard,
        computed: Callable[[str, float], None] = uncounted,
    ) -> None:
        self.host = host or socket.gethostname() or "this machine"
        self._server = server
        self._patience = patience
        self._pulse = pulse
        self._failed = failed
        self._computed = computed
        self._start()

    def _start(self) -> None:
        """Begin with nothing; threads start when they are needed."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._speaking = False

    def start(self, principal: Principal, wanted: Wanted, act: Act) -> WorkView:
        """Have a piece of work done, unless it is or was already; as it stands after a moment.

        Raises as ``work.begin`` does; there is room for ``MOST`` pieces in this process.
        """
        if self._process != os.getpid():  # a child has no thread of its parent's
            self._start()
        with self._lock:
            room = len(self._runs) < MOST
            begun = jobs.begin(self._server, principal, wanted, self.host, room=room)
            run = self._runs.get(begun.piece.id)
            if begun.fresh:
                run = Run(begun.piece.id, begun.piece.attempt)
                name = f"work-{run.piece}"
                threading.Thread(
                    target=self._do, name=name, args=(run, act, principal.name), daemon=True
                ).start()
                # Not before: nobody speaks for what no thread could be had for.
                self._runs[run.piece] = run
                self._speak()
        if run is not None:
            run.ended.wait(self._patience)
        return jobs.show(self._server, principal, begun.piece.id)

    def beat(self) -> None:
        """Write down how far every piece of this process is."""
        for run in list(self._runs.values()):
            self._beat(run)

    def _beat(self, run: Run) -> None:
        def note_stage() -> None:
            jobs.beat(self._server, run.piece, run.attempt, run.stage, run.percent)

        self._try(run, note_stage)

    def _try(self, run: Run, act: Callable[[], object]) -> None:
        """Do what may fail without harm: the thread goes on, and the log hears of the rest."""
        tried: Future[object] = Future()
        with Into(tried):
            tried.set_result(act())
        error = tried.exception()
        if error is not None and not isinstance(error, PenstockError):
            self._failed(run.piece, error)

    def _do(self, run: Run, act: Act, person: str) -> None:
        outcome: Future[str] = Future()
        with Into(outcome):
            outcome.set_result(act(run))
        self._computed(person, time.thread_time())
        # Where even this is not heard, the work counts as interrupted, and is started again.
        self._try(run, lambda: again(lambda: self._settle(run, outcome)))
        error = outcome.exception()
        if error is not None:
            error.__traceback__ = None  # its frames may hold exact data
        with self._lock:
            if self._runs.get(run.piece) is run:
                del self._runs[run.piece]
        run.ended.set()

    def _settle(self, run: Run, outcome: "Future[str]") -> None:
        error = outcome.exception()
        if error is None:
            jobs.finish(self._server, run.piece, run.attempt, outcome.result())
        elif isinstance(error, PenstockError):
            jobs.fail(self._server, run.piece, run.attempt, error)
        elif isinstance(error, Exception):
            self._failed(run.piece, error)
            jobs.fail(self._server, run.piece, run.attempt, Unavailable(INTERNAL))
        # Else the thread was ended from outside, as its process might be.

    def _speak(self) -> None:
        if self._pulse is not None and not self._speaking:
            self._speaking = True
            threading.Thread(target=self._speak_on, name="work-pulse", daemon=True).start()

    def _speak_on(self) -> None:
        silence = threading.Event()
        while True:
            silence.wait(self._pulse)
            with self._lock:
                if not self._runs:
                    self._speaking = False
                    return
            self.beat()
