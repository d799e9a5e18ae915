"""Run a background thread, for tasks that may outlast the request that started them.

It ends after a while without tasks, so that servers that are closed, or opened only for a status,
leave no threads behind; and it ends with its process, even if a disk keeps it waiting forever.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Final, TypeVar

from penstock.errors import LogUnavailable

Answered = TypeVar("Answered")

IDLE: Final = 2.0
"""Seconds after which a thread with nothing to do ends; a new one starts faster than a sync."""


class BackgroundThread:
    """Run at most one thread, only while there are tasks, one task after the other."""

    def __init__(self, name: str, idle: float = IDLE) -> None:
        self._name, self._idle = name, idle
        self._due: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, act: Callable[[], Answered]) -> "Future[Answered]":
        """Run a task in the thread; its exception is raised to those who wait for its result.

        Raises ``LogUnavailable`` if no thread can be started; the next task tries that again.
        """
        future: Future[Answered] = Future()
        with self._lock:
            if self._thread is None:
                # First: a task without a thread would wait forever, and all others behind it.
                self._thread = self._started()
            self._due.put((future, act))
        return future

    def _started(self) -> threading.Thread:
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            raise LogUnavailable(
                "The system lets the server start no more threads, so nothing new is answered. Try"
                " again; if it lasts, raise the limit of its threads and processes, or its memory."
            ) from error
        return thread

    def _work(self) -> None:
        while True:
            try:
                future, act = self._due.get(timeout=self._idle)
            except Empty:
                with self._lock:
                    # A task may have come between the wait and the lock.
                    if self._due.empty():
                        self._thread = None
                        return
                continue
            with Into(future):
                future.set_result(act())


@dataclass(frozen=True)
class Into:
    """Pass an exception on to a future."""

    future: "Future[Any]"

    def __enter__(self) -> None:
        return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if error is not None:
            self.future.set_exception(error)
        return True
