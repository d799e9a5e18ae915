"""Store a message for every new leaf of the log that is an event to send.

The log is read in the order of its leaves, and how far it was read is stored in the transaction
that stores the messages: whoever made a change, and with whatever settings, it becomes one message,
also if every process ended in between.  A message's identifier is made from the leaf, whose nonce
nobody guesses: a database that was restored makes the same one again.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, func, select

from penstock.persistence.dialects import duplicate
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.decided.deliveries import Delivery, LogReader
from penstock.persistence.tables.log import Leaf
from penstock.services.context import Server
from penstock.services.webhook import outbox
from penstock.services.webhook.log_events import KINDS, event_of
from penstock.transparency_log import suspension

READER = "webhook"
PART = 1000
"""The leaves that are read at once; so many without an event are passed over unnoted."""

_SPACE = uuid.UUID("6f0f5d0c-5b0d-4c53-9a0e-0c6f7f2f9b3a")
"""The space of names in which a leaf's hash is a message's identifier."""

_UNPLACED = (
    select(Leaf)
    .where(col(Leaf.index).is_(None), col(Leaf.kind) == suspension.KIND)
    .where(col(Leaf.id).not_in(select(Delivery.leaf_id).where(col(Delivery.leaf_id).is_not(None))))
)

_READER = select(LogReader).where(col(LogReader.name) == READER)


def read_on(server: Server) -> None:
    """Store the messages of all leaves that were not read yet.  Raises ``DatabaseUnavailable``."""
    while _has_news(server):
        try:
            with server.database.write_own_rows() as session:
                whole = _read_part(session, server)
        except IntegrityError as problem:
            if not duplicate(problem):
                raise
            return  # another process began to read at the same time
        if whole:
            return


def _has_news(server: Server) -> bool:
    """Return True if there are events to look at, or many leaves to pass over."""
    with server.database.read() as session:
        reader = session.exec(_READER).one_or_none()
        if reader is None or _unplaced(session, server):
            return True
        place = col(Leaf.index)
        new = select(Leaf.kind).where(place >= reader.next_leaf, place < reader.next_leaf + PART)
        kinds = session.exec(new).all()
    return len(kinds) == PART or not set(KINDS).isdisjoint(kinds)


def _read_part(session: Session, server: Server) -> bool:
    """Store the messages of the next leaves; return True if no more are left."""
    now = server.clock()
    reader = session.exec(_READER.with_for_update()).one_or_none() or _begun(session, now)
    end = _end(session)
    until = min(end, reader.next_leaf + PART)
    place = col(Leaf.index)
    new = select(Leaf).where(place >= reader.next_leaf, place < until, col(Leaf.kind).in_(KINDS))
    for leaf in [*session.exec(new.order_by(place)).all(), *_unplaced(session, server)]:
        _store(session, server, leaf, now)
    reader.next_leaf = until
    session.add(reader)
    return until == end


def _store(session: Session, server: Server, leaf: Leaf, now: datetime) -> None:
    """Store the message of a leaf, if it is an event to send that has none."""
    try:
        event = event_of(session, leaf)
    except (KeyError, TypeError, ValueError):
        return  # no server wrote it; an audit names it
    if event is None or event.name not in outbox.chosen(server.settings):
        return
    known = select(Delivery.id).where(col(Delivery.leaf_id) == leaf.id)
    if session.exec(known).first() is not None:  # it was sent when it had no place
        return
    public_id = str(uuid.uuid5(_SPACE, leaf.hash.hex()))
    number = required(leaf.id)
    session.add(
        Delivery(public_id=public_id, event=event.name, leaf_id=number, at=leaf.at, next_at=now)
    )


def _unplaced(session: Session, server: Server) -> Sequence[Leaf]:
    """Return the leaf of a suspension that lasts, which gets its place when that ends."""
    chosen = "server.suspended" in outbox.chosen(server.settings)
    return session.exec(_UNPLACED).all() if chosen else []


def _begun(session: Session, now: datetime) -> LogReader:
    """Begin to read at what happened since messages would have been forgotten."""
    recent = select(func.min(Leaf.index)).where(col(Leaf.at) >= now - outbox.KEPT)
    first = session.exec(recent).one()
    reader = LogReader(name=READER, next_leaf=_end(session) if first is None else first)
    session.add(reader)
    session.flush()
    return reader


def _end(session: Session) -> int:
    """Return the number of leaves that have their places."""
    last = session.exec(select(func.max(Leaf.index))).one()
    return 0 if last is None else last + 1
