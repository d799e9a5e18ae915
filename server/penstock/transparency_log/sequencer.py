"""Give leaves their places in the tree in batches, and make answers wait for that.

A leaf is stored without a place in the transaction that it records, so that releases of different
queries commit in parallel.  Afterwards one thread of each process puts all waiting leaves into the
tree, many in one transaction, signs a checkpoint, and lets the witness see it.  Only then are the
requests of these leaves answered.  If the database has one writer at a time anyway, leaves get
their places in their own transaction.
"""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from sqlalchemy import bindparam
from sqlalchemy.orm.attributes import set_committed_value
from sqlmodel import Session, col, select

from penstock.encryption.providers import KeyProvider
from penstock.errors import LogUnavailable, Suspended
from penstock.persistence.database import Database
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.log import Checkpoint, Leaf
from penstock.transparency_log import checkpoints, leaves, suspension, tree_store
from penstock.transparency_log.background import BackgroundThread
from penstock.transparency_log.checkpoints import NewestCheckpoint, Signer
from penstock.transparency_log.leaves import APPENDED, END, AppendedLeaf, note_of
from penstock.transparency_log.logged_time import LoggedTime
from penstock.transparency_log.merkle.tree import Frontier
from penstock.transparency_log.sights import NOTHING, Sight
from penstock.transparency_log.tree_store import LogEnd, Placeable
from penstock.transparency_log.witness.file_witness import Witness

CHARGING = frozenset({"query", "level", "tier", "budget", "dataset"})
"""The kinds of leaves of changes that may come with charges; a grant never does."""

_SEEN = "seen"
"""The key in ``Session.info`` of what the witness saw before the transaction began."""

_PLACED = "placed"
"""The key in ``Session.info`` of the leaves that the transaction put into the tree itself."""

_SIGHT = "sight"
"""The key in ``Session.info`` of what the witness has to see after the commit."""

_ENDED = "ended"
"""The key in ``Session.info`` of whether the transaction records the end of a suspension."""

Place = tuple[int | None, str | None]
"""A leaf's index, and the note of the first checkpoint that covers it."""

_KINDS = select(Leaf.kind).where(
    col(Leaf.index) >= bindparam("first"), col(Leaf.index) < bindparam("end")
)


