"""Define the table of messages for the operator's webhook."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Moment, Table, check, partial_index
from penstock.persistence.tables.decided.requests import Asker

WAITING, DELIVERED, GIVEN_UP = "waiting", "delivered", "given_up"


class Delivery(Table, table=True):
    """Hold one message about what somebody requested, until the webhook has it.

    It is stored with what it is about, and its text is made from that when it is sent.
    ``next_at`` is when it is sent next, and until then it belongs to the process that sends it now.
    ``answer`` is what came of the last attempt.  Nothing depends on these rows: they are not
    history, and no HMAC covers them.
    """

    __tablename__ = "delivery"
    __table_args__ = (
        UniqueConstraint("public_id"),
        UniqueConstraint("asker_id", "event"),
        check("public_id", "length(public_id) >= 1"),
        check("event", "event IN ('request.opened', 'request.decided')"),
        check("state", f"state IN ('{WAITING}', '{DELIVERED}', '{GIVEN_UP}')"),
        check("attempts", "attempts >= 0"),
        check("answer", "length(answer) <= 200"),
        check("finished_at", f"(state = '{WAITING}') = (finished_at IS NULL)"),
        partial_index("ix_delivery_waiting", "next_at", f"state = '{WAITING}'"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    public_id: str
    event: str
    asker_id: int = Field(foreign_key=f"{Asker.__tablename__}.id", sa_type=BigInteger)
    state: str = WAITING
    attempts: int = 0
    answer: str | None = None
    at: datetime = Field(sa_type=Moment)
    next_at: datetime = Field(sa_type=Moment)
    finished_at: datetime | None = Field(default=None, sa_type=Moment)
