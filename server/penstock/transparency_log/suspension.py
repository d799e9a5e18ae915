"""Log every suspension, however it ends.

If a database lacks what its witness saw, a leaf says so, which waits for its place; the witness
records since when.  If an admin acknowledges the restore, the leaf of that follows it.  If the two
agree again for another reason - the newest database was restored, or the witness was replaced by
one that knew less - the next change begins with a leaf that says so: from the witness's record in
the first case, from the database's in the second.
"""

import json
from contextlib import suppress
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.errors import IntegrityViolation, PenstockError
from penstock.persistence.database import Database
from penstock.persistence.tables.log import Leaf
from penstock.transparency_log import checkpoints, leaves, tree_store
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.witness.file_witness import Witness

KIND = "suspension"
ACTOR = "server"
"""The actor of these leaves, since no known user caused it."""

_WAITING = select(Leaf.id).where(col(Leaf.kind) == KIND, col(Leaf.index).is_(None)).limit(1)
_ACKNOWLEDGED = (
    select(Leaf)
    .where(col(Leaf.kind) == "restore", col(Leaf.index).is_not(None))
    .order_by(col(Leaf.index).desc())
    .limit(1)
)
_LAST = (
    select(Leaf).where(col(Leaf.kind).in_((KIND, "restore"))).order_by(col(Leaf.id).desc()).limit(1)
)


def suspend(database: Database, witness: Witness, seen: Sight, at: datetime) -> None:
    """Record, if that can be written, that the database lacks what was ``seen``."""
    with suppress(PenstockError):
        witness.suspend(seen, leaves.timestamp(at))
    with suppress(PenstockError), database.write_unwatched() as session:
        if session.exec(_WAITING).first() is None:
            _append(session, seen, at, state="found", root=seen.root.hex())


def untold(session: Session, seen: Sight) -> str | None:
    """Return since when there is a suspension whose end the log does not record, or None."""
    last = session.exec(_LAST).first()
    if last is not None and last.kind == KIND:
        fields = json.loads(last.bytes)
        if fields["state"] == "found":
            return str(fields["at"])
    return seen.suspended_at or None


def tell_end(session: Session, seen: Sight, since: str, at: datetime) -> None:
    """Append the leaf that a suspension ended without being acknowledged."""
    _append(session, seen, at, state="ended", since=since, root=seen.root.hex() or None)


def _append(session: Session, seen: Sight, at: datetime, **more: str | None) -> None:
    """Append a leaf with the size that was seen and the size that the database has."""
    newest = checkpoints.newest(session)
    leaves.append(
        session,
        kind=KIND,
        at=at,
        actor=ACTOR,
        witnessed=seen.size,
        leaves=newest.size if newest else 0,
        **more,
    )


def acknowledged(session: Session, seen: Sight) -> bool:
    """Return True if the log proves that continuing without what was ``seen`` was acknowledged."""
    leaf = session.exec(_ACKNOWLEDGED).first()
    if leaf is None:
        return False
    with suppress(IntegrityViolation, ValueError):
        tree_store.require_proven(session, leaf)
        fields = json.loads(leaf.bytes)
        return (fields.get("witnessed"), fields.get("root")) == (seen.size, seen.root.hex())
    return False


def explained(seen: int, size: int) -> str:
    """Return the message of a suspension: what the witness saw, what is there, what to do."""
    state = f"has {size} leaves" if size < seen else "has other leaves in their place"
    return (
        f"The log's witness saw {seen} leaves, and this database {state}: it was restored to an"
        f" older state, or is a copy. What was drawn since then would be drawn a second time, so"
        f" nothing is drawn or changed, and only earlier releases are served. Restore the newest"
        f" database; if it is lost, acknowledge that with `penstock audit acknowledge-restore`."
    )
