"""Count refused requests across all workers until they are recorded in the log."""

import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from penstock.errors import PenstockError
from penstock.http.counting.shared_memory import Shared
from penstock.services.audit.refusals import CAUSES
from penstock.transparency_log.background import BackgroundThread

PERIOD: Final = 3600.0
"""Seconds between the first counted request and its leaf.

However many requests are refused, the log grows by one leaf an hour.
"""

_LOOK: Final = 60.0
"""Seconds between two checks whether that time is over, in a process that refuses nothing."""

_ENTRY: Final = struct.Struct(f"<2d{len(CAUSES)}Q")
BYTES: Final = _ENTRY.size
LAYOUT: Final = f"refused {_ENTRY.format} {' '.join(CAUSES)}"
_NOTHING: Final = _ENTRY.pack(0.0, 0.0, *[0] * len(CAUSES))

Tell = Callable[[Mapping[str, int], float], None]


_SIGN_IN: Final = ("POST", "/sign-in")
_BY_STATUS: Final = {403: "not_allowed", 404: "not_found", 429: "too_often"}


def cause_of(status: int, verb: str, route: str | None, *, token: bool) -> str | None:
    """Return the cause (one of ``CAUSES``) for which a request was refused; ``None`` if it was not.

    ``status`` is that of the answer, ``route`` the rule that matched the address, and ``token``
    says whether a header held a token.
    """
    if status != HTTPStatus.UNAUTHORIZED:
        return _BY_STATUS.get(status)
    if (verb, route) == _SIGN_IN:
        return "failed_sign_ins"
    return "bad_tokens" if token else "not_signed_in"


class Refused:
    """Count answers at ``offset`` in the shared memory.

    ``tell`` receives the count of each cause, and the number of seconds since the first of them; if
    it raises a ``PenstockError``, they stay counted.  ``clock``, in seconds and above 0, is the
    same for all processes that share the memory.
    """

    def __init__(
        self, memory: Shared, offset: int, tell: Tell, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._memory = memory
        self._offset = offset
        self._tell = tell
        self._clock = clock
        self._look_at = 0.0
        self._writer = BackgroundThread("refusals")

    def count(self, cause: str | None) -> None:
        """Count one answer (``None``: not refused), and record the counts when it is time."""
        now = self._clock()
        if cause is not None:
            self._add(now, [int(name == cause) for name in CAUSES])
        elif now < self._look_at:
            return
        self._look_at = now + _LOOK
        if self._due(now - PERIOD):
            self._writer.submit(lambda: self._tell_of(now - PERIOD))

    def close(self) -> None:
        """Record the remaining counts in the log, before the process ends."""
        # After a leaf that is being written now: it would be lost with the process.
        self._writer.submit(lambda: self._tell_of(self._clock())).result()

    def _due(self, until: float) -> bool:
        with self._memory.locked() as memory:
            return _is_due(memory, self._offset, until)

    def _add(self, began: float, counts: Sequence[int], tried: float = 0.0) -> None:
        with self._memory.locked() as memory:
            first, last, *known = _ENTRY.unpack_from(memory, self._offset)
            sums = [count + more for count, more in zip(known, counts, strict=True)]
            began = min(first, began) if first else began
            _ENTRY.pack_into(memory, self._offset, began, max(last, tried), *sums)

    def _tell_of(self, until: float) -> None:
        """Record the counts in the log if the first was no later than ``until``."""
        with self._memory.locked() as memory:
            if not _is_due(memory, self._offset, until):
                return
            began, _, *counts = _ENTRY.unpack_from(memory, self._offset)
            memory[self._offset : self._offset + BYTES] = _NOTHING
        has_reported = False
        try:
            with suppress(PenstockError):
                self._tell(dict(zip(CAUSES, counts, strict=True)), self._clock() - began)
                has_reported = True
        finally:
            if not has_reported:
                # Not before another period: the obstacle may last.
                self._add(began, counts, self._clock())


def _is_due(memory: memoryview, offset: int, until: float) -> bool:
    """Return True if something was counted, and no attempt failed after ``until``."""
    began, tried, *_ = _ENTRY.unpack_from(memory, offset)
    return bool(began) and max(began, tried) <= until
