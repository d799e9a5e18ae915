"""Keep the messages that wait for the webhook.

A message is stored in the transaction of what it tells: there are both or neither, and sending
neither delays nor fails a request or a decision.  Whoever sends one claims it first, by setting its
next time to after its longest duration: so each is sent by one process at a time, and again if that
process ends in between.  A receiver knows a repeated message by its delivery's identifier.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlmodel import Session, col, delete, func, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.decided.deliveries import DELIVERED, GIVEN_UP, WAITING, Delivery
from penstock.persistence.tables.decided.requests import Asker
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.webhook.posting import Outcome

Event = Literal["request.opened", "request.decided"]
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
    asker_id: int
    at: datetime
    attempts: int


@dataclass(frozen=True)
class DeliveryView:
    """Hold what became of a message."""

    id: str
    event: str
    request: str
    state: DeliveryState
    attempts: int
    answer: str | None
    at: datetime
    next_at: datetime | None
    finished_at: datetime | None


def add(session: Session, server: Server, asker: Asker, event: Event, at: datetime) -> None:
    """Store a message in the transaction of what it tells, if a webhook is set."""
    if not server.settings.webhook_url:
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
        asker = required(row.asker_id)
        return Claim(number, row.public_id, row.event, asker, row.at, row.attempts)


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
        statement = select(Delivery, Asker).join(Asker, col(Delivery.asker_id) == col(Asker.id))
        if state is not None:
            statement = statement.where(col(Delivery.state) == state)
        rows = session.exec(statement.order_by(col(Delivery.id))).all()
        return [_view(delivery, asker) for delivery, asker in rows]


def retry(server: Server, principal: Principal) -> Sequence[DeliveryView]:
    """Let messages that were given up wait again, with all attempts; return them."""
    principal.require("admin")
    with server.database.write_own_rows() as session:
        statement = select(Delivery, Asker).join(Asker, col(Delivery.asker_id) == col(Asker.id))
        rows = session.exec(statement.where(col(Delivery.state) == GIVEN_UP)).all()
        for row, _ in rows:
            row.state, row.attempts, row.finished_at = WAITING, 0, None
            row.next_at = server.clock()
            session.add(row)
        session.flush()
        return [_view(delivery, asker) for delivery, asker in rows]


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


def _view(row: Delivery, asker: Asker) -> DeliveryView:
    states: dict[str, DeliveryState] = {
        WAITING: "waiting",
        DELIVERED: "delivered",
        GIVEN_UP: "given_up",
    }
    return DeliveryView(
        id=row.public_id,
        event=row.event,
        request=asker.public_id,
        state=states[row.state],
        attempts=row.attempts,
        answer=row.answer,
        at=row.at,
        next_at=row.next_at if row.state == WAITING else None,
        finished_at=row.finished_at,
    )
