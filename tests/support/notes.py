"""Verify signed notes by their specifications, with none of the product's code."""

import base64
import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def by_the_letter(vkey: str, note: str) -> int | None:
    """Verify a note under a key, or raise; return the time of a cosignature."""
    name, tag, key = vkey.split("+", 2)
    kind, public = base64.b64decode(key)[0], base64.b64decode(key)[1:]
    digest = hashlib.sha256(name.encode() + b"\x0a" + bytes([kind]) + public).digest()
    assert digest[:4].hex() == tag
    cut = note.rindex("\n\n") + 1
    text, lines = note[:cut], note[cut + 1 :].splitlines()
    [line] = [one for one in lines if base64.b64decode(one.split(" ")[2])[:4] == digest[:4]]
    assert line.split(" ")[:2] == ["\u2014", name]
    signature, at = base64.b64decode(line.split(" ")[2])[4:], None
    if kind == 4:
        at, signature = int.from_bytes(signature[:8], "big"), signature[8:]
        text = f"cosignature/v1\ntime {at}\n{text}"
    Ed25519PublicKey.from_public_bytes(public).verify(signature, text.encode())
    return at
