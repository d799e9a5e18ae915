"""Seal cursors that leave the server, so that they reveal nothing and cannot be forged.

Inside, a cursor holds the number of a page's last row, and row numbers also count the rows of other
users: how much was released to all, how many queries are hidden.
"""

import base64
import binascii
from contextlib import suppress
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from penstock.encryption.key import Key
from penstock.encryption.secrets import FINGERPRINT
from penstock.errors import InvalidInput
from penstock.services.context import Server

_SIZE = 64
"""Bytes of a cursor before it is sealed: more than any needs, so its length reveals nothing."""


class Cursors:
    """Seal and open the cursors of one server.

    AES-SIV (Rogaway, Shrimpton 2006; RFC 5297) under a key derived from the server's secrets, so
    that every worker can open the cursors of another, also after a restart.  A cursor is bound to
    the address of its list.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def seal(self, path: str, cursor: str) -> str:
        """Seal the cursor of a page of the list at ``path``."""
        cipher = _cipher(self._server.secrets.fingerprint)
        sealed = cipher.encrypt(cursor.encode().ljust(_SIZE), [path.encode()])
        return _written(sealed)

    def open(self, path: str, sealed: str) -> str:
        """Return the cursor inside.  Raises ``InvalidInput`` unless this list issued it."""
        try:
            padded = sealed + "=" * (-len(sealed) % 4)
            content = base64.b64decode(padded, altchars=b"-_", validate=True)
            # The last character has unused bits; only one spelling was issued.
            if _written(content) == sealed:
                return self._opened(content, path).decode().rstrip()
        except (binascii.Error, ValueError, InvalidTag):
            pass
        raise InvalidInput(
            "This list did not issue this cursor; start again without it.",
            pointer="/cursor",
        )

    def _opened(self, sealed: bytes, path: str) -> bytes:
        # A cursor that was issued just before the key was rotated is still valid.
        for secret in self._server.secrets.every(FINGERPRINT):
            with suppress(InvalidTag):
                return _cipher(secret).decrypt(sealed, [path.encode()])
        raise InvalidTag


@lru_cache(maxsize=4)
def _cipher(secret: bytes) -> AESSIV:
    return AESSIV(Key(secret).subkey(b"", b"penstock cursors"))


def _written(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")
