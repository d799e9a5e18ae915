"""Measure the free space for the database, and keep a reserve for taking access away.

A full disk refuses every write, also those that disable a user or revoke a token.  So while less
than a reserve is free, writes that grow the database are refused: releases, registrations, new
people and tokens.  Sessions of the web pages and idempotency records may take half of the reserve,
since admins need them; writes that take access away may take all of it.

SQLite keeps committed data twice for a while, in its write-ahead log and in the database: the
log's content counts as used space, and data to be written count twice.  A PostgreSQL server's disk
cannot be measured from here: there the size of the database is limited by a setting, if it is
given.  Every change writes to the witness, so its disk counts too.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import NoRoom
from penstock.persistence.database import Database
from penstock.persistence.protocol import Need
from penstock.settings import Settings

Measure = Callable[[], int]
"""A function that returns the bytes that are left, less those of the write-ahead log."""

SECONDS = 2.0
"""The time for which a PostgreSQL database's measured size is reused: measuring is slow."""

NOBODY_KNOWS = 2**62

_SHARE = {Need.GROWTH: 1.0, Need.LITTLE: 0.5}
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Room:
    """Hold the free space: ``left`` returns the bytes left; ``reserve`` of them are kept."""

    left: Measure
    reserve: int

    def require(self, need: Need, grows: int = 0) -> None:
        """Raise ``NoRoom`` if a write of ``need`` may not take ``grows`` bytes more."""
        if need is Need.RELIEF or not self.reserve:
            return
        left, kept = self.left(), int(self.reserve * _SHARE[need])
        if left - 2 * grows < kept:
            raise NoRoom(
                f"The database has {max(0, left) // _MEBIBYTE:,} MiB of room, and the last"
                f" {kept / _MEBIBYTE:,.3g} are kept for revoking tokens, disabling users and"
                " lowering clearances; nothing was changed. Existing releases are still served."
                " Ask the operator to make room on its disk, or to allow the database more."
            )

    def warning(self) -> str | None:
        """Return a warning if less than twice the reserve is left, or None."""
        left = self.left()
        if not self.reserve or left >= 2 * self.reserve:
            return None
        return (
            f"The database has {max(0, left) // _MEBIBYTE:,} MiB of room; with less than"
            f" {self.reserve / _MEBIBYTE:,.3g} nothing more is released or registered. Make room on"
            " its disk, or allow the database more."
        )


def of(settings: Settings, database: Database) -> Room:
    """Return the room of a server's database, and of the log's witness."""
    lefts: list[Measure] = [] if settings.witness_bucket else [on_disk(settings.witness_path)]
    if not settings.database_url:
        log = settings.database_path / "penstock.db-wal"
        lefts.append(on_disk(settings.database_path, log))
    elif settings.database_largest:
        lefts.append(UpTo(settings.database_largest, database.size))
    return Room(
        lambda: min((left() for left in lefts), default=NOBODY_KNOWS), settings.room_reserve
    )


def require(database: Database) -> None:
    """Raise ``NoRoom`` if no write that grows the database would be accepted."""
    if database.keeper is not None:
        database.keeper.require(Need.GROWTH)


def on_disk(folder: Path, log: Path | None = None) -> Measure:
    """Measure the room in ``folder``, without the content of the write-ahead ``log``."""

    def left() -> int:
        try:
            space = os.statvfs(folder)
        except OSError:
            return NOBODY_KNOWS  # the code that needs the folder reports the problem
        waiting = 0
        if log is not None:
            with suppress(OSError):
                waiting = log.stat().st_size
        return space.f_bavail * space.f_frsize - waiting

    return left


@dataclass
class UpTo:
    """Hold the room of a database of at most ``largest`` bytes; ``size`` returns its bytes."""

    largest: int
    size: Callable[[], int]
    clock: Callable[[], float] = time.monotonic
    _known: tuple[float, int] | None = field(default=None)

    def __call__(self) -> int:
        """Return the bytes that are left."""
        now = self.clock()
        if self._known is None or now >= self._known[0] + SECONDS:
            self._known = (now, self.size())
        return self.largest - self._known[1]
