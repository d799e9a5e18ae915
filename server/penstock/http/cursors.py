"""Seal cursors that leave the server, so that they tell nothing and none can be made up.

Inside, a cursor names the last row of a page by its number, and numbers count the rows of
others too: how much was handed out to everybody, how many queries are out of sight.
"""

import base64
import binascii
from contextlib import suppress
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from penstock.encryption import Key
from penstock.encryption.secrets import FINGERPRINT
from penstock.errors import InvalidInput
from penstock.services.context import Server

_SIZE = 64
"""Bytes of a cursor before it is sealed, longer than any, so that its length tells nothing."""


class Cursors:
    """Seal and open the cursors of one server.

    AES-SIV (Rogaway, Shrimpton 2006; RFC 5297) under a key that follows from the server's
    secrets, so that every worker opens what another sealed, also after a restart.  A cursor
    is bound to the address of its list.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def seal(self, path: str, cursor: str) -> str:
        """Return the cursor as it is handed out with a page of the list at ``path``."""
        cipher = _cipher(self._server.secrets.fingerprint)
        sealed = cipher.encrypt(cursor.encode().ljust(_SIZE), [path.encode()])
        return _written(sealed)

    def open(self, path: str, sealed: str) -> str:
        """Return the cursor inside.  Raises ``InvalidInput`` unless this list gave it out."""
        try:
            padded = sealed + "=" * (-len(sealed) % 4)
            content = base64.b64decode(padded, altchars=b"-_", validate=True)
            # The last character has bits to spare; only one way of writing it was given out.
            if _written(content) == sealed:
                return self._opened(content, path).decode().rstrip()
        except (binascii.Error, ValueError, InvalidTag):
            pass
        raise InvalidInput(
            "The cursor is not one that this list gave out; begin again without it.",
            pointer="/cursor",
        )

    def _opened(self, sealed: bytes, path: str) -> bytes:
        # One that was given out just before the key was rotated still leads on.
        for secret in self._server.secrets.every(FINGERPRINT):
            with suppress(InvalidTag):
                return _cipher(secret).decrypt(sealed, [path.encode()])
        raise InvalidTag


@lru_cache(maxsize=4)
def _cipher(secret: bytes) -> AESSIV:
    return AESSIV(Key(secret).subkey(b"", b"penstock cursors"))


def _written(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")
