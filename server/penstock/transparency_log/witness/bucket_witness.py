"""Keep the witness's records in a bucket with object lock, one object for each, never replaced.

An object's number is its record's ``sequence``, which is authenticated with it (``sights``).  The
next record is made from the newest and put where no object is: of several hosts that try at once
one succeeds, and the others read its record and try behind it.  So records only go forward, each
with all that was seen before it.  A request that was cut off may have stored its record or not; it
is looked for and not assumed.

The newest record is the one with the highest number.  A process lists from the last that it knows,
which must still be there, unchanged, with no gap behind it.  One that starts finds the end by
leaps, and makes sure that no mark hides an object there: a lock keeps an object, and not its
name in a list.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from penstock.errors import LogUnavailable, Unavailable
from penstock.transparency_log import sights
from penstock.transparency_log.sights import NOTHING, Sight, Unauthentic
from penstock.transparency_log.witness.bucket import PAGE, Bucket, Name, Unreachable
from penstock.transparency_log.witness.slots import INVALID

Result = TypeVar("Result")

_LOCKED: Final = "COMPLIANCE"
_NO_SLOT: Final = 0
"""The size of its slot that a record in an object has."""


@dataclass(frozen=True)
class _Record:
    """Hold the newest record that is known, and its object."""

    name: Name
    sight: Sight


class BucketWitness:
    """Hold a ``Witness`` in a bucket, which several hosts share.

    ``keys`` authenticate its records, the newest first; ``patience`` is how many seconds it waits
    for others that write.
    """

    def __init__(
        self, bucket: Bucket, patience: float, keys: Callable[[], Sequence[bytes]]
    ) -> None:
        self._bucket = bucket
        self._patience = patience
        self._keys = keys
        self._known: _Record | None = None

    def seen(self) -> Sight:
        return self._reached(self._newest).sight

    def advance(self, sight: Sight) -> None:
        def change(seen: Sight) -> Sight | None:
            return seen.joined(sight) if seen.precedes(sight) else None

        self._reached(lambda: self._append(change, self._known))

    def begin(self) -> None:
        if not self.exists():
            self._reached(lambda: self._put(1, NOTHING))

    def exists(self) -> bool:
        """Return True if there is a record already.  Raises ``LogUnavailable``."""
        return self._reached(self._end) > 0

    def start_over(self, sight: Sight, instead_of: Sight | None = None) -> None:
        if instead_of is not None:
            self._reached(lambda: self._append(lambda seen: sight if seen == instead_of else None))
            return
        # The newest cannot be read, or is not authentic: whatever it is, this comes after it.
        while not self._reached(lambda: self._put(self._highest() + 1, sight)):
            pass

    def suspend(self, sight: Sight, at: str) -> None:
        def change(seen: Sight) -> Sight | None:
            is_new = seen == sight and not seen.suspended_at
            return replace(seen, suspended_at=at) if is_new else None

        self._reached(lambda: self._append(change))

    def resume(self) -> None:
        def change(seen: Sight) -> Sight | None:
            return replace(seen, suspended_at="") if seen.suspended_at else None

        self._reached(lambda: self._append(change))

    def renew(self) -> None:
        """Add the newest record under the newest key; records under another stay readable."""
        self._reached(lambda: self._append(lambda seen: seen))

    def take_over(self) -> None:
        """Do nothing: no earlier version has records in a bucket."""

    def require_locked(self, now: datetime) -> None:
        """Raise ``Unavailable`` unless the bucket locks each record, and stores none over another.

        The lock is in compliance mode.  A record whose lock has ended is added again first, so that
        the newest is always locked.
        """
        newest = self._reached(self._newest)
        lock = self._reached(lambda: self._bucket.lock(newest.name.number))
        if lock.mode == _LOCKED and lock.until is not None and lock.until <= now.astimezone(UTC):
            self.renew()
            newest = self._reached(self._newest)
            lock = self._reached(lambda: self._bucket.lock(newest.name.number))
        if lock.mode != _LOCKED or lock.until is None:
            raise Unavailable(
                f"The bucket of the log's witness, {self._bucket.place}, does not lock what is"
                " stored in it: whoever may write there could take records away, and nobody would"
                " notice a database that was restored. Make a bucket with object lock and a"
                " default retention in compliance mode, and name it in PENSTOCK_WITNESS_BUCKET."
            )
        if self._reached(lambda: self._is_stored_over(newest.name.number)):
            raise Unavailable(
                f"The bucket of the log's witness, {self._bucket.place}, stores an object over"
                " another although it is asked not to (`If-None-Match: *`): of two hosts one would"
                " take back what the other has seen. Name a bucket of S3, or of a store that"
                " honors this, in PENSTOCK_WITNESS_BUCKET."
            )

    def _is_stored_over(self, number: int) -> bool:
        """Return True if the store takes an object of a number that it has; content is the same."""
        content = self._bucket.read(number)
        return self._bucket.create(number, content) is not None

    def _append(
        self, change: Callable[[Sight], Sight | None], newest: _Record | None = None
    ) -> None:
        """Add what ``change`` makes of the newest record, until nothing is to be added.

        ``newest`` is tried first; if others have added more, theirs is read.
        """
        until = time.monotonic() + self._patience
        while True:
            newest = newest or self._newest()
            sight = change(newest.sight)
            if sight is None or self._put(newest.name.number + 1, sight):
                return
            if time.monotonic() > until:
                raise Unreachable("is written by others all the time")
            newest = None

    def _put(self, number: int, sight: Sight) -> bool:
        """Add a record, and return True; False if there is an object of this number."""
        content = sights.written(sight, self._keys()[0], number, _NO_SLOT)
        name = self._bucket.create(number, content)
        if name is not None:
            self._learn(_Record(name, sight))
        return name is not None

    def _newest(self) -> _Record:
        known = self._known
        if known is None:
            end = self._end()
            if not end:
                raise Unreachable("has no record")
            return self._learn(self._read(self._bucket.after(end - 1)[0]))
        last = known.name
        while page := self._bucket.after(last.number - 1):
            if page[0] != last:
                raise Unreachable(f"has record {last.number} no more, or another in its place")
            if page[-1].number - last.number != len(page) - 1:
                raise Unreachable("lacks a record between others")
            last = page[-1]
            if len(page) < PAGE:
                return known if last == known.name else self._learn(self._read(last))
        raise Unreachable(f"has record {last.number} no more")

    def _end(self) -> int:
        """Return the highest number, 0 without a record; no mark hides an object after it."""
        end = self._highest()
        if self._bucket.lock(end + 1).is_deleted:
            raise Unreachable(f"had a record {end + 1}, which was deleted")
        return end

    def _highest(self) -> int:
        """Return the highest number that is listed, by leaps that double while they find more."""
        highest, leap = 0, PAGE
        while page := self._bucket.after(highest):
            highest = page[-1].number
            while further := self._bucket.after(highest + leap):
                highest, leap = further[-1].number, 2 * leap
            leap = PAGE
        return highest

    def _read(self, name: Name) -> _Record:
        try:
            fields = sights.fields_of(self._bucket.read(name.number).decode())
            sight = sights.authenticated(fields, self._keys())
            if fields["sequence"] != name.number:
                raise Unauthentic(f"has another record in the place of number {name.number}")
        except INVALID:
            raise Unauthentic(f"has a record {name.number} that no server wrote") from None
        return _Record(name, sight)

    def _learn(self, record: _Record) -> _Record:
        if self._known is None or self._known.name.number < record.name.number:
            self._known = record
        return record

    def _reached(self, act: Callable[[], Result]) -> Result:
        try:
            return act()
        except (Unreachable, Unauthentic) as problem:
            what = str(problem)
        raise LogUnavailable(
            f"The log's witness in the bucket {what}, so nothing new is answered. Make the bucket"
            " usable again; if its records are lost, `penstock audit acknowledge-restore` starts"
            " over, and other servers that knew the lost ones are to be started again.",
            path=self._bucket.place,
            reason=what,
        )
