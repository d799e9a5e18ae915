"""Keep what does not change from one request to the next, under the database's edition.

Everything kept was read together with the edition in one snapshot, and is used only while that is
still the database's: every change makes a new one (``persistence.editions``).  So a worker needs to
be told of nothing that another process does, and nothing has to be forgotten after a time.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

MOST = 512
"""The most values that are kept; the oldest goes first."""

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Keep values of one edition by name.  Threads may share it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._shelf: tuple[str, dict[Hashable, Value]] = ("", {})

    @property
    def edition(self) -> str:
        """Return the edition of what is kept; empty before anything is."""
        return self._shelf[0]

    def get(self, edition: str, name: Hashable) -> Value | None:
        """Return what is kept by ``name``, or None if that is of another edition."""
        kept, values = self._shelf
        return values.get(name) if kept == edition else None

    def keep(self, edition: str, name: Hashable, value: Value) -> None:
        """Keep a value that was read together with ``edition``; drop those of another one."""
        kept, values = self._shelf
        if kept != edition:
            values = {}
        elif len(values) >= self._most:
            values = dict(list(values.items())[1:])
        # A new pair, so that a reader in another thread never sees one edition's values under
        # another's name.
        self._shelf = (edition, {**values, name: value})
