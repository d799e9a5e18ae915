"""Define the tables of sessions of the pages, and of what counts once."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import (
    Identifier,
    Moment,
    Signed,
    Table,
    check,
    number_of,
)
from penstock.persistence.tables.people import Token, User


class WebSession(Signed, table=True):
    """Hold a session of a browser: an HMAC of its secret, never the secret.

    ``token_id`` is the token that the user signed in with, null if it was an OpenID provider's;
    ``scopes`` are then the roles that it carried.  ``subject`` and ``provider_session`` are
    SHA-256 digests of the provider's account and session behind it, null for other sessions.
    """

    __tablename__ = "web_session"
    __table_args__ = (
        UniqueConstraint("digest"),
        check("digest", "length(digest) = 32"),
        check("scopes", "(token_id IS NULL) = (length(scopes) >= 1)"),
        check("expires_at", "expires_at > started_at"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    digest: bytes
    user_id: int = Field(foreign_key=number_of(User), sa_type=BigInteger, index=True)
    token_id: int | None = Field(
        default=None, foreign_key=number_of(Token), sa_type=BigInteger, index=True
    )
    scopes: str
    started_at: datetime = Field(sa_type=Moment)
    seen_at: datetime = Field(sa_type=Moment)
    expires_at: datetime = Field(sa_type=Moment, index=True)
    subject: bytes | None = None
    provider_session: bytes | None = None
    mac: bytes | None = None


class UsedOnce(Table, table=True):
    """Hold the digest of what is accepted once, such as a sign-in's state, until it expires."""

    __tablename__ = "used_once"
    __table_args__ = (
        UniqueConstraint("digest"),
        check("digest", "length(digest) = 32"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    digest: bytes
    expires_at: datetime = Field(sa_type=Moment, index=True)
