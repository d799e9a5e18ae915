"""Define the tables of messages for the operator's webhook, and of how far the log was read."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Moment, Table, check, partial_index
from penstock.persistence.tables.decided.requests import Asker
from penstock.persistence.tables.log import Leaf

WAITING, DELIVERED, GIVEN_UP = "waiting", "delivered", "given_up"


class Delivery(Table, table=True):
    """Hold one message, until the webhook has it: about what somebody requested, or about a leaf.

    One about a request is stored with it, one about a leaf with how far the log was read.  Its text
    is made from that when it is sent.  ``next_at`` is when it is sent next, and until then it
    belongs to the process that sends it now.  ``answer`` is what came of the last attempt.  Nothing
    depends on these rows: they are not history, and no HMAC covers them.
    """

    __tablename__ = "delivery"
    __table_args__ = (
        UniqueConstraint("public_id"),
        UniqueConstraint("asker_id", "event"),
        UniqueConstraint("leaf_id"),
        check("public_id", "length(public_id) >= 1"),
        check("event", "length(event) BETWEEN 1 AND 64"),
        check("subject", "(asker_id IS NULL) <> (leaf_id IS NULL)"),
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
    asker_id: int | None = Field(
        default=None, foreign_key=f"{Asker.__tablename__}.id", sa_type=BigInteger
    )
    leaf_id: int | None = Field(
        default=None, foreign_key=f"{Leaf.__tablename__}.id", sa_type=BigInteger
    )
    state: str = WAITING
    attempts: int = 0
    answer: str | None = None
    at: datetime = Field(sa_type=Moment)
    next_at: datetime = Field(sa_type=Moment)
    finished_at: datetime | None = Field(default=None, sa_type=Moment)


class LogReader(Table, table=True):
    """Hold how far something read the log: ``next_leaf`` is the place of its first unread leaf.

    It is changed in the transaction that stores what came of the leaves before.
    """

    __tablename__ = "log_reader"
    __table_args__ = (
        UniqueConstraint("name"),
        check("name", "length(name) >= 1"),
        check("next_leaf", "next_leaf >= 0"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    name: str
    next_leaf: int = Field(sa_type=BigInteger)
