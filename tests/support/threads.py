"""Refuse threads, as a system does that has no more to give."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def no_thread_left() -> Iterator[None]:
    """Let no thread start meanwhile: each is refused as the standard library says it."""

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        yield
