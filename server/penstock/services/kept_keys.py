"""Keep unwrapped keys for a few seconds, so that requests that follow each other unwrap them once.

Every process keeps keys of its own, on a shelf that is taken down ``SECONDS`` after it was put up,
also if no request comes: so nobody has to be told that a key was destroyed, and after that time no
process has it.  Until then it is not used: a key is found only by the wrapped key in the row that
the request read, which shredding empties and rotation replaces, and only while the provider is
as it was (``KeyProvider.version``).

A key is never overwritten while a request uses it: taking a shelf down leaves its keys to the
requests that have them, and each is overwritten when the last of those is done.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Final

from penstock.encryption.key import Key

SECONDS: Final = 5.0
"""The longest time that a key is kept after the provider unwrapped it, or the key above it."""

MOST: Final = 1024
"""The most keys that are kept at once; the oldest goes first."""

After = Callable[[float, Callable[[], None]], None]


class Shelf:
    """Hold keys by name, which were unwrapped by one version of the provider."""

    def __init__(self, version: Hashable, until: float) -> None:
        self.version = version
        self.until = until
        self._keys: dict[Hashable, Key] = {}
        self._lock = threading.Lock()

    def key(self, name: Hashable, unwrap: Callable[[], Key]) -> Key:
        """Return the key of a name, which ``unwrap`` returns if it is not kept."""
        key = self._keys.get(name)
        if key is None:
            key = unwrap()
            with self._lock:
                if len(self._keys) >= MOST:
                    del self._keys[next(iter(self._keys))]
                self._keys[name] = key
        return key


class KeptKeys:
    """Hold the shelf of a process.  Threads may share it; a child begins without any key.

    ``clock`` is in seconds, and ``after`` calls a function after so many of them, in a thread.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, after: "After | None" = None
    ) -> None:
        self._clock = clock
        self._after = after or _after
        self.begin_empty()
        _every.add(self)

    def begin_empty(self) -> None:
        """Keep nothing, and wait for nothing, as at the beginning of a process."""
        self._lock = threading.Lock()
        self._shelf: Shelf | None = None
        self._waits = False

    def shelf(self, version: Hashable) -> Shelf:
        """Return the shelf for the keys of a version of the provider, which is the present one."""
        with self._lock:
            now, shelf = self._clock(), self._shelf
            if shelf is None or shelf.version != version or shelf.until <= now:
                shelf = Shelf(version, now + SECONDS)
                # Nothing may be kept that nothing would drop.
                self._shelf = shelf if self._will_clear() else None
        return shelf

    def _will_clear(self) -> bool:
        """Return True if the shelf is taken down in time; False if there is no thread for that."""
        if not self._waits:
            with suppress(RuntimeError):
                self._after(SECONDS, self._clear)
                self._waits = True
        return self._waits

    def forget(self) -> None:
        """Drop all keys."""
        with self._lock:
            self._shelf = None

    def _clear(self) -> None:
        """Take the shelf down, or one that was put up since in its place, before its time."""
        with self._lock:
            self._shelf, self._waits = None, False


def _after(seconds: float, act: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True  # the end of a process waits for no key
    timer.start()


_every: weakref.WeakSet[KeptKeys] = weakref.WeakSet()


def _begin_empty_in_child() -> None:
    for keys in list(_every):
        keys.begin_empty()


# A thread that waits is not copied with its process, and neither may be what it waits for.
os.register_at_fork(after_in_child=_begin_empty_in_child)
