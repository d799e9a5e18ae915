"""Make and check tokens of the form ``pst_<8 prefix>_<43 url-safe characters>_<checksum>``.

Codes of invitations have the same form, and another mark.

The prefix finds the row, the secret is 256 bits, and the checksum lets a scanner of
source code tell a leaked token from a look-alike.  Only an HMAC of the whole is stored.
"""

import hashlib
import hmac
import re
import secrets
import zlib
from typing import Final

PLAIN: Final = "pst"
INVITING: Final = "pin"
"""The marks of tokens, and of codes of invitations."""

_PATTERN = re.compile(r"(pst|pin)_([a-z0-9]{8})_([A-Za-z0-9_-]{43})_([0-9a-f]{8})")
_PREFIX_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def new_token(mark: str = PLAIN) -> str:
    """Return a fresh token, or the code of an invitation, from the operating system's entropy."""
    prefix = "".join(secrets.choice(_PREFIX_ALPHABET) for _ in range(8))
    body = f"{mark}_{prefix}_{secrets.token_urlsafe(32)}"
    return f"{body}_{_checksum(body)}"


def well_formed(token: str, mark: str = PLAIN) -> bool:
    """Return True if ``token`` has this mark, the form of a token, and the right checksum."""
    match = _PATTERN.fullmatch(token)
    if match is None or match.group(1) != mark:
        return False
    return _checksum(token[: match.start(4) - 1]) == match.group(4)


def prefix_of(token: str) -> str:
    """Return the public part of a well-formed token."""
    return token.split("_", 2)[1]


def digest(pepper: bytes, token: str) -> bytes:
    """Return the stored digest of a token: its HMAC-SHA256 under the server's pepper."""
    return hmac.digest(pepper, token.encode(), hashlib.sha256)


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"
