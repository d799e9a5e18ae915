"""Grow the log's tree in the database, and read its hashes.

It stores the hashes of complete subtrees, each written once: about one row for every leaf, and a
proof reads at most O(log n) of them.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from sqlalchemy import (
    BigInteger,
    LargeBinary,
    String,
    and_,
    bindparam,
    cast,
    insert,
    literal_column,
    null,
    or_,
    union_all,
    update,
)
from sqlmodel import Session, col, select

from penstock.errors import IntegrityViolation
from penstock.persistence.locks import lock_log
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.log import Leaf, Octets, TreeNode
from penstock.transparency_log import checkpoints, leaves, merkle
from penstock.transparency_log.checkpoints import NewestCheckpoint, Signer
from penstock.transparency_log.leaves import APPENDED
from penstock.transparency_log.merkle.tree import Frontier, Node, Reader

BATCH = 1000
"""The most leaves that go into the tree at once."""

_LEAF, _NODE, _CHECKPOINT = (metadata.tables[name] for name in ("leaf", "tree_node", "checkpoint"))

_NEWEST, _SEEN, _TAIL, _PENDING = range(4)
"""The parts of the end of the log, as the rows of ``_END`` are numbered."""


def _part(number: int, *values: Any) -> Any:
    names = ("number", "digest", "content", "text")
    columns = (value.label(name) for value, name in zip(values, names, strict=True))
    return select(literal_column(str(number)).label("part"), *columns)


_NO_CONTENT, _NO_TEXT = cast(null(), LargeBinary), cast(null(), String)
_PARTS = (
    _part(_NEWEST, _CHECKPOINT.c.size, _CHECKPOINT.c.root, _NO_CONTENT, _CHECKPOINT.c.note)
    .order_by(_CHECKPOINT.c.size.desc())
    .limit(1),
    _part(_SEEN, _CHECKPOINT.c.size, _CHECKPOINT.c.root, _NO_CONTENT, _NO_TEXT).where(
        _CHECKPOINT.c.size == bindparam("seen", type_=BigInteger)
    ),
    _part(_TAIL, _LEAF.c.index, _LEAF.c.hash, _NO_CONTENT, _LEAF.c.kind)
    .where(_LEAF.c.index >= bindparam("since", type_=BigInteger))
    .order_by(_LEAF.c.index)
    .limit(BATCH),
    _part(_PENDING, _LEAF.c.id, _LEAF.c.hash, _LEAF.c.bytes, _LEAF.c.kind)
    .where(_LEAF.c.index.is_(None))
    .order_by(_LEAF.c.id)
    .limit(BATCH),
)
_END = Prepared(union_all(*(select(part.subquery()) for part in _PARTS)))
_PLACE = (
    update(_LEAF)
    .where(_LEAF.c.id == bindparam("leaf_id"))
    .values({_LEAF.c.index: bindparam("place")})
)
_SIGN = Prepared(
    insert(_CHECKPOINT)
    .values({name: bindparam(name) for name in ("size", "root", "note", "log_key_id")})
    .inline()
)
_GROW = Prepared(
    insert(_NODE).values({name: bindparam(name) for name in ("level", "position", "hash")}).inline()
)


class Placeable(Protocol):
    """Hold a leaf that is to get a place: a row, or the leaf that a transaction appends."""

    id: int | None
    index: int | None
    bytes: Octets
    hash: Octets
    kind: str


@dataclass
class PendingLeaf:
    """Hold the row of a leaf that was stored without a place."""

    id: int | None
    bytes: Octets
    hash: Octets
    kind: str
    index: int | None = None


@dataclass
class LogEnd:
    """Hold the end of the log as one transaction finds it, and give leaves their places after it.

    ``seen_root`` is the root of the tree of the size that was looked up, or None if there is no
    checkpoint of that size.  ``tail`` has the index, hash and kind of the last leaves.  ``known``
    is the right edge of an earlier tree, which is used only if it leads to the newest root.
    """

    newest: NewestCheckpoint | None
    seen_root: bytes | None
    tail: Sequence[tuple[int, bytes, str]]
    pending: Sequence[PendingLeaf]
    known: Frontier | None
    placed: list[Placeable] = field(default_factory=list)
    edge: Frontier | None = None
    _nodes: list[tuple[Node, bytes]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Return the number of leaves that the newest checkpoint covers."""
        return self.newest.size if self.newest else 0

    def place(self, session: Session, leaf: Placeable) -> None:
        """Give a leaf its place, after those that were stored without one.

        Raises ``IntegrityViolation`` for a leaf that does not fit its hash.
        """
        self._place_pending(session)
        self._add(session, leaf)

    def store(self, session: Session, signer: Signer, at: datetime) -> NewestCheckpoint | None:
        """Store the tree with the leaves that were placed, and sign its checkpoint.

        Leaves that wait for a place get one as well.  Returns the newest checkpoint.
        """
        self._place_pending(session)
        if not self.placed or self.edge is None:
            return self.newest
        if self.pending:
            places = [{"leaf_id": leaf.id, "place": leaf.index} for leaf in self.pending]
            session.connection().execute(_PLACE, places)
        _store(session, self._nodes)
        time = _time(session, self.newest, self.placed, at)
        return _signed(session, signer, self.edge, time)

    def _place_pending(self, session: Session) -> None:
        if self.edge is None:
            self.edge = self._right_edge(session)
            for leaf in self.pending:
                self._add(session, leaf)

    def _add(self, session: Session, leaf: Placeable) -> None:
        edge_now = self.edge = self.edge or self._right_edge(session)
        leaf.index = edge_now.size
        self._nodes += edge_now.add(_checked(leaf))
        self.placed.append(leaf)

    def _right_edge(self, session: Session) -> Frontier:
        """Return the right edge of the newest tree: the known one with the tail, or from rows."""
        if self.newest is None:
            return Frontier()
        if self.known is not None and self.known.size <= self.size:
            reached = self.known.copy()
            for index, digest, _ in self.tail:
                if index == reached.size < self.size:
                    reached.add(digest)
            # The root commits to every hash, so that an edge of another log is not taken for ours.
            if (reached.size, reached.root) == (self.size, self.newest.root):
                return reached
        return edge(session, self.size)