class Sequencer:
    """Watch every write of one process (``persistence.protocol.Watch``), and place its leaves.

    ``suspended`` says why nothing is drawn, if the database was restored to an older state; that is
    checked when a server is opened and before every write.  ``patience`` is how many seconds an
    answer waits for log and witness.
    """

    def __init__(
        self,
        database: Database,
        provider: KeyProvider,
        witness: Witness,
        clock: LoggedTime,
        patience: float,
    ) -> None:
        self.patience = patience
        self.witness = witness
        self.suspended: str | None = None
        self._untold: str | None = None
        self._database = database
        self._provider = provider
        self._clock = clock
        self._signer: Signer | None = None
        self._witnessed = 0
        self._moves = database.moves
        self._edge: Frontier | None = None
        self._start()

    def _start(self) -> None:
        """Use threads of this process; they start when they are needed."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._hand, self._eye = BackgroundThread("sequencer"), BackgroundThread("witness")
        self._waiting: Future[Mapping[int, Place]] | None = None
        self._due: Sight | None = None
        self._must_read = False
        self._look: Future[Sight] | None = None
        self._look_ends = 0.0

    def _start_in_child(self) -> None:
        # A forked child has no threads of its parent, and may have a copy of a held lock.
        if self._process != os.getpid():
            self._start()

    def look(self) -> Sight:
        """Return what the witness saw.  Raises ``LogUnavailable``, also if that takes too long."""
        self._start_in_child()
        with self._lock:
            now = time.monotonic()
            if self._look is None or self._look.done():
                self._look, self._look_ends = (
                    self._eye.submit(self.witness.seen),
                    now + self.patience,
                )
            # Do not wait again for one that hangs: requests that wait for a lock would wait in
            # turn.
            look, left = self._look, max(0.0, self._look_ends - now)
        try:
            return look.result(timeout=left)
        except TimeoutError as error:
            raise LogUnavailable(
                f"The log's witness did not answer within {self.patience:g} s, so nothing new is"
                f" answered. Check its disk, and try again."
            ) from error

    def coming(self, info: dict[str, Any]) -> None:
        """Read what the witness saw, while no lock is held.  Raises ``LogUnavailable``."""
        info[_SEEN] = self.look()

    def begun(self, session: Session) -> None:
        """Raise ``Suspended`` if the database lacks what the witness saw.

        If it lacked that and no longer does, without an acknowledgment, the transaction's first
        leaf says so.
        """
        # What was seen before the transaction began is in it as well, whatever was added since.
        seen = session.info.pop(_SEEN, None) or self.look()
        if self._database.one_writer:
            end = session.info[END] = self._end(session, seen)
            note, root = end.newest.note if end.newest else None, end.seen_root
        else:
            note, root = checkpoints.newest_note_and_root(session, seen.size)
        self._clock.note(session, note)
        try:
            self._compare(session, seen, root)
        except Suspended:
            # Not here: this exception ends the transaction, and another one records it.
            self._hand.submit(lambda: self._remember(seen))
            raise
        if self._untold is not None:
            # Another process may have recorded it, or acknowledged it.
            self._untold = suspension.untold(session, seen)
        if self._untold is not None:
            suspension.tell_end(session, seen, self._untold, self._clock())
            session.info[_ENDED] = True

    def _remember(self, seen: Sight) -> None:
        if self._untold is None:
            self._untold = leaves.timestamp(self._clock())
            suspension.suspend(self._database, self.witness, seen, self._clock())

    def _end(self, session: Session, seen: Sight) -> LogEnd:
        return tree_store.read_end(session, seen=seen.size, known=self._edge, since=self._witnessed)

    def _compare(self, session: Session, seen: Sight, root: bytes | None) -> None:
        """Raise ``Suspended`` unless ``root``, the database's at what was seen, is the one seen."""
        if root == seen.root or seen.size == 0:
            self._untold = self._untold or seen.suspended_at or None
            self.suspended = None
            return
        newest = checkpoints.newest(session)
        if newest is not None and suspension.acknowledged(session, seen):
            # The process that acknowledged it was stopped before the witness started over.
            anew = Sight(newest.size, newest.root, seen.accounts)
            self.witness.start_over(anew, instead_of=seen)
            self.suspended = self._untold = None
            return
        self.suspended = suspension.explained(seen.size, newest.size if newest else 0)
        raise Suspended(self.suspended)

    def ending(self, session: Session) -> None:
        """Give the transaction's own leaves their places, if it is the only writer.

        What the witness has to see is known then, and need not be read after the commit.
        """
        if self._database.one_writer and session.info.get(APPENDED):
            end = session.info.get(END) or tree_store.read_end(session)
            newest, batch = self._integrate(session, end)
            placed = _places(newest, batch)
            while len(batch) >= tree_store.BATCH:
                newest, batch = self._integrate(session)
                placed |= _places(newest, batch)
                end = tree_store.read_end(session)
            session.info[_PLACED] = placed
            session.info[_SIGHT] = self._sight(session, newest, end)

    def committed(self, info: dict[str, Any]) -> None:
        """Wait until the transaction's leaves are in the tree and the witness saw them."""
        appended = info.get(APPENDED)
        if appended:
            self.settle(appended, info.get(_PLACED, {}), info.get(_SIGHT))
        if info.get(_ENDED):
            self._untold = None
            self.witness.resume()

    def require_sound(self) -> None:
        """Raise ``Suspended`` or ``LogUnavailable`` if nothing can be drawn now."""
        with self._database.read() as session:
            seen = self.look()
            _, root = checkpoints.newest_note_and_root(session, seen.size)
            self._compare(session, seen, root)

    def place_now(self, session: Session) -> Sight:
        """Put waiting leaves into the tree, unwatched; return the newest checkpoint."""
        newest, placed = self._integrate(session)
        while len(placed) == tree_store.BATCH:
            newest, placed = self._integrate(session)
        return Sight(newest.size, newest.root) if newest else NOTHING

    def examine(self) -> None:
        """Compare the database with its witness, without raising a difference."""
        seen = None
        try:
            with suppress(LogUnavailable), self._database.read() as session:
                # Before reading the database: otherwise leaves written in between would look like
                # a loss.
                seen = self.look()
                note, root = checkpoints.newest_note_and_root(session, seen.size)
                self._clock.note(session, note)
                newest = checkpoints.newest(session)
                self._witnessed = min(newest.size if newest else 0, seen.size)
                self._compare(session, seen, root)
                self._untold = suspension.untold(session, seen)
        except Suspended:
            if seen is not None:
                self._remember(seen)

    def _recognize(self) -> None:
        """Examine the database again if it is on another server, which may have less of the log."""
        if self._moves != self._database.moves:
            self._moves = self._database.moves
            self._witnessed = 0
            self.examine()

    def covers(self, index: int | None) -> bool:
        """Return True if the request of the leaf at ``index`` may be answered without waiting."""
        self._recognize()
        return index is not None and index < self._witnessed and self.suspended is None

    def cover(self, leaf: Leaf) -> None:
        """Wait until the request of a stored leaf may be answered: it is placed and witnessed.

        If the server is suspended, its proof must verify as well.  Raises as ``settle`` does, and
        ``IntegrityViolation``.
        """
        self._recognize()
        if leaf.index is None or leaf.index >= self._witnessed:
            self.settle([leaf])
        if self.suspended is not None:
            with self._database.read() as session:
                tree_store.require_proven(session, leaf)

    def cover_tree(self, newest: Checkpoint) -> None:
        """Wait until the witness saw everything that ``newest`` covers.

        Raises as ``settle`` does.
        """
        self._recognize()
        if newest.size > self._witnessed:
            self.settle([])

    def settle(
        self,
        leaves: Sequence[Leaf | AppendedLeaf],
        known: Mapping[int, Place] | None = None,
        sight: Sight | None = None,
    ) -> None:
        """Wait until the requests of committed leaves may be answered, and set the leaves' places.

        ``sight`` is what the witness has to see of them; without it that is read.  Raises
        ``LogUnavailable`` if that takes too long, or the error that prevents it; a repeated request
        finds what was done, and waits for its leaf again.
        """
        try:
            receipts = {**(known or {}), **self._next_run(sight).result(timeout=self.patience)}
        except TimeoutError as error:
            raise LogUnavailable(
                f"The log did not store this within {self.patience:g} s, so it is not answered."
                f" Try again; what was done is stored and is not done twice."
            ) from error
        missing = [required(leaf.id) for leaf in leaves if leaf.id not in receipts]
        if missing:  # another process gave them their places
            with self._database.read() as session:
                rows = session.exec(select(Leaf).where(col(Leaf.id).in_(missing))).all()
                receipts |= {required(leaf.id): (leaf.index, note_of(leaf)) for leaf in rows}
        for leaf in leaves:
            index, note = receipts[required(leaf.id)]
            if isinstance(leaf, Leaf):
                set_committed_value(leaf, "index", index)
                set_committed_value(leaf, "note", note)
            else:
                leaf.index, leaf.note = index, note

    def _next_run(self, sight: Sight | None) -> "Future[Mapping[int, Place]]":
        """Return the first run that begins from now on; earlier ones may have missed a leaf."""
        self._start_in_child()
        with self._lock:
            if sight is None:
                self._must_read = True
            else:
                self._due = sight if self._due is None else self._due.joined(sight)
            if self._waiting is None:
                self._waiting = self._hand.submit(self._run)
            return self._waiting

    def _run(self) -> Mapping[int, Place]:
        with self._lock:
            sight, must_read = self._due, self._must_read
            self._waiting = self._due = None
            self._must_read = False
        placed: dict[int, Place] = {}
        if not self._database.one_writer:
            sight = self._drain(placed)
        elif must_read:  # whatever is due was committed before, so that this sees it too
            with self._database.read() as session:
                sight = self._sight(session, checkpoints.newest_without_row(session))
        if sight is not None:
            self.witness.advance(sight)
            self._witnessed = sight.size
        return placed

    def _drain(self, placed: dict[int, Place]) -> Sight | None:
        """Integrate batches until fewer leaves wait than fit into one."""
        while True:
            with self._database.write_aside() as session:
                seen = self.look()
                end = self._end(session, seen)
                self._compare(session, seen, end.seen_root)
                newest, batch = self._integrate(session, end)
                placed |= _places(newest, batch)
                if len(batch) < tree_store.BATCH:
                    sight = self._sight(session, newest, end)
            if len(batch) < tree_store.BATCH:
                return sight

    def _sight(
        self, session: Session, newest: NewestCheckpoint | None, end: LogEnd | None = None
    ) -> Sight | None:
        """Return what the witness has to see, with what accounts have spent if that changed.

        That is known from leaves that this process did not see witnessed: another process that
        wrote them may have been stopped before the witness saw their charges.  ``end`` has those
        that were placed just now, and the newest ones before them.
        """
        if newest is None:
            return None
        placed, last = (end.placed, end.tail) if end is not None else ([], [])
        kinds = {leaf.kind for leaf in placed}
        first, before = self._witnessed, newest.size - len(placed)
        tail = {index: kind for index, _, kind in last}
        if first >= before or {first, before - 1} <= tail.keys():
            kinds |= {kind for index, kind in tail.items() if first <= index < before}
        else:
            kinds |= set(session.exec(_KINDS, params={"first": first, "end": before}).all())
        if CHARGING.isdisjoint(kinds):
            return Sight(newest.size, newest.root)
        # Imported here, with the tables of charges: most commands charge nothing.
        from penstock.transparency_log.spending import accounts

        return Sight(newest.size, newest.root, accounts(session))

    def _integrate(
        self, session: Session, end: LogEnd | None = None
    ) -> tuple[NewestCheckpoint | None, Sequence[Placeable]]:
        if self._signer is None:
            self._signer = Signer.load(session, self._provider)
        end = end or tree_store.read_end(session, known=self._edge)
        result = tree_store.integrate(session, self._signer, self._clock.machine(), end)
        # Perhaps of a transaction that is rolled back: it is compared with the log's root.
        self._edge = end.edge or self._edge
        return result


def _places(newest: NewestCheckpoint | None, placed: Sequence[Placeable]) -> dict[int, Place]:
    note = newest.note if newest else None
    return {required(leaf.id): (leaf.index, note) for leaf in placed}
