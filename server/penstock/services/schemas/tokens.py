"""What is answered about tokens: never their secrets, but for a new one's."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import WithJsonSchema


@dataclass(frozen=True)
class TokenView:
    """A token without its secret.

    ``parent`` is the token that it was made with, and is revoked with at the latest.
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
    """A token that was revoked; ``also`` are those that were made with it and ended now."""

    also: list[str]


@dataclass(frozen=True)
class IssuedTokenView:
    """A new token; the secret is shown here and never again (null where this is a replay).

    ``parent`` is the token that it was made with, and is revoked with at the latest.
    """

    token: Annotated[str, WithJsonSchema({"type": ["string", "null"]})]
    prefix: str
    user: str
    scopes: list[str]
    expires: datetime
    parent: str | None


@dataclass(frozen=True)
class ForeseenTokenView:
    """What the next token for a user would be bounded by.

    ``latest`` is when it would end at the latest, with ``parent`` where it would have one;
    ``live`` are the tokens of the user that are valid, of the ``most`` that may be.
    """

    latest: datetime
    parent: str | None
    live: int
    most: int
