"""Describe tiers, users, tokens and groups, as callers are answered.

A token's secret is answered once, when it is issued.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import WithJsonSchema


@dataclass(frozen=True)
class MeView:
    """Hold the caller's own account."""

    name: str
    roles: list[str]
    clearance: str | None
    token_expires: datetime | None


@dataclass(frozen=True)
class TierView:
    """Hold a tier; a larger rank is more trusted."""

    name: str
    rank: int
    description: str


@dataclass(frozen=True)
class UserView:
    """Hold a user, who may have tokens."""

    name: str
    roles: list[str]
    clearance: str | None
    created_at: datetime
    active: bool


@dataclass(frozen=True)
class ListedUserView:
    """Hold a user of a list, as they are created."""

    name: str
    roles: list[str]
    clearance: str | None


@dataclass(frozen=True)
class NewUsersView:
    """Hold the users of a list: those who were created, or would be if it was a dry run."""

    dry_run: bool
    users: list[ListedUserView]


@dataclass(frozen=True)
class TokenView:
    """Hold a token without its secret.

    ``parent`` is the token that it was made with; if that is revoked, so is this one.
    """

    prefix: str
    user: str
    scopes: list[str]
    created: datetime
    expires: datetime
    revoked: datetime | None
    parent: str | None


@dataclass(frozen=True)
class RevokedTokenView(TokenView):
    """Hold a revoked token; ``also`` are those that were made with it and ended with it."""

    also: list[str]


@dataclass(frozen=True)
class IssuedTokenView:
    """Hold a new token; its secret is shown once, and is null if the request is repeated.

    ``parent`` is the token that it was made with; if that is revoked, so is this one.
    """

    token: Annotated[str, WithJsonSchema({"type": ["string", "null"]})]
    prefix: str
    user: str
    scopes: list[str]
    expires: datetime
    parent: str | None


@dataclass(frozen=True)
class TokenPreviewView:
    """Hold the bounds of the next token for a user.

    ``latest`` is its latest end, with ``parent`` if it would have one; ``live`` is the number of
    the user's valid tokens, ``most`` the largest number allowed.
    """

    latest: datetime
    parent: str | None
    live: int
    most: int


@dataclass(frozen=True)
class GroupMappingView:
    """Hold what the members of a provider's group are given.

    ``counts`` is false for groups of another provider than the present one, and while the server
    reads no groups.  A tier that was deleted is null.
    """

    id: str
    group: str
    issuer: str
    roles: list[str]
    tier: str | None
    counts: bool
    since: datetime
    by: str
