"""Define the tables of proposals and of the one decision about each."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Moment, Numbered, Signed, check


class Proposal(Numbered, table=True):
    """Hold a proposed action that needs a second person's approval.

    ``request`` and ``basis`` are canonical JSON: the action, and the state that it was proposed
    for.
    """

    __tablename__ = "proposal"
    __table_args__ = (
        UniqueConstraint("public_id"),
        check("public_id", "length(public_id) >= 1"),
        check("act", "length(act) >= 1"),
        check("by", 'length("by") >= 1'),
        check("expires_at", "expires_at > at"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    public_id: str
    act: str
    request: str
    basis: str
    by: str
    at: datetime = Field(sa_type=Moment)
    expires_at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class Decision(Signed, table=True):
    """Hold the decision on a proposal; ``proposed_by`` lets a constraint reject self-approval."""

    __tablename__ = "decision"
    __table_args__ = (
        UniqueConstraint("proposal_id"),
        check("outcome", "outcome IN ('approved', 'withdrawn', 'failed')"),
        check("by", 'length("by") >= 1'),
        check("another", "outcome = 'withdrawn' OR \"by\" <> proposed_by"),
        check("reason", "(outcome = 'failed') = (reason IS NOT NULL)"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    proposal_id: int = Field(foreign_key="proposal.id", sa_type=BigInteger)
    outcome: str
    proposed_by: str
    by: str
    at: datetime = Field(sa_type=Moment)
    reason: str | None = None
    mac: bytes | None = None
