"""Define the table of requests that carried a key, so that a repeat is not done twice."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Moment, Signed, check, number_of
from penstock.persistence.tables.people import User


class Idempotency(Signed, table=True):
    """Hold one user's request with an idempotency key, and its answer.

    ``request`` is a keyed hash of the request, never the body itself.  ``status`` and ``answer``
    are null while the request runs; an answer holds no values and no token.  ``mismatches`` counts
    other requests with the same key, null for none.
    """

    __tablename__ = "idempotency"
    __table_args__ = (
        UniqueConstraint("user_id", "key"),
        check("key", "length(key) BETWEEN 1 AND 255"),
        check("request", "length(request) = 32"),
        check("status", "status BETWEEN 200 AND 299"),
        check("answered", "(status IS NULL) = (answer IS NULL)"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    user_id: int = Field(foreign_key=number_of(User), sa_type=BigInteger)
    key: str
    request: bytes
    status: int | None = None
    answer: bytes | None = None
    started_at: datetime = Field(sa_type=Moment)
    expires_at: datetime = Field(sa_type=Moment, index=True)
    mac: bytes | None = None
    mismatches: int | None = None
