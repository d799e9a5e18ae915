"""Let threads and processes that want to write take turns, in the order in which they came.

A turn is the right to try ``BEGIN IMMEDIATE``, and ends when that succeeds: the next one is then
awake before the lock gets free.  It is for fairness alone: a transaction is alone by ``BEGIN
IMMEDIATE``, with or without a turn, and whoever writes without knowing the queue is waited for.

The queue is a file beside the database, of which bytes are locked.  Whoever comes takes the next
number from the file, locks the byte at that place, and waits until nobody has a byte before it.
The kernel gives up the locks of a process that ends, so that nobody waits for it.  One lock for
all would not be fair: who ends its turn and wants the next one would take it again before those
that wait are awake.

In each process one thread waits for the first of its numbers, while there is any: a lock of the
kernel has no time limit, and a request has one.
"""

import contextlib
import fcntl
import os
import struct
import threading
import time
import weakref
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

COUNTER: Final = 0
"""The byte whose lock is held while a number is taken; it is never held for long."""

COUNTER_TRIES: Final = 100
NAP_SECONDS: Final = 0.0005

IDLE_SECONDS: Final = 2.0
"""How long the thread lives on with nobody to wait for."""

# Locks of the open file, not of the process: threads of one process exclude each other too.
_NOW: Final[int | None] = getattr(fcntl, "F_OFD_SETLK", None)
_WAIT: Final[int | None] = getattr(fcntl, "F_OFD_SETLKW", None)

_NUMBER: Final = struct.Struct("<q")


@dataclass(eq=False)
class Place:
    """Hold a place in line, which ends with the turn: a number, and the file that has its lock."""

    descriptor: int
    number: int
    called: threading.Event = field(default_factory=threading.Event)
    is_given_up: bool = False


class WriteQueue:
    """Hold the queue of the writers of one database; its file is made where it is missing."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = database.with_name(f"{database.name}-queue")
        self._start()
        _queues.add(self)

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._waiting: deque[Place] = deque()
        self._thread: threading.Thread | None = None
        self._open: set[int] = set()

    def wait(self, seconds: float) -> Place | None:
        """Return a place whose turn it is, until ``leave``.

        Returns ``None`` if its turn does not come within ``seconds``, or if there is no queue here:
        its file cannot be made or locked, or there is no thread to wait for it.
        """
        with self._lock:
            try:
                place = self._taken()
            except OSError:
                return None
            if not self._waiting and self._is_first(place):
                return place
            if self._thread is None and not self._start_thread():
                self._close(place.descriptor)
                return None
            self._waiting.append(place)
            self._changed.notify()
        place.called.wait(seconds)
        with self._lock:
            if place.called.is_set():
                return place
            # Those behind need not wait for it; its file is closed by the thread that may use it.
            place.is_given_up = True
            with contextlib.suppress(OSError):
                _set(place.descriptor, fcntl.F_UNLCK, place.number)
            return None

    def leave(self, place: Place) -> None:
        """End a turn."""
        with self._lock:
            self._close(place.descriptor)

    def _taken(self) -> Place:
        """Take the next number.  Raises ``OSError``."""
        descriptor = self._opened()
        try:
            _lock_counter(descriptor)
            before = os.pread(descriptor, _NUMBER.size, 0)
            number = 1 + max(1, *_NUMBER.unpack(before)) if len(before) == _NUMBER.size else 2
            os.pwrite(descriptor, _NUMBER.pack(number), 0)
            _set(descriptor, fcntl.F_WRLCK, number, command=_NOW)
            _set(descriptor, fcntl.F_UNLCK, COUNTER)
        except (OSError, OverflowError, struct.error) as problem:
            self._close(descriptor)
            raise OSError("there is no number") from problem
        return Place(descriptor, number)

    def _is_first(self, place: Place) -> bool:
        """Return True if it is this place's turn."""
        try:
            _wait_for_all_before(place, _NOW)
        except OSError:
            return False
        return True

    def _start_thread(self) -> bool:
        """Start the thread; return False if the system gives none now."""
        thread = threading.Thread(target=self._work, name="writers", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread = thread
        return True

    def _work(self) -> None:
        """Wait for the turn of each place, and call whoever has it, as long as anybody waits."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._changed.wait(IDLE_SECONDS)
                if not self._waiting:
                    self._thread = None
                    return
                first = self._waiting[0]
            if not first.is_given_up:
                # Without locks, whoever waits tries to write right away.
                with contextlib.suppress(OSError):
                    _wait_for_all_before(first, _WAIT)
            with self._lock:
                self._waiting.popleft()
                if first.is_given_up:
                    self._close(first.descriptor)
                else:
                    first.called.set()

    def _opened(self) -> int:
        """Open the file.  Raises ``OSError``."""
        if _WAIT is None:
            raise OSError("this system has no locks of open files")
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._give_to_owner(descriptor)
        self._open.add(descriptor)
        return descriptor

    def _give_to_owner(self, descriptor: int) -> None:
        # As SQLite does with its files: a command that root runs must not lock the server out.
        if os.geteuid() == 0:
            with contextlib.suppress(OSError):
                owner = self._database.stat()
                os.fchown(descriptor, owner.st_uid, owner.st_gid)

    def _close(self, descriptor: int) -> None:
        # Unlocked first: a child that was just forked may have a copy for a moment.
        with contextlib.suppress(OSError):
            _set(descriptor, fcntl.F_UNLCK, 0, 0)
        self._open.discard(descriptor)
        os.close(descriptor)

    def before_fork(self) -> None:
        """Let no file be opened or closed meanwhile."""
        self._lock.acquire()

    def after_fork(self) -> None:
        """Go on in the parent."""
        self._lock.release()

    def start_in_child(self) -> None:
        """Leave all places to the parent: a copy would keep them beyond its end."""
        for descriptor in self._open:
            os.close(descriptor)
        self._start()


def _lock_counter(descriptor: int) -> None:
    """Lock the counter.  Raises ``OSError`` if a process that was halted has it."""
    for _ in range(COUNTER_TRIES):
        with contextlib.suppress(BlockingIOError):
            _set(descriptor, fcntl.F_WRLCK, COUNTER, command=_NOW)
            return
        time.sleep(NAP_SECONDS)
    raise OSError("the counter is locked")


def _wait_for_all_before(place: Place, command: int | None) -> None:
    _set(place.descriptor, fcntl.F_RDLCK, COUNTER + 1, place.number - 1, command=command)


def _set(
    descriptor: int, kind: int, first: int, count: int = 1, *, command: int | None = _NOW
) -> None:
    """Lock or unlock ``count`` bytes, to the end if it is 0.  Raises ``OSError``."""
    fcntl.fcntl(descriptor, command or 0, struct.pack("@hhqqi", kind, os.SEEK_SET, first, count, 0))


_queues: weakref.WeakSet[WriteQueue] = weakref.WeakSet()
_forking: list[WriteQueue] = []
_fork_lock = threading.Lock()


def _before_fork() -> None:
    _fork_lock.acquire()
    _forking.extend(_queues)
    for queue in _forking:
        queue.before_fork()


def _after_fork() -> None:
    for queue in _forking:
        queue.after_fork()
    _forking.clear()
    _fork_lock.release()


def _start_in_child() -> None:
    for queue in _forking:
        queue.start_in_child()
    _forking.clear()
    _fork_lock.release()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork, after_in_child=_start_in_child
)
