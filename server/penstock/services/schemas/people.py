"""Describe tiers, users and tokens, as callers send them and as they are answered.

A token's secret is answered once, when it is issued.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from penstock.spec_fields import Name, Spec, Text

Role = Literal["analyst", "admin", "auditor"]


class TierSpec(Spec):
    """Represent a tier to create: at a rank, just above another tier, or on top."""

    name: Name
    rank: int | None = Field(default=None, ge=-1_000_000, le=1_000_000)
    above: Name | None = None
    description: Annotated[
        Text, Field(max_length=1000), WithJsonSchema({"type": "string", "maxLength": 1000})
    ] = ""


class TierChange(Spec):
    """Represent a change of a tier; an omitted field stays as it is."""

    rank: int | None = Field(default=None, ge=-1_000_000, le=1_000_000)
    above: Name | None = None
    description: (
        Annotated[
            Text, Field(max_length=1000), WithJsonSchema({"type": "string", "maxLength": 1000})
        ]
        | None
    ) = None


def _distinct(roles: list[Role]) -> list[Role]:
    if len(set(roles)) != len(roles):
        raise PydanticCustomError("roles", "List every role once.")
    return roles


Roles = Annotated[list[Role], Field(min_length=1, max_length=3), AfterValidator(_distinct)]


class UserSpec(Spec):
    """Represent a user to create."""

    name: Name
    roles: Roles
    clearance: Name | None = None


class UserChange(Spec):
    """Represent a change of a user; an omitted field stays as it is."""

    roles: Roles | None = None
    clearance: Name | None = None


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = "^([0-9]{1,9})([smhd])$"


def _seconds(value: object) -> object:
    """Return ``"30d"``, ``"12h"``, ``"15m"``, ``"90s"`` as seconds."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(_DURATION, value)
    if match is None:
        raise PydanticCustomError(
            "duration", 'This must be a number of seconds, or a time like "30d", "12h" or "15m".'
        )
    return int(match.group(1)) * _UNITS[match.group(2)]


class TokenSpec(Spec):
    """Represent a token to issue: its lifetime (seconds, or ``"30d"``), and its roles."""

    expires_in: Annotated[
        int | None,
        BeforeValidator(
            _seconds,
            json_schema_input_type=int | Annotated[str, Field(pattern=_DURATION)] | None,
        ),
    ] = Field(default=None, ge=1, le=3650 * 86400)
    scopes: list[Role] | None = Field(default=None, min_length=1)


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
