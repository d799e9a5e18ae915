"""Return the server's time: the machine's, but never earlier than the newest checkpoint.

Whatever expires (a token, a session, a proposal, an allowance) would be valid again on a machine
whose clock was set back, and leaves would have times in the past.  So every request reads the
newest checkpoint, whose note says when it was signed: that time is the *floor*.  While the
machine's clock is behind the floor, the server's time stays at the floor, in every process of the
database and also after a restart.

A clock that was ahead leaves a floor in the future, during which nothing expires.  The operator can
declare that time wrong (``clocks.acknowledge``): a leaf records both times, and its checkpoint has
the machine's.
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
"""The difference between clocks of machines on one database that is tolerated without a message."""

LOGGER = logging.getLogger("penstock.clock")


@dataclass(frozen=True)
class Difference:
    """Hold the machine's time, and the later time at which the log was signed."""

    machine: datetime
    signed: datetime

    @property
    def lag(self) -> timedelta:
        """Return how far the machine's clock is behind."""
        return self.signed - self.machine

    @property
    def sentence(self) -> str:
        """Return a message: what is wrong, what follows, and what to do."""
        return (
            f"This machine's clock says {leaves.timestamp(self.machine)}, and the log was signed at"
            f" {leaves.timestamp(self.signed)}: the clock was set back, or was ahead at that"
            f" time. Until it has caught up, the server's time stays there: nothing that had"
            f" expired is valid again, and nothing expires. Correct the clock; if it is right,"
            f" declare the log's time wrong with `penstock audit acknowledge-clock`."
        )


class LoggedTime:
    """Return the time in UTC: the later one of ``machine`` and the newest floor."""

    def __init__(self, machine: Callable[[], datetime]) -> None:
        self.machine = machine
        self._floor: datetime | None = None
        self._genuine = ""
        self._has_warned = False

    def __call__(self) -> datetime:
        """Return the time."""
        now, floor = self.machine(), self._floor
        return now if floor is None else max(now, floor)

    def look(self, session: Session) -> None:
        """Read when the log was signed last.

        A checkpoint without a valid signature does not count.
        """
        self.note(session, checkpoints.newest_note(session))

    def passed(self, note: str | None) -> bool:
        """Return True if the newest checkpoint was signed before the machine's time, by its note.

        That is noted; if it is not so, ``look`` decides.
        """
        if note is None:
            self._floor = None
            return True
        signed_at = checkpoints.signed_at(note)
        if signed_at is None or signed_at <= self.machine():
            self._floor, self._has_warned = None, False
            return True
        return False

    def note(self, session: Session, note: str | None) -> None:
        """Do what ``look`` does, with the newest checkpoint's note as the caller read it."""
        if self.passed(note) or note is None:
            return
        now, signed_at = self.machine(), checkpoints.signed_at(note)
        if signed_at is None:
            return
        # Verified only here, since a signature takes longer than all else.
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
        """Return how far the machine is behind the newest floor; ``None`` if it is not."""
        now, floor = self.machine(), self._floor
        return None if floor is None or floor <= now else Difference(now, floor)

    def require(self, session: Session) -> None:
        """Raise ``Unavailable`` if the machine is more than ``TOLERANCE`` behind the log."""
        self.look(session)
        difference = self.difference()
        if difference is not None and difference.lag > TOLERANCE:
            raise Unavailable(difference.sentence)
