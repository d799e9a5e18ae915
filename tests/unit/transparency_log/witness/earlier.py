"""Provide the witness's file of earlier versions of the server."""

import hashlib
import hmac
import json

from penstock.transparency_log.sights import Sight


def in_a_file(sight: Sight, key: bytes) -> bytes:
    """Return the text of version 2, as earlier versions of the server wrote it."""
    content = {
        "format": "penstock-witness",
        "version": 2,
        "size": sight.size,
        "root": sight.root.hex(),
        "accounts": {name: list(spent) for name, spent in sight.accounts.items()},
        "suspended_at": sight.suspended_at,
    }
    signed = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    mac = hmac.new(key, b"witness\x00" + signed, hashlib.sha256).hexdigest()
    return json.dumps({**content, "mac": mac}).encode() + b"\n"
