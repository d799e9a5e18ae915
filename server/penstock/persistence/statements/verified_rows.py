"""Remember rows whose HMACs matched, so that what is read again with the same bytes is not hashed.

A row is found here only by its table and all of its signed columns, with their types and with its
HMAC: one that was altered by a bit is another one, and is checked.  What is remembered belongs to
one set of keys and is dropped with it (``row_authentication.RowKeys``).  It holds what the database
has in plain columns, never a key, a ciphertext or what is in one.
"""

import os
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Final

MOST: Final = 2048
"""The most rows that are remembered; the oldest goes first."""

LONGEST: Final = 1024
"""The longest value of a remembered row, in bytes or characters."""


class VerifiedRows:
    """Hold rows that are authentic under one set of keys.

    Threads may share it; a child process begins without any row.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self.begin_empty()
        _every.add(self)

    def begin_empty(self) -> None:
        """Remember nothing, as at the beginning of a process."""
        self._lock = threading.Lock()
        self._rows: dict[tuple[Any, ...], None] = {}

    def has(self, table: str, values: Sequence[Any]) -> bool:
        """Return True if exactly this row was added; ``values`` begin with its HMAC."""
        return _name(table, values) in self._rows

    def add(self, table: str, values: Sequence[Any]) -> None:
        """Remember a row that is authentic, unless one of its values is long, or is 0.0."""
        if any(isinstance(value, str | bytes) and len(value) > LONGEST for value in values):
            return
        # Equal to -0.0, which is another value of the same type.
        if any(isinstance(value, float) and value == 0 for value in values):
            return
        with self._lock:
            if len(self._rows) >= self._most:
                del self._rows[next(iter(self._rows))]
            self._rows[_name(table, values)] = None


def _name(table: str, values: Sequence[Any]) -> tuple[Any, ...]:
    # With the types: 1 equals 1.0 and True, which their columns do not all take.
    return (table, *values, *map(type, values))


_every: weakref.WeakSet[VerifiedRows] = weakref.WeakSet()


def _begin_empty_in_child() -> None:
    for rows in list(_every):
        rows.begin_empty()


os.register_at_fork(after_in_child=_begin_empty_in_child)
