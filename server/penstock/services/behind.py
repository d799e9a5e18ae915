"""A thread behind the answers, for what may wait longer than whoever asks for it.

It ends with its process, also where a disk keeps it waiting for ever.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

Answered = TypeVar("Answered")


class Behind:
    """One thread, started when there is something to do; it does one thing after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._due: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, act: Callable[[], Answered]) -> "Future[Answered]":
        """Have something done; what it raises is raised to whoever waits for it."""
        future: Future[Answered] = Future()
        self._due.put((future, act))
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
        return future

    def _work(self) -> None:
        while True:
            future, act = self._due.get()
            with _Into(future):
                future.set_result(act())


@dataclass(frozen=True)
class _Into:
    """Hands on what is raised."""

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
