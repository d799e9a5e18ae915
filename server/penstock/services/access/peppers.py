"""Check tokens against the numbered peppers, and move them to the newest one when they are used.

A token's row says which pepper its digest is under.  Once a pepper is retired, a token is
digested again under the newest when it is used: only its owner has the token, so this cannot
be done at any other time.
"""

import hmac
from contextlib import suppress
from typing import Protocol

from penstock.encryption.secrets import FIRST, Secrets
from penstock.errors import DatabaseUnavailable, KeysUnavailable, NoRoom
from penstock.persistence.protocol import Need
from penstock.persistence.tables.people import Token
from penstock.services.access.token_format import digest
from penstock.services.context import Server


class StoredToken(Protocol):
    """Hold what is needed of a token's row: an entity, or some of its columns."""

    @property
    def id(self) -> int | None:
        """Return its number."""
        ...

    @property
    def digest(self) -> bytes:
        """Return the HMAC of the token."""
        ...

    @property
    def pepper(self) -> int | None:
        """Return the number of the HMAC's key; None for the first."""
        ...


def number_of(stored: StoredToken) -> int:
    """Return the number of the pepper that a token's digest is under."""
    return stored.pepper or FIRST


def is_dropped(secrets: Secrets, stored: StoredToken) -> bool:
    """Return True if a token's digest is under a pepper that is destroyed."""
    number = number_of(stored)
    return number not in secrets.peppers and number < secrets.newest


def is_genuine(secrets: Secrets, stored: StoredToken, token: str) -> bool:
    """Return True if ``token`` is the one that the row was made from.

    Under a dropped pepper nobody can tell, so the answer is False.

    Raises ``KeysUnavailable`` if the pepper is newer than this server's secrets.
    """
    number = number_of(stored)
    if number > secrets.newest:
        raise KeysUnavailable(
            f"The token is digested under pepper {number}, and secrets.json here ends with"
            f" {secrets.newest}. Copy the secrets.json that was rotated to every host."
        )
    key = secrets.peppers.get(number)
    return key is not None and hmac.compare_digest(stored.digest, digest(key, token))


def move(server: Server, secrets: Secrets, stored: StoredToken, token: str) -> None:
    """Digest a genuine token again if its pepper is retired in ``secrets``, the present ones.

    If that cannot be written now, the token stays as it is and remains valid.
    """
    if number_of(stored) == secrets.newest:
        return
    with (
        suppress(DatabaseUnavailable, NoRoom),
        # Under the write lock, as revoking tokens is: the row is signed as a whole.
        server.database.write_unwatched(need=Need.RELIEF) as session,
    ):
        secrets, row = server.stored.now, session.get_one(Token, stored.id)
        if row.revoked_at is None and number_of(row) < secrets.newest:
            row.digest = digest(secrets.peppers[secrets.newest], token)
            row.pepper = secrets.newest
            session.add(row)
