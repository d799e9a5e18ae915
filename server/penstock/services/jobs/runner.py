"""Run background jobs: one thread per job, one heartbeat thread per process.

A job's thread reports its progress as often as it likes: that is kept in memory, and one thread
of the process writes it to the database about once a second for all jobs, as their heartbeat.
Threads end with their process, in the middle of their work, as in any crash.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from penstock.errors import PenstockError, Unavailable
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import jobs, queue
from penstock.services.jobs.jobs import JobRequest, JobStart, WorkView
from penstock.services.jobs.queue import Claim
from penstock.services.retry import again
from penstock.transparency_log.background import Into

MOST = 8
"""The jobs that one process runs at once."""

PULSE_SECONDS = 1.0
PATIENCE_SECONDS = 2.0

INTERNAL = (
    "The job failed because of an error in the server; the server's log has the details under the"
    " job's number."
)


@dataclass
class Run:
    """Represent one attempt at a job; calling it reports progress."""

    piece: str
    attempt: int
    stage: str = "beginning"
    percent: int | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def __call__(self, stage: str, percent: int | None = None, /) -> None:
        """Keep the stage and its percent (``connectors.Progress``) in memory."""
        self.stage, self.percent = stage, percent

    @property
    def resumed(self) -> bool:
        """Return True if an earlier attempt may have completed the work."""
        return self.attempt > 1


JobFunction = Callable[[Run], str]
"""A function that does the work of a job, and returns the name of what it made."""


def unheard(piece: str, error: BaseException) -> None:
    """Ignore an error of a job."""


def uncounted(_person: str, _seconds: float) -> None:
    """Count nothing."""


def unwatched(_kind: str) -> AbstractContextManager[None]:
    """Return what does nothing around a job."""
    return nullcontext()


class Runner:
    """Run jobs for the people who asked for them.

    A caller waits ``patience`` seconds for a job that may be done soon.  ``pulse`` is the number of
    seconds between two heartbeats; with None the caller calls ``beat``.  ``host`` is the name of
    this machine; ``failed`` is called with unexpected errors, ``computed`` with the person and
    the seconds of processor time that a job used for them.  ``watching`` returns, for a kind of
    job, what is around each that this process was asked for and does itself.
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
        watching: Callable[[str], AbstractContextManager[None]] = unwatched,
    ) -> None:
        self.host = host or socket.gethostname() or "this machine"
        self._server = server
        self._patience = patience
        self._pulse = pulse
        self._failed = failed
        self._computed = computed
        self._watching = watching
        self._start()

    def _start(self) -> None:
        """Begin without jobs; threads start when they are needed."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._speaking = False

    def start(self, principal: Principal, job_request: JobRequest, act: JobFunction) -> WorkView:
        """Run a job, unless it is running or done; return its state after ``patience`` seconds.

        If a worker is alive it gets the job, else a thread of this process does.  Raises as
        ``jobs.start_job`` does; this process has room for ``MOST`` jobs.
        """
        if queue.is_served(self._server):
            begun = self.hand_over(principal, job_request)
            return jobs.wait(self._server, principal, begun.piece.id, self._patience)
        self._after_fork()

        def watched(run: Run) -> str:
            with self._watching(job_request.kind):
                return act(run)

        with self._lock:
            room = len(self._runs) < MOST
            begun = jobs.start_job(self._server, principal, job_request, self.host, room=room)
            run = self._runs.get(begun.piece.id)
            if begun.fresh:
                run = Run(begun.piece.id, begun.piece.attempt)
                name = f"work-{run.piece}"
                threading.Thread(
                    target=self._do, name=name, args=(run, watched, principal.name), daemon=True
                ).start()
                # Only now: a job whose thread could not be started gets no heartbeat.
                self._runs[run.piece] = run
                self._speak()
        if run is not None:
            run.ended.wait(self._patience)
        return jobs.show(self._server, principal, begun.piece.id)

    def hand_over(self, principal: Principal, job_request: JobRequest) -> JobStart:
        """Store a job for whichever worker takes it.  Raises as ``jobs.start_job`` does."""
        return jobs.start_job(
            self._server, principal, job_request, self.host, handed_over=queue.hand_over
        )

    def work_on(self, piece: str, act: Callable[[Claim, Run], str]) -> bool:
        """Run a job from the queue in this thread, unless there is nothing left to do.

        Return False if it has to be tried again later: its outcome could not be stored.
        """
        self._after_fork()
        claimed = queue.claim(self._server, piece, self.host)
        if claimed is None:
            return True
        run = Run(claimed.piece, claimed.attempt)
        with self._lock:
            self._runs[run.piece] = run
            self._speak()
        return self._do(run, lambda run: act(claimed, run), claimed.principal.name)

    def _after_fork(self) -> None:
        if self._process != os.getpid():  # a forked child has none of its parent's threads
            self._start()

    def beat(self) -> None:
        """Write the progress of every job of this process to the database."""
        for run in list(self._runs.values()):
            self._beat(run)

    def _beat(self, run: Run) -> None:
        def note_stage() -> None:
            jobs.beat(self._server, run.piece, run.attempt, run.stage, run.percent)

        self._try(run, note_stage)

    def _try(self, run: Run, act: Callable[[], object]) -> object:
        """Call a function whose failure is harmless: the thread continues, the error is logged.

        Return its result, None if it failed.
        """
        tried: Future[object] = Future()
        with Into(tried):
            tried.set_result(act())
        error = tried.exception()
        if error is not None and not isinstance(error, PenstockError):
            self._failed(run.piece, error)
        return None if error is not None else tried.result()

    def _do(self, run: Run, act: JobFunction, person: str) -> bool:
        """Run a job to its end; return whether its outcome is stored."""
        outcome: Future[str] = Future()
        with Into(outcome):
            outcome.set_result(act(run))
        self._computed(person, time.thread_time())
        # If even this fails, the job counts as interrupted, and is started again.
        stored = self._try(run, lambda: again(lambda: self._record_outcome(run, outcome)))
        error = outcome.exception()
        if error is not None:
            error.__traceback__ = None  # its frames may hold exact data
        with self._lock:
            if self._runs.get(run.piece) is run:
                del self._runs[run.piece]
        run.ended.set()
        return bool(stored)

    def _record_outcome(self, run: Run, outcome: "Future[str]") -> bool:
        """Store how a job ended, and return True; False if its thread was ended from outside."""
        error = outcome.exception()
        if error is None:
            jobs.finish(self._server, run.piece, run.attempt, outcome.result())
        elif isinstance(error, PenstockError):
            jobs.fail(self._server, run.piece, run.attempt, error)
        elif isinstance(error, Exception):
            self._failed(run.piece, error)
            jobs.fail(self._server, run.piece, run.attempt, Unavailable(INTERNAL))
        else:
            return False  # as its process might be ended, too
        return True

    def _speak(self) -> None:
        if self._pulse is not None and not self._speaking:
            threading.Thread(target=self._speak_on, name="work-pulse", daemon=True).start()
            # Only now: without a thread, the next job asks for one again.
            self._speaking = True

    def _speak_on(self) -> None:
        silence = threading.Event()
        while True:
            silence.wait(self._pulse)
            with self._lock:
                if not self._runs:
                    self._speaking = False
                    return
            self.beat()
