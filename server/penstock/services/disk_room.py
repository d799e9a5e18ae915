"""The room that is left for the database, of which an end is kept for taking access away.

A disk that is full refuses every write, and so also to disable somebody or to revoke a token.
What grows is therefore refused while there is less than a reserve: releases, registrations, new
people and tokens.  Sessions of the pages, and what remembers that a request was done, may take half
of the reserve, since admins come by them; and what takes access away all of it.

SQLite keeps what was committed twice for a while, in its write-ahead log and in the database: what
is in the log counts as room that is gone already, and what is about to be written counts twice.
A PostgreSQL server's disk cannot be seen from here: there the size of the database is held to a
setting, where that is given.  The witness is written with every change, whatever it is, so that its
disk counts too.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import NoRoom
from penstock.persistence import Database, Need
from penstock.settings import Settings

Measure = Callable[[], int]
"""Bytes that are left, less those of the write-ahead log."""

SECONDS = 2.0
"""How long the size of a PostgreSQL database is believed: it takes a while to add up."""

NOBODY_KNOWS = 2**62

_SHARE = {Need.GROWTH: 1.0, Need.LITTLE: 0.5}
_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Room:
    """``left`` tells the bytes that are left; ``reserve`` of them are kept."""

    left: Measure
    reserve: int

    def require(self, need: Need, grows: int = 0) -> None:
        """Raise ``NoRoom`` where something of ``need`` may not take ``grows`` bytes more."""
        if need is Need.RELIEF or not self.reserve:
            return
        left, kept = self.left(), int(self.reserve * _SHARE[need])
        if left - 2 * grows < kept:
            raise NoRoom(
                f"The database has {max(0, left) // _MEBIBYTE:,} MiB of room, and the last"
                f" {kept / _MEBIBYTE:,.3g} are kept for revoking tokens, disabling users and"
                " lowering clearances; nothing was changed. What was handed out before is still"
                " served. The operator makes room on its disk, or allows the database more."
            )

    def warning(self) -> str | None:
        """What to see to where there is less than twice the reserve left, which is still enough."""
        left = self.left()
        if not self.reserve or left >= 2 * self.reserve:
            return None
        return (
            f"The database has {max(0, left) // _MEBIBYTE:,} MiB of room; with less than"
            f" {self.reserve / _MEBIBYTE:,.3g} nothing more is released or registered. Make room on"
            " its disk, or allow the database more."
        )


def of(settings: Settings, database: Database) -> Room:
    """Who keeps the room of a server's database, and of the log's witness beside it."""
    lefts: list[Measure] = [on_disk(settings.witness_path)]
    if not settings.database_url:
        log = settings.database_path / "penstock.db-wal"
        lefts.append(on_disk(settings.database_path, log))
    elif settings.database_largest:
        lefts.append(UpTo(settings.database_largest, database.size))
    return Room(lambda: min(left() for left in lefts), settings.room_reserve)


def require(database: Database) -> None:
    """Raise ``NoRoom`` where nothing that grows would be taken."""
    if database.keeper is not None:
        database.keeper.require(Need.GROWTH)


def on_disk(folder: Path, log: Path | None = None) -> Measure:
    """Measure the room in ``folder``, without what is in the write-ahead ``log``."""

    def left() -> int:
        try:
            space = os.statvfs(folder)
        except OSError:
            return NOBODY_KNOWS  # whoever needs the folder says what is wrong with it
        waiting = 0
        if log is not None:
            with suppress(OSError):
                waiting = log.stat().st_size
        return space.f_bavail * space.f_frsize - waiting

    return left


@dataclass
class UpTo:
    """The room of a database that may have ``largest`` bytes; ``size`` tells how many it has."""

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
