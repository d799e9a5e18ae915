"""Grow the log's tree in the database, and read its hashes.

It stores the hashes of complete subtrees, each written once: about one row for every leaf, and a
proof reads at most O(log n) of them.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import and_, insert, or_
from sqlmodel import Session, col, select

from penstock.errors import IntegrityViolation
from penstock.persistence.locks import lock_log
from penstock.persistence.tables.log import Checkpoint, Leaf, TreeNode
from penstock.transparency_log import checkpoints, leaves, merkle
from penstock.transparency_log.checkpoints import Signer
from penstock.transparency_log.merkle.tree import Frontier, Node, Reader

BATCH = 1000
"""The most leaves that go into the tree at once."""

_PENDING = select(Leaf).where(col(Leaf.index).is_(None)).order_by(col(Leaf.id)).limit(BATCH)


def integrate(
    session: Session, signer: Signer, at: datetime
) -> tuple[Checkpoint | None, Sequence[Leaf]]:
    """Append the leaves without a place to the tree, and sign a checkpoint.

    The end of the log stays locked until the transaction ends.  Returns the newest checkpoint, and
    the leaves that it is the first to cover.  Raises ``IntegrityViolation`` for a leaf that does
    not fit its hash.
    """
    lock_log(session)
    newest = checkpoints.newest(session)
    pending = session.exec(_PENDING).all()
    if not pending:
        return newest, []
    frontier = edge(session, newest.size if newest else 0)
    nodes: list[tuple[Node, bytes]] = []
    for leaf in pending:
        leaf.index = frontier.size
        session.add(leaf)
        nodes += frontier.add(_checked(leaf))
    session.flush()
    _store(session, nodes)
    made = signer.sign(frontier.size, frontier.root, _time(session, newest, pending, at))
    session.add(made)
    session.flush()
    return made, pending


def adopt(session: Session, signer: Signer, at: datetime) -> bool:
    """Put the next batch of leaves of a log that had no tree at their places.

    Returns True if there may be more of them.
    """
    lock_log(session)
    newest = checkpoints.newest(session)
    frontier = edge(session, newest.size if newest else 0)
    placed = session.exec(
        select(Leaf).where(col(Leaf.index) >= frontier.size).order_by(col(Leaf.index)).limit(BATCH)
    ).all()
    nodes: list[tuple[Node, bytes]] = []
    for leaf in placed:
        if leaf.index != frontier.size:
            raise IntegrityViolation(
                f"The log has no leaf {frontier.size}, and has leaf {leaf.index}."
                " Restore the database from a backup."
            )
        nodes += frontier.add(_checked(leaf))
    if placed:
        _store(session, nodes)
        time = _time(session, newest, [], at)
        session.add(signer.sign(frontier.size, frontier.root, time))
        session.flush()
    return len(placed) == BATCH


def _time(
    session: Session, newest: Checkpoint | None, batch: Sequence[Leaf], at: datetime
) -> datetime:
    """Return the signing time of leaves: not before the last, unless a leaf declares that wrong."""
    given_up = [json.loads(leaf.bytes)["at"] for leaf in batch if leaf.kind == leaves.CLOCK]
    if given_up:
        return datetime.fromisoformat(given_up[-1])
    before = checkpoints.signed_at(newest.note) if newest is not None else None
    if before is None or before <= at or not checkpoints.signed(session, newest):
        return at
    return before


def edge(session: Session, size: int) -> Frontier:
    """Return the right edge of the tree when it had ``size`` leaves."""
    nodes = merkle.peaks(0, size)
    hashes = reader(session)(nodes)
    return Frontier(size, [hashes[node] for node in nodes])


def reader(session: Session) -> Reader:
    """Return a function that reads the hashes of nodes; those of leaves are in their own rows.

    Raises ``IntegrityViolation`` if one is missing.
    """

    def read(nodes: Collection[Node]) -> Mapping[Node, bytes]:
        batch = [position for level, position in nodes if level == 0]
        inner = [node for node in nodes if node[0] > 0]
        hashes: dict[Node, bytes] = {}
        if batch:
            rows = session.exec(
                select(Leaf.index, Leaf.hash).where(col(Leaf.index).in_(batch))
            ).all()
            hashes |= {(0, index): digest for index, digest in rows if index is not None}
        if inner:
            # Written out: for a list of rows SQLite would compare each with the whole table.
            of_nodes = or_(
                *(
                    and_(col(TreeNode.level) == level, col(TreeNode.position) == position)
                    for level, position in inner
                )
            )
            for row in session.exec(select(TreeNode).where(of_nodes)).all():
                hashes[row.level, row.position] = row.hash
        if len(hashes) != len(set(nodes)):
            raise IntegrityViolation(
                "Hashes of the log's tree are missing; no proof can be made with what is left."
                " Restore the database from a backup."
            )
        return hashes

    return read


def require_proven(session: Session, leaf: Leaf) -> None:
    """Raise ``IntegrityViolation`` unless a leaf's proof verifies up to its newest checkpoint."""
    newest = checkpoints.newest(session)
    index, size = leaf.index, newest.size if newest else 0
    proven = False
    if newest is not None and index is not None and index < size:
        path = merkle.hashes_of(merkle.inclusion_spans(index, size), reader(session))
        proven = merkle.included(_digest(leaf), index, size, path, newest.root)
    if not proven or not checkpoints.signed(session, newest):
        raise IntegrityViolation(
            "The log does not prove this release, so it is not served from a restored database."
            " Restore the newest database."
        )


def _digest(leaf: Leaf) -> bytes:
    """Return a leaf's hash, or one that no leaf has if SQLite stores something other than bytes."""
    content: object = leaf.bytes
    return merkle.leaf_hash(content) if isinstance(content, bytes) else b""


def _checked(leaf: Leaf) -> bytes:
    if _digest(leaf) != leaf.hash:
        raise IntegrityViolation(
            "A leaf of the log was altered outside of this server before it was in the tree;"
            " nothing is added to it. Restore the database from a backup."
        )
    return leaf.hash


def _store(session: Session, nodes: list[tuple[Node, bytes]]) -> None:
    if nodes:
        session.execute(
            insert(TreeNode),
            [
                {"level": level, "position": position, "hash": digest}
                for (level, position), digest in nodes
            ],
        )
