"""The peppers that tokens are digested under: checked by number, and left behind by use.

A token's row says which pepper its digest is under.  Once a pepper is retired, a token that is
used is digested anew under the newest: nobody else has the token, so nothing else can do that.
"""

import hmac
from contextlib import suppress

from penstock.encryption.secrets import FIRST
from penstock.errors import DatabaseUnavailable, KeysUnavailable, NoRoom
from penstock.persistence import Need
from penstock.persistence.tables import Token
from penstock.services.access.token_format import digest
from penstock.services.context import Server


def number_of(stored: Token) -> int:
    """The number of the pepper that a token's digest is under."""
    return stored.pepper or FIRST


def is_dropped(server: Server, stored: Token) -> bool:
    """Whether a token's digest is under a pepper that is destroyed."""
    secrets, number = server.stored.now, number_of(stored)
    return number not in secrets.peppers and number < secrets.newest


def is_genuine(server: Server, stored: Token, token: str) -> bool:
    """Whether ``token`` is what the row was made of; of a dropped pepper nobody can tell, so no.

    Raises ``KeysUnavailable`` where the pepper is newer than this server's secrets.
    """
    secrets, number = server.stored.now, number_of(stored)
    if number > secrets.newest:
        raise KeysUnavailable(
            f"The token is digested under pepper {number}, and secrets.json here ends with"
            f" {secrets.newest}. Copy the secrets.json that was rotated to every host."
        )
    key = secrets.peppers.get(number)
    return key is not None and hmac.compare_digest(stored.digest, digest(key, token))


def move(server: Server, stored: Token, token: str) -> None:
    """Digest a genuine token anew where its pepper is retired.

    Where that cannot be written now, the token stays as it is and as good.
    """
    if number_of(stored) == server.stored.now.newest:
        return
    with (
        suppress(DatabaseUnavailable, NoRoom),
        # Alone, as who revokes tokens is: the row is signed as a whole.
        server.database.write_unwatched(need=Need.RELIEF) as session,
    ):
        secrets, row = server.stored.now, session.get_one(Token, stored.id)
        if row.revoked_at is None and number_of(row) < secrets.newest:
            row.digest = digest(secrets.peppers[secrets.newest], token)
            row.pepper = secrets.newest
            session.add(row)
