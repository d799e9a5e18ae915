"""One long computation at a time for each person, so that nobody's typing holds up the server."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from penstock.errors import Conflict


class Turns:
    """Whose computation is under way in this worker."""

    def __init__(self) -> None:
        self._locks: dict[str, Lock] = {}

    @contextmanager
    def taken(self, person: str, patience: float) -> Iterator[None]:
        """Compute for ``person``, waiting at most ``patience`` seconds for what is under way.

        Raises ``Conflict`` where that is not done by then.
        """
        lock = self._locks.setdefault(person, Lock())
        if not lock.acquire(timeout=patience):
            raise Conflict(
                "Your last preview is still being worked out; ask again when it is done. Very"
                " small or very large numbers take long."
            )
        try:
            yield
        finally:
            lock.release()
