"""Return checkpoints, proofs and all leaves of the log, which anybody can verify."""

import base64
from collections.abc import Iterator

from sqlmodel import Session, col, select

from penstock.errors import InvalidInput, NotFound
from penstock.persistence.tables.log import Checkpoint, Leaf
from penstock.services.access.principals import Principal
from penstock.services.audit import cosigners
from penstock.services.context import Server
from penstock.transparency_log import checkpoints, merkle, tree_store
from penstock.transparency_log.views import CheckpointView, ConsistencyView, InclusionView, LeafView

HANDED_OUT = ("release", "stream")
"""The kinds of leaves for which a user holds a receipt."""

PART = 1000
"""The number of leaves of an export that are in memory at once."""


def checkpoint(server: Server) -> CheckpointView:
    """Return the newest checkpoint, which covers every leaf that any caller was answered about.

    Raises ``NotFound`` if the log is empty, and ``LogUnavailable``.
    """
    return cosigners.checkpoint(server)


def inclusion(
    server: Server, principal: Principal, index: int, size: int | None = None
) -> InclusionView:
    """Return the proof that leaf ``index`` is in the tree of ``size`` leaves (default: newest).

    An auditor may request any leaf; everybody else only the leaves of their own hand-outs, so that
    nobody can test guesses against hashes of other leaves.  Raises ``NotFound`` for any other
    leaf as for one that does not exist, ``InvalidInput`` for a size that the log did not reach,
    and for an auditor also if a tree of that size does not have the leaf.
    """
    with server.database.read() as session:
        whole = _newest(session).size
        size = whole if size is None else size
        if size > whole:
            raise _beyond("size", size, whole)
        if "auditor" not in principal.roles and not _handed(session, principal, index, size):
            raise NotFound(f"There is no leaf {index} of which you hold a receipt.")
        if not 0 <= index < size:
            raise InvalidInput(
                f"A tree of {size} leaves has no leaf {index}; ask for one from 0 to {size - 1}.",
                pointer="/index",
            )
        return _inclusion(session, index, size)


def consistency(server: Server, old: int, new: int) -> ConsistencyView:
    """Return the proof that the tree of ``new`` leaves begins with the tree of ``old``.

    Raises ``InvalidInput`` unless both are sizes of the log, the smaller one first.
    """
    with server.database.read() as session:
        whole = _newest(session).size
        if new > whole:
            raise _beyond("to", new, whole)
        if not 1 <= old <= new:
            raise InvalidInput(
                f"from must be a size of the log, from 1 to {new}; it is {old}.", pointer="/from"
            )
        hashes = merkle.hashes_of(merkle.consistency_spans(old, new), tree_store.reader(session))
        return {"from": old, "to": new, "hashes": [hash_.hex() for hash_ in hashes]}


def export(server: Server, principal: Principal) -> Iterator[LeafView]:
    """Yield all leaves of the newest checkpoint, in their order."""
    principal.require("auditor")
    return leaves(server, size(server))


def size(server: Server) -> int:
    """Return the number of leaves that the newest checkpoint covers."""
    with server.database.read() as session:
        newest = checkpoints.newest(session)
    return newest.size if newest else 0


def leaves(server: Server, count: int) -> Iterator[LeafView]:
    """Yield the first ``count`` leaves of the log in their order; the caller checks permission."""
    for start in range(0, count, PART):
        with server.database.read() as session:
            rows = session.exec(
                select(Leaf.index, Leaf.bytes)
                .where(col(Leaf.index) >= start, col(Leaf.index) < min(start + PART, count))
                .order_by(col(Leaf.index))
            ).all()
        for index, content in rows:
            yield LeafView(index or 0, base64.b64encode(content).decode())


def _handed(session: Session, principal: Principal, index: int, size: int) -> bool:
    """Return True if a leaf records a hand-out to ``principal``, who then holds its receipt."""
    if principal.user_id is None or index >= size:
        return False
    mine = select(Leaf.id).where(
        col(Leaf.index) == index,
        col(Leaf.user) == principal.name,
        col(Leaf.kind).in_(HANDED_OUT),
    )
    return session.exec(mine).first() is not None


def _inclusion(session: Session, index: int, size: int) -> InclusionView:
    read = tree_store.reader(session)
    hashes = merkle.hashes_of(merkle.inclusion_spans(index, size), read)
    leaf = read([(0, index)])[0, index]
    return InclusionView(index, size, leaf.hex(), [hash_.hex() for hash_ in hashes])


def _newest(session: Session) -> Checkpoint:
    newest_checkpoint = checkpoints.newest(session)
    if newest_checkpoint is None:
        raise NotFound("The log is empty; there is no checkpoint yet.")
    return newest_checkpoint


def _beyond(name: str, size: int, whole: int) -> InvalidInput:
    return InvalidInput(
        f"The log has {whole} leaves in its newest checkpoint, not {size}.", pointer=f"/{name}"
    )
