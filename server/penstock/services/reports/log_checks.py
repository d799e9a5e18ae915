"""Check the log for a report: its checkpoint, its growth, the witness and the cosigners."""

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, func, select

from penstock.errors import LogUnavailable, NotFound, Suspended
from penstock.persistence.tables.log import Checkpoint, Leaf
from penstock.services.audit import cosigners
from penstock.services.context import Server
from penstock.transparency_log import checkpoints, leaves, merkle, tree_store
from penstock.transparency_log.sights import Sight


@dataclass(frozen=True)
class LogCheckView:
    """Hold what was checked of the log when a report was made.

    ``signature`` and ``root`` are of the newest checkpoint: the log's key signed it, and the stored
    tree has its root.  ``consistent_from`` is the size of the last signed tree before the period,
    or of the first one, and ``consistent`` says if the newest one begins with it.  ``witness`` says
    if the tree contains what the witness saw at ``witness_size`` leaves; both are null if the
    witness cannot be read.  ``cosigned_by`` are the cosigners whose signatures verify.
    """

    size: int
    root_hash: str
    signed_at: str
    checkpoint: str
    signature: bool
    root: bool
    consistent_from: int
    consistent: bool
    witness: bool | None
    witness_size: int | None
    cosigned_by: list[str]


def seen(server: Server) -> Sight | None:
    """Return what the witness saw last, to be compared with a later state of the database.

    None if it cannot be read, or if the server is suspended.
    """
    try:
        sight = server.sequencer.witness.seen()
        server.sequencer.require_sound()
    except (LogUnavailable, Suspended):
        return None
    return sight


def newest(session: Session) -> Checkpoint:
    """Return the newest checkpoint.  Raises ``NotFound`` if the log is empty."""
    row = checkpoints.newest(session)
    if row is None:
        raise NotFound("The log is empty; there is no checkpoint yet.")
    return row


def checked(
    server: Server, session: Session, row: Checkpoint, sight: Sight | None, start: datetime | None
) -> LogCheckView:
    """Check the log up to the checkpoint ``row``, for a period that begins at ``start``."""
    signature = checkpoints.signed(session, row)
    old = _before(session, row, start)
    spans = merkle.consistency_spans(old.size, row.size)
    hashes = merkle.hashes_of(spans, tree_store.reader(session))
    known = cosigners.configured(server.settings)
    signed_at = checkpoints.signed_at(row.note)
    return LogCheckView(
        size=row.size,
        root_hash=row.root.hex(),
        signed_at="" if signed_at is None else leaves.timestamp(signed_at),
        checkpoint=row.note,
        signature=signature,
        root=tree_store.edge(session, row.size).root == row.root,
        consistent_from=old.size,
        consistent=checkpoints.signed(session, old)
        and merkle.consistent(old.size, row.size, old.root, row.root, hashes),
        witness=None if sight is None else _contains(session, sight),
        witness_size=None if sight is None else sight.size,
        cosigned_by=[each.cosigner for each in cosigners.verified(session, row, known)],
    )


def _before(session: Session, row: Checkpoint, start: datetime | None) -> Checkpoint:
    """Return the last checkpoint of the leaves before ``start``, or the first of all."""
    earlier = 0
    if start is not None:
        before = select(func.count()).where(col(Leaf.index) < row.size, col(Leaf.at) < start)
        earlier = session.exec(before).one()
    last = (
        select(Checkpoint)
        .where(col(Checkpoint.size) <= earlier)
        .order_by(col(Checkpoint.size).desc())
        .limit(1)
    )
    first = select(Checkpoint).order_by(col(Checkpoint.size)).limit(1)
    return session.exec(last).first() or session.exec(first).one()


def _contains(session: Session, sight: Sight) -> bool:
    """Return True if the stored tree begins with what the witness saw."""
    placed = session.exec(select(func.max(Leaf.index))).one()
    if sight.size == 0:
        return True
    if placed is None or sight.size > placed + 1:
        return False
    return tree_store.edge(session, sight.size).root == sight.root
