"""Count refused requests in all workers together until the log tells of them."""

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
"""Seconds between the first request that is counted and the leaf of it: however much is refused,
the log grows by one leaf an hour."""

_LOOK: Final = 60.0
"""Seconds after which a process looks again whether that time is over, while it refuses nothing."""

_ENTRY: Final = struct.Struct(f"<2d{len(CAUSES)}Q")
BYTES: Final = _ENTRY.size
LAYOUT: Final = f"refused {_ENTRY.format} {' '.join(CAUSES)}"
_NOTHING: Final = _ENTRY.pack(0.0, 0.0, *[0] * len(CAUSES))

Tell = Callable[[Mapping[str, int], float], None]


_SIGN_IN: Final = ("POST", "/sign-in")
_BY_STATUS: Final = {403: "not_allowed", 404: "not_found", 429: "too_often"}


def cause_of(status: int, verb: str, route: str | None, *, token: bool) -> str | None:
    """Name why an answer of ``status`` refused a request (of ``CAUSES``), ``None`` if it did not.

    ``route`` is the rule that the address fits, and ``token`` says whether a header held one.
    """
    if status != HTTPStatus.UNAUTHORIZED:
        return _BY_STATUS.get(status)
    if (verb, route) == _SIGN_IN:
        return "failed_sign_ins"
    return "bad_tokens" if token else "not_signed_in"


class Refused:
    """Count answers at ``offset`` in what the workers share.

    ``tell`` is given each cause's count, and how many seconds ago the first of them was; what it
    raises of ``PenstockError`` leaves them counted.  ``clock``, in seconds and above 0, is the
    same for all who share the memory.
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
        """Count one answer (``None`` refuses nothing), and have the log told where it is time."""
        now = self._clock()
        if cause is not None:
            self._add(now, [int(name == cause) for name in CAUSES])
        elif now < self._look_at:
            return
        self._look_at = now + _LOOK
        if self._due(now - PERIOD):
            self._writer.submit(lambda: self._tell_of(now - PERIOD))

    def close(self) -> None:
        """Have the log told of what is left, before the process ends."""
        # Behind what is being logged just now: that would be lost with the process.
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
        """Have the log told of what was counted, if its first was no later than ``until``."""
        with self._memory.locked() as memory:
            if not _is_due(memory, self._offset, until):
                return
            began, _, *counts = _ENTRY.unpack_from(memory, self._offset)
            memory[self._offset : self._offset + BYTES] = _NOTHING
        has_told = False
        try:
            with suppress(PenstockError):
                self._tell(dict(zip(CAUSES, counts, strict=True)), self._clock() - began)
                has_told = True
        finally:
            if not has_told:
                # Not before another period: what stands in the way may do so for long.
                self._add(began, counts, self._clock())


def _is_due(memory: memoryview, offset: int, until: float) -> bool:
    """Return True if something was counted, and nothing was tried in vain after ``until``."""
    began, tried, *_ = _ENTRY.unpack_from(memory, offset)
    return bool(began) and max(began, tried) <= until
