"""Define the tables of queries that analysts request: who asks, comments, and the one decision.

All are append-only.  A statistic that several people request has one row in ``request``; what each
of them sent is in ``asker``, and nobody but admins is shown that of another.
"""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import (
    Identifier,
    Moment,
    Numbered,
    Signed,
    check,
    number_of,
)
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import User
from penstock.persistence.tables.queries import Query


class Request(Numbered, table=True):
    """Hold a statistic of a version of a dataset that is not registered, and that people request.

    ``turn`` counts the requests of one statistic: another is begun when the last one was decided.
    """

    __tablename__ = "request"
    __table_args__ = (
        UniqueConstraint("canonical_hash", "turn"),
        check("canonical_hash", "length(canonical_hash) = 64"),
        check("turn", "turn >= 1"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    dataset_id: int = Field(foreign_key=number_of(Dataset), sa_type=BigInteger)
    canonical_hash: str
    turn: int
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class Asker(Numbered, table=True):
    """Hold what one person sent: the spec (JSON), which holds no values, and what it is for.

    ``turn`` counts how often the person sent the same request, having withdrawn it in between.
    """

    __tablename__ = "asker"
    __table_args__ = (
        UniqueConstraint("public_id"),
        UniqueConstraint("request_id", "user_id", "turn"),
        check("public_id", "length(public_id) >= 1"),
        check("turn", "turn >= 1"),
        check("spec", "length(spec) BETWEEN 1 AND 65536"),
        check("purpose", "length(purpose) BETWEEN 1 AND 2000"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    public_id: str
    request_id: int = Field(foreign_key="request.id", sa_type=BigInteger)
    user_id: int = Field(foreign_key=number_of(User), sa_type=BigInteger, index=True)
    turn: int
    spec: str
    purpose: str
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class Withdrawal(Signed, table=True):
    """Record that a person withdrew a request of theirs."""

    __tablename__ = "withdrawal"
    __table_args__ = (UniqueConstraint("asker_id"), {"sqlite_autoincrement": True})

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    asker_id: int = Field(foreign_key="asker.id", sa_type=BigInteger)
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class RequestComment(Signed, table=True):
    """Hold a comment: of the person of ``asker_id``, or of an admin if that is null."""

    __tablename__ = "request_comment"
    __table_args__ = (
        check("by", 'length("by") >= 1'),
        check("comment", "length(comment) BETWEEN 1 AND 2000"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    request_id: int = Field(foreign_key="request.id", sa_type=BigInteger, index=True)
    asker_id: int | None = Field(default=None, foreign_key="asker.id", sa_type=BigInteger)
    by: str
    comment: str
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class RequestDecision(Signed, table=True):
    """Hold the decision on a request; if it was approved, the query and the spec (JSON) of it.

    ``asker_id`` is what was decided of all that was sent for the statistic.
    """

    __tablename__ = "request_decision"
    __table_args__ = (
        UniqueConstraint("request_id"),
        check("outcome", "outcome IN ('approved', 'declined')"),
        check("by", 'length("by") >= 1'),
        check("comment", "length(comment) BETWEEN 1 AND 2000"),
        check("query_id", "(outcome = 'approved') = (query_id IS NOT NULL)"),
        check("spec", "(outcome = 'approved') = (spec IS NOT NULL)"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    request_id: int = Field(foreign_key="request.id", sa_type=BigInteger)
    asker_id: int = Field(foreign_key="asker.id", sa_type=BigInteger)
    outcome: str
    by: str
    comment: str | None = None
    query_id: int | None = Field(
        default=None, foreign_key=number_of(Query), sa_type=BigInteger, index=True
    )
    spec: str | None = None
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None