class _EndRow(NamedTuple):
    number: int
    digest: Any
    content: Any
    text: Any


def read_end(
    session: Session, *, seen: int = 0, known: Frontier | None = None, since: int | None = None
) -> LogEnd:
    """Lock the log until the transaction ends, and read its end in one statement.

    ``seen`` is the size whose root is compared; the tail begins at ``since``, and at the end of
    ``known`` at the latest.
    """
    lock_log(session)
    begin = _NONE if known is None else min(known.size, known.size if since is None else since)
    parts: dict[int, list[_EndRow]] = {_NEWEST: [], _SEEN: [], _TAIL: [], _PENDING: []}
    for row in _END.every(session.connection(), {"seen": seen, "since": begin}):
        parts[row["part"]].append(
            _EndRow(row["number"], row["digest"], row["content"], row["text"])
        )
    newest = [NewestCheckpoint(row.number, row.digest, row.text) for row in parts[_NEWEST]]
    return LogEnd(
        newest=newest[0] if newest else None,
        seen_root=parts[_SEEN][0].digest if parts[_SEEN] else None,
        tail=sorted((row.number, row.digest, row.text) for row in parts[_TAIL]),
        pending=[
            PendingLeaf(row.number, row.content, row.digest, row.text)
            for row in sorted(parts[_PENDING], key=lambda row: row.number)
        ],
        known=known,
    )


_NONE = 1 << 62
"""A place that no leaf has: with it, the tail is empty."""


def integrate(
    session: Session, signer: Signer, at: datetime, end: LogEnd | None = None
) -> tuple[NewestCheckpoint | None, Sequence[Placeable]]:
    """Append the leaves without a place to the tree, and sign a checkpoint.

    ``end`` is the end of the log if the caller read it in this transaction.  Returns the newest
    checkpoint, and the leaves that it is the first to cover.  Raises ``IntegrityViolation`` for a
    leaf that does not fit its hash.
    """
    end = end or read_end(session)
    newest = end.store(session, signer, at)
    own = {leaf.id: leaf for leaf in session.info.get(APPENDED, ())}
    for leaf in end.placed:
        if leaf.id in own:
            own[leaf.id].index = leaf.index
    return newest, end.placed


def adopt(session: Session, signer: Signer, at: datetime) -> bool:
    """Put the next batch of leaves of a log that had no tree at their places.

    Returns True if there may be more of them.
    """
    newest = read_end(session).newest
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
        _signed(session, signer, frontier, time)
    return len(placed) == BATCH


def _signed(session: Session, signer: Signer, tree: Frontier, at: datetime) -> NewestCheckpoint:
    made = signer.sign(tree.size, tree.root, at)
    row = {"size": made.size, "root": made.root, "note": made.note, "log_key_id": signer.row}
    _SIGN.change(session.connection(), row)
    return made


def _time(
    session: Session, newest: NewestCheckpoint | None, batch: Sequence[Placeable], at: datetime
) -> datetime:
    """Return the signing time of leaves: not before the last, unless a leaf declares that wrong."""
    given_up = [json.loads(leaf.bytes)["at"] for leaf in batch if leaf.kind == leaves.CLOCK]
    if given_up:
        return datetime.fromisoformat(given_up[-1])
    before = checkpoints.signed_at(newest.note) if newest is not None else None
    if (
        before is None
        or before <= at
        or not checkpoints.signed(session, checkpoints.newest(session))
    ):
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


def _digest(leaf: Placeable) -> bytes:
    """Return a leaf's hash, or one that no leaf has if SQLite stores something other than bytes."""
    content: object = leaf.bytes
    return merkle.leaf_hash(content) if isinstance(content, bytes) else b""


def _checked(leaf: Placeable) -> bytes:
    if _digest(leaf) != leaf.hash:
        raise IntegrityViolation(
            "A leaf of the log was altered outside of this server before it was in the tree;"
            " nothing is added to it. Restore the database from a backup."
        )
    return leaf.hash


def _store(session: Session, nodes: list[tuple[Node, bytes]]) -> None:
    rows = [
        {"level": level, "position": position, "hash": digest}
        for (level, position), digest in nodes
    ]
    if len(rows) == 1:
        _GROW.change(session.connection(), rows[0])
    elif rows:
        _GROW.change_all(session.connection(), rows)
