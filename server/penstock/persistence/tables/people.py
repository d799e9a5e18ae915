"""Define the tables of tiers, users, clearances, tokens, invitations, and sign-in by a provider."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import (
    Identifier,
    Moment,
    Numbered,
    Signed,
    check,
    name_checks,
    partial_index,
)

_ALIVE = "deleted_at IS NULL"


class Tier(Numbered, table=True):
    """Hold a named, ranked clearance level.  A larger ``rank`` is more trusted.

    History refers to tiers, so a tier with history is marked as deleted and stays; its name and
    rank can then be used again.
    """

    __tablename__ = "tier"
    __table_args__ = (
        *name_checks(),
        check("rank", "rank BETWEEN -1000000000 AND 1000000000"),
        partial_index("uq_tier_folded", "folded", _ALIVE, unique=True),
        partial_index("uq_tier_rank", "rank", _ALIVE, unique=True),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    name: str
    folded: str
    rank: int
    description: str = ""
    created_at: datetime = Field(sa_type=Moment)
    deleted_at: datetime | None = Field(default=None, sa_type=Moment)
    mac: bytes | None = None


class User(Numbered, table=True):
    """Hold a user, who has at least one role."""

    __tablename__ = "user"
    __table_args__ = (
        *name_checks(),
        UniqueConstraint("folded"),
        check("a_role", "analyst OR admin OR auditor"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    name: str
    folded: str
    analyst: bool = False
    admin: bool = False
    auditor: bool = False
    created_at: datetime = Field(sa_type=Moment)
    disabled_at: datetime | None = Field(default=None, sa_type=Moment)
    mac: bytes | None = None

    @property
    def is_active(self) -> bool:
        """Return whether the user is not disabled."""
        return self.disabled_at is None


class Clearance(Signed, table=True):
    """Hold the tier that a user holds from a version on; no tier if ``tier_id`` is null."""

    __tablename__ = "clearance"
    __table_args__ = (
        UniqueConstraint("user_id", "version"),
        check("version", "version >= 1"),
        check("by", 'length("by") >= 1'),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    user_id: int = Field(foreign_key="user.id", sa_type=BigInteger)
    version: int
    tier_id: int | None = Field(default=None, foreign_key="tier.id", sa_type=BigInteger, index=True)
    at: datetime = Field(sa_type=Moment)
    by: str
    mac: bytes | None = None


class Token(Numbered, table=True):
    """Hold a bearer token: its public prefix and an HMAC of the rest, never the token.

    ``parent_id`` is the token that it was created with; null if the operator created it, or an
    OpenID provider's token, or a version of Penstock that did not record it.  ``pepper`` is the
    number of the HMAC's key, null for the first.
    """

    __tablename__ = "token"
    __table_args__ = (
        UniqueConstraint("prefix"),
        check("prefix", "length(prefix) >= 1"),
        check("digest", "length(digest) = 32"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    prefix: str
    user_id: int = Field(foreign_key="user.id", sa_type=BigInteger, index=True)
    digest: bytes
    parent_id: int | None = Field(
        default=None, foreign_key="token.id", sa_type=BigInteger, index=True
    )
    scopes: str
    created_at: datetime = Field(sa_type=Moment)
    expires_at: datetime = Field(sa_type=Moment)
    revoked_at: datetime | None = Field(default=None, sa_type=Moment)
    pepper: int | None = Field(default=None, sa_type=BigInteger)
    mac: bytes | None = None


class GroupMapping(Signed, table=True):
    """Hold what the members of a provider's group are given, from a version on.

    ``roles`` are separated by commas; with none and no tier, the group gives nothing.
    """

    __tablename__ = "group_mapping"
    __table_args__ = (
        UniqueConstraint("issuer", "group_name", "version"),
        check("issuer", "length(issuer) >= 1"),
        check("group_name", "length(group_name) BETWEEN 1 AND 256"),
        check("version", "version >= 1"),
        check("by", 'length("by") >= 1'),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    issuer: str
    group_name: str
    version: int
    roles: str
    tier_id: int | None = Field(default=None, foreign_key="tier.id", sa_type=BigInteger, index=True)
    at: datetime = Field(sa_type=Moment)
    by: str
    mac: bytes | None = None


class ProviderAccount(Signed, table=True):
    """Hold the provider's account that a user was created for.

    The user's roles follow the account's groups until an admin sets them: ``follows``.
    """

    __tablename__ = "provider_account"
    __table_args__ = (
        UniqueConstraint("user_id"),
        UniqueConstraint("issuer", "subject"),
        check("issuer", "length(issuer) >= 1"),
        check("subject", "length(subject) BETWEEN 1 AND 255"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    user_id: int = Field(foreign_key="user.id", sa_type=BigInteger)
    issuer: str
    subject: str
    follows: bool
    created_at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class Invitation(Signed, table=True):
    """Hold what a person becomes with a link that works once; of its secret, a digest.

    ``roles`` are separated by commas.  ``inviter_id`` is null if the operator invited;
    ``parent_id`` is the token that the inviter came with, if with any.
    """

    __tablename__ = "invitation"
    __table_args__ = (
        *name_checks(),
        UniqueConstraint("prefix"),
        check("prefix", "length(prefix) >= 1"),
        check("digest", "length(digest) = 32"),
        check("roles", "length(roles) >= 1"),
        check("by", 'length("by") >= 1'),
        check("expires_at", "expires_at > created_at"),
        check("accepted_at", "accepted_at IS NULL OR revoked_at IS NULL"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    prefix: str
    digest: bytes
    name: str
    folded: str
    roles: str
    tier_id: int | None = Field(default=None, foreign_key="tier.id", sa_type=BigInteger)
    by: str
    inviter_id: int | None = Field(default=None, foreign_key="user.id", sa_type=BigInteger)
    parent_id: int | None = Field(default=None, foreign_key="token.id", sa_type=BigInteger)
    created_at: datetime = Field(sa_type=Moment)
    expires_at: datetime = Field(sa_type=Moment)
    revoked_at: datetime | None = Field(default=None, sa_type=Moment)
    accepted_at: datetime | None = Field(default=None, sa_type=Moment)
    mac: bytes | None = None
