"""Tell the server's time: the machine's, and never before the log was signed last.

What has an end (a token, a session, a proposal, an allowance) would be alive again on a machine
whose clock was set back, and leaves would say times that had passed.  So every request looks at
the newest checkpoint, whose note says when it was signed: that is the *floor*.  While the
machine's clock is behind it, time stands still there, for every process of the database and
after a start as well.

A clock that was ahead leaves a floor ahead of the truth, at which nothing ends.  The operator says
so (``clocks.acknowledge``): the leaf of that says both times, and its checkpoint carries the
machine's.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlmodel import Session

from penstock.errors import Unavailable
from penstock.transparency_log import checkpoints, leaves

TOLERANCE: Final = timedelta(seconds=60)
"""By how much clocks of machines that serve one database may differ without a word."""

LOGGER = logging.getLogger("penstock.clock")


@dataclass(frozen=True)
class Difference:
    """Hold the machine's time, and the later one that the log was signed at."""

    machine: datetime
    signed: datetime

    @property
    def lag(self) -> timedelta:
        """By how much the machine's clock is behind."""
        return self.signed - self.machine

    @property
    def sentence(self) -> str:
        """Return what is wrong, what follows, and what to do."""
        return (
            f"This machine's clock says {leaves.timestamp(self.machine)}, and the log was signed at"
            f" {leaves.timestamp(self.signed)}: the clock was set back, or was ahead then. Until it"
            " has caught up, time stands still there, so that nothing that had ended is valid"
            " again and nothing ends. Set the clock right; where it is right, `penstock audit"
            " acknowledge-clock` says that the log's time was wrong."
        )


class LoggedTime:
    """Answer the time in UTC: the later one of ``machine`` and the floor that was seen last."""

    def __init__(self, machine: Callable[[], datetime]) -> None:
        self.machine = machine
        self._floor: datetime | None = None
        self._genuine = ""
        self._has_warned = False

    def __call__(self) -> datetime:
        """Tell the time."""
        now, floor = self.machine(), self._floor
        return now if floor is None else max(now, floor)

    def look(self, session: Session) -> None:
        """See when the log was signed last.  A checkpoint that nobody signed tells nothing."""
        note = checkpoints.newest_note(session)
        if note is None:
            self._floor = None
            return
        now, signed_at = self.machine(), checkpoints.signed_at(note)
        if signed_at is None or signed_at <= now:
            self._floor, self._has_warned = None, False
            return
        # Looked at only here, since a signature takes longer than all else.
        if note != self._genuine:
            if not checkpoints.signed(session, checkpoints.newest(session)):
                self._floor = None
                return
            self._genuine = note
        self._floor = signed_at
        if signed_at - now > TOLERANCE and not self._has_warned:
            self._has_warned = True
            LOGGER.warning(Difference(now, signed_at).sentence)

    def difference(self) -> Difference | None:
        """Say how far the machine is behind what was seen last; ``None`` where it is not."""
        now, floor = self.machine(), self._floor
        return None if floor is None or floor <= now else Difference(now, floor)

    def require(self, session: Session) -> None:
        """Raise ``Unavailable`` where the machine is more than ``TOLERANCE`` behind the log."""
        self.look(session)
        difference = self.difference()
        if difference is not None and difference.lag > TOLERANCE:
            raise Unavailable(difference.sentence)
