"""Define the protocol of a place for chunks."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Final, Protocol

from penstock.errors import IntegrityViolation

ATTEMPT: Final = re.compile("[0-9a-f]{32}")
"""The name of an attempt.  Whatever has another name in a place is not ours, and stays there."""


class ChunkMissing(IntegrityViolation):
    """Report that a place has no chunk of a name; readers say what that means."""


Content = bytes | memoryview
"""A chunk's sealed bytes."""


class Writing(Protocol):
    """Write the chunks of one attempt, which nobody else takes for abandoned meanwhile."""

    def put(self, index: int, content: Content) -> None:
        """Store a chunk durably.  Raises ``Unavailable``, also if there is one of that name."""

    def settle(self) -> None:
        """Return when every chunk outlasts a loss of power.  Raises ``Unavailable``."""

    def keep(self) -> None:
        """Note that the database names the attempt, so that it is never taken for abandoned."""

    def close(self) -> None:
        """End the writing; without ``keep`` the attempt is abandoned."""


class ChunkStore(Protocol):
    """Define what long vectors need of a place for their chunks.

    An attempt is named by 32 hexadecimal digits, and its chunks are numbered from 0.
    """

    @property
    def place(self) -> str:
        """Return the place as people read it."""

    def require_room(self, size: int) -> None:
        """Raise ``NoRoom`` unless there is room for ``size`` bytes."""

    def begin(self, attempt: str) -> Writing:
        """Begin an attempt.  Raises ``Unavailable``, also if there is one of that name."""

    def joined(self, attempt: str) -> Writing:
        """Write chunks of an attempt that another process began and ends."""

    def read(self, attempt: str, index: int, room: memoryview | None = None) -> Content:
        """Return a chunk, which may be in ``room`` if it has that size.

        Raises ``ChunkMissing`` and ``Unavailable``.
        """

    def attempts(self) -> Iterator[str]:
        """Yield every attempt."""

    def chunks(self, attempt: str) -> Iterator[int]:
        """Yield the numbers of an attempt's chunks, ascending."""

    def abandoned(self) -> Iterator[str]:
        """Yield the attempts that were not kept; some may still be written."""

    def claimed(self, attempt: str) -> AbstractContextManager[bool]:
        """Keep an attempt from being written meanwhile; False if somebody is writing it."""

    def mark(self, attempt: str) -> None:
        """Note that the database names an attempt, as ``Writing.keep`` does."""

    def remove(self, attempt: str) -> None:
        """Remove an attempt with all its chunks; of one that is not there, do nothing."""
