"""Share memory among the workers of one server, for their common counts.

gunicorn's master makes a file without a name before it forks (``deploy/gunicorn.conf.py``) and
passes its descriptor in the environment.  So there is no file in a folder, a killed server leaves
nothing behind, and the counts of a killed worker stay.  Without a master, a process has memory of
its own.

The lock is a POSIX lock on that file: it ends with the process that holds it, also if that is
killed.
"""

import fcntl
import hashlib
import mmap
import os
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping

DESCRIPTOR = "PENSTOCK_SHARED_MEMORY"
"""The variable that gunicorn's master sets for its workers."""

_HEAD = 32


class Shared:
    """Hold ``size`` bytes, zero at first, with the layout that ``layout`` describes.

    A process with another layout (of another version of the code, started by an old master after
    a crash) gets memory of its own.
    """

    def __init__(self, size: int, layout: str, descriptor: int | None = None) -> None:
        self._threads = threading.Lock()
        self._part = memoryview(b"")
        self._descriptor = self._own() if descriptor is None else descriptor
        digest = hashlib.sha256(layout.encode()).digest()
        if not self._open(size, digest):
            self._descriptor = self._own()
            self._open(size, digest)

    def _own(self) -> int:
        made = nameless()
        weakref.finalize(self, os.close, made)
        return made

    def _open(self, size: int, layout: bytes) -> bool:
        with self.locked():
            if os.fstat(self._descriptor).st_size == 0:
                os.ftruncate(self._descriptor, _HEAD + size)
                os.pwrite(self._descriptor, layout, 0)
            if os.pread(self._descriptor, _HEAD, 0) != layout:
                return False
            self._part = memoryview(mmap.mmap(self._descriptor, _HEAD + size))[_HEAD:]
        return True

    def locked(self) -> "Shared":
        """Return what yields the bytes, which no other thread or process changes in the block.

        It is this object and no generator, since every request enters it several times.
        """
        return self

    def __enter__(self) -> memoryview:
        self._threads.acquire()
        is_locked = False
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX)
            is_locked = True
        finally:
            if not is_locked:
                self._threads.release()
        return self._part

    def __exit__(self, *_: object) -> None:
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN)
        finally:
            self._threads.release()


def inherited(environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the descriptor that this process's master made; None if there is none."""
    named = environment.get(DESCRIPTOR, "")
    if not named.isdigit():
        return None
    try:
        # A descriptor of another file must not be overwritten.
        unnamed = os.fstat(int(named)).st_nlink == 0
    except OSError:
        return None
    return int(named) if unnamed else None


def nameless() -> int:
    """Return the descriptor of an empty file without a name, in memory if possible."""
    if sys.platform == "linux":
        return os.memfd_create("penstock")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
