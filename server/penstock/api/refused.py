"""Refused requests, counted by all workers together until the log tells of them."""

import struct
import time
from collections.abc import Callable, Mapping
from typing import Final

from penstock.api.shared import Shared
from penstock.errors import PenstockError
from penstock.services.behind import Behind
from penstock.services.refusals import CAUSES

PERIOD: Final = 3600.0
"""Seconds between the first request that is counted and the leaf of it: however much is refused,
the log grows by one leaf an hour."""

_LOOK: Final = 60.0
"""Seconds after which a process looks again whether that time is over, while it refuses nothing."""

_ENTRY: Final = struct.Struct(f"<d{len(CAUSES)}Q")
BYTES: Final = _ENTRY.size
LAYOUT: Final = f"refused {_ENTRY.format} {' '.join(CAUSES.values())}"
_NOTHING: Final = (0,) * len(CAUSES)

Tell = Callable[[Mapping[str, int], float], None]


class Refused:
    """Counts answers at ``offset`` in what the workers share.

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
        self._causes = list(CAUSES)
        self._look_at = 0.0
        self._behind = Behind("refusals")

    def count(self, status: int) -> None:
        """Count one answer, and have the log told where it is time."""
        now = self._clock()
        if status in CAUSES:
            self._add(now, [int(one == status) for one in self._causes])
        elif now < self._look_at:
            return
        self._look_at = now + _LOOK
        taken = self._take(now - PERIOD)
        if taken is not None:
            began, counts = taken
            self._behind.submit(lambda: self._told(began, counts))

    def close(self) -> None:
        """Have the log told of what is left, before the process ends."""
        taken = self._take(self._clock())
        if taken is not None:
            self._told(*taken)

    def _add(self, began: float, counts: "list[int] | tuple[int, ...]") -> None:
        with self._memory.held() as memory:
            before, *known = _ENTRY.unpack_from(memory, self._offset)
            sums = [one + more for one, more in zip(known, counts, strict=True)]
            _ENTRY.pack_into(memory, self._offset, before or began, *sums)

    def _take(self, until: float) -> tuple[float, tuple[int, ...]] | None:
        """What was counted, which begins anew, where its first was no later than ``until``."""
        with self._memory.held() as memory:
            began, *counts = _ENTRY.unpack_from(memory, self._offset)
            if not began or began > until:
                return None
            _ENTRY.pack_into(memory, self._offset, 0.0, *_NOTHING)
        return began, tuple(counts)

    def _told(self, began: float, counts: tuple[int, ...]) -> None:
        now = self._clock()
        try:
            self._tell(dict(zip(CAUSES.values(), counts, strict=True)), now - began)
        except PenstockError:
            # Not before another period: what stands in the way may do so for long.
            self._add(now, counts)
