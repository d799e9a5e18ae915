"""Keep the messages that wait for the webhook.

A message about a request is stored in its transaction: there are both or neither, and sending
neither delays nor fails a request or a decision.  One about a leaf of the log is stored by whoever
reads the log on (``log_reading``).  Whoever sends one claims it first, by setting its
next time to after its longest duration: so each is sent by one process at a time, and again if that
process ends in between.  A receiver knows a repeated message by its delivery's identifier.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, delete, func, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.decided.deliveries import DELIVERED, GIVEN_UP, WAITING, Delivery
from penstock.persistence.tables.decided.requests import Asker
from penstock.persistence.tables.log import Leaf
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.webhook.posting import Outcome
from penstock.settings import Settings

RequestEventName = Literal["request.opened", "request.decided"]
DeliveryState = Literal["waiting", "delivered", "given_up"]

FIRST_PAUSE = timedelta(minutes=1)
"""The time after a first failed attempt; each is twice the last."""

LONGEST_PAUSE = timedelta(hours=6)
MOST_ATTEMPTS = 12
"""The attempts until a message is given up, about a day after the first."""

KEPT = timedelta(days=30)
"""How long deliveries are kept after their end."""

AT_ONCE = 100


@dataclass(frozen=True)
class Claim:
    """Hold a message that this process sends now."""

    id: int
    public_id: str
    event: str
    asker_id: int | None
    leaf_id: int | None
    at: datetime
    attempts: int


@dataclass(frozen=True)
class DeliveryView:
    """Hold what became of a message, and the request or the leaf's place that it is about."""

    id: str
    event: str
    request: str | None
    leaf: int | None
    state: DeliveryState
    attempts: int
    answer: str | None
    at: datetime
    next_at: datetime | None
    finished_at: datetime | None


def chosen(settings: Settings) -> frozenset[str]:
    """Return the kinds of events that the webhook is told of."""
    return frozenset(settings.webhook_events.split())


def add(
    session: Session, server: Server, asker: Asker, event: RequestEventName, at: datetime
) -> None:
    """Store a message in the transaction of what it tells, if a webhook is told of that."""
    if not server.settings.webhook_url or event not in chosen(server.settings):
        return
    number = required(asker.id)
    public_id = str(uuid.uuid4())
    session.add(Delivery(public_id=public_id, event=event, asker_id=number, at=at, next_at=at))
    session.flush()


def due(server: Server) -> list[int]:
    """Return the numbers of the messages to send now, the one that waits longest first."""
    with server.database.read() as session:
        statement = select(Delivery.id).where(
            col(Delivery.state) == WAITING, col(Delivery.next_at) <= server.clock()
        )
        rows = session.exec(statement.order_by(col(Delivery.next_at)).limit(AT_ONCE)).all()
    return [required(number) for number in rows]


def claim(server: Server, number: int) -> Claim | None:
    """Claim a message, unless another process did; give it up after its last attempt."""
    with server.database.write_own_rows() as session:
        now = server.clock()
        statement = select(Delivery).where(
            col(Delivery.id) == number,
            col(Delivery.state) == WAITING,
            col(Delivery.next_at) <= now,
        )
        row = session.exec(statement.with_for_update()).one_or_none()
        if row is None:
            return None
        if row.attempts >= MOST_ATTEMPTS:  # whoever made the last one ended in it
            row.state, row.finished_at = GIVEN_UP, now
            session.add(row)
            return None
        row.attempts += 1
        row.next_at = now + pause(row.attempts)
        session.add(row)
        about = row.asker_id, row.leaf_id
        return Claim(number, row.public_id, row.event, *about, row.at, row.attempts)


def pause(attempts: int) -> timedelta:
    """Return the time from an attempt to the next one."""
    return min(FIRST_PAUSE * (1 << (attempts - 1)), LONGEST_PAUSE)


def settle(server: Server, sent: Claim, outcome: Outcome) -> None:
    """Store what came of an attempt, and forget what ended long ago."""
    with server.database.write_own_rows() as session:
        now = server.clock()
        row = session.get(Delivery, sent.id)
        if row is not None and row.state == WAITING:
            row.answer = outcome.answer
            last = sent.attempts >= MOST_ATTEMPTS
            if outcome.delivered or last:
                row.state = DELIVERED if outcome.delivered else GIVEN_UP
                row.finished_at = now
            session.add(row)
        session.exec(delete(Delivery).where(col(Delivery.finished_at) < now - KEPT))


def listing(
    server: Server, principal: Principal, state: DeliveryState | None = None
) -> list[DeliveryView]:
    """List the messages that are still kept, the oldest first."""
    principal.require("admin")
    with server.database.read() as session:
        conditions = [] if state is None else [col(Delivery.state) == state]
        return _views(session, *conditions)


def retry(server: Server, principal: Principal) -> Sequence[DeliveryView]:
    """Let messages that were given up wait again, with all attempts; return them."""
    principal.require("admin")
    with server.database.write_own_rows() as session:
        rows = session.exec(select(Delivery).where(col(Delivery.state) == GIVEN_UP)).all()
        for row in rows:
            row.state, row.attempts, row.finished_at = WAITING, 0, None
            row.next_at = server.clock()
            session.add(row)
        session.flush()
        return _views(session, col(Delivery.id).in_([row.id for row in rows]))


@dataclass(frozen=True)
class Backlog:
    """Count the messages that wait after a failed attempt, and those that were given up."""

    failing: int
    given_up: int


def backlog(server: Server) -> Backlog:
    """Return how many messages the receiver has not taken."""
    with server.database.read() as session:

        def count(*conditions: object) -> int:
            statement = select(func.count(col(Delivery.id))).where(*conditions)  # type: ignore[arg-type]  # conditions of SQL
            return session.exec(statement).one()

        failing = count(col(Delivery.state) == WAITING, col(Delivery.answer).is_not(None))
        return Backlog(failing, count(col(Delivery.state) == GIVEN_UP))


def _views(session: Session, *conditions: ColumnElement[bool]) -> list[DeliveryView]:
    """Return messages with what they are about, the oldest first."""
    statement = (
        select(Delivery, Asker.public_id, Leaf.index)
        .outerjoin(Asker, col(Delivery.asker_id) == col(Asker.id))
        .outerjoin(Leaf, col(Delivery.leaf_id) == col(Leaf.id))
        .where(*conditions)
        .order_by(col(Delivery.id))
    )
    return [_view(*row) for row in session.exec(statement)]


def _view(row: Delivery, request: str | None, leaf: int | None) -> DeliveryView:
    states: dict[str, DeliveryState] = {
        WAITING: "waiting",
        DELIVERED: "delivered",
        GIVEN_UP: "given_up",
    }
    return DeliveryView(
        id=row.public_id,
        event=row.event,
        request=request,
        leaf=leaf,
        state=states[row.state],
        attempts=row.attempts,
        answer=row.answer,
        at=row.at,
        next_at=row.next_at if row.state == WAITING else None,
        finished_at=row.finished_at,
    )
