"""Read the bearer token of a request (RFC 6750); it is looked up for every request."""

from penstock.services.access.principals import Principal, authenticate
from penstock.services.context import Server

SCHEME = "bearer"


def presented(header: str | None) -> str:
    """Return the token in an ``Authorization`` header; empty if there is none."""
    scheme, _, token = (header or "").strip().partition(" ")
    return token.strip() if scheme.lower() == SCHEME else ""


def caller(server: Server, header: str | None) -> Principal:
    """Return the principal that an ``Authorization`` header authenticates.

    Raises ``NotAuthenticated``, with one text for a missing header, another scheme and a
    token that is malformed, unknown, expired or revoked.
    """
    return authenticate(server, presented(header))
