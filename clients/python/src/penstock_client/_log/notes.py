"""Checkpoints of a log as signed notes of text; standard library only.

::

    penstock/0123456789abcdef            whose log: after the key's SHA-256
    42                                   how many leaves
    BASE64                               their root
    2026-11-20T12:00:00.000000Z          when it was signed

    — penstock/0123456789abcdef BASE64   4 bytes that name the key, 64 of Ed25519
"""

import base64
import hashlib
from dataclasses import dataclass

from penstock_client._log.ed25519 import verified
from penstock_client._log.leaves import decoded

ED25519 = b"\x01"
"""The kind of signature, in the names of keys."""

LARGEST = 2**53
"""No log has more leaves; a log without any has no checkpoint."""


@dataclass(frozen=True)
class Checkpoint:
    """The log at one size, as its server signed it; ``root`` has 32 bytes."""

    size: int
    root: bytes
    note: str


def key_tag(name: str, public: bytes) -> bytes:
    """The 4 bytes by which a signed note tells its key."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def vkey_of(public: bytes) -> str:
    """The key of a log as NAME+ID+BASE64 (C2SP signed-note)."""
    name = f"penstock/{hashlib.sha256(public).hexdigest()[:16]}"
    material = base64.b64encode(ED25519 + public).decode()
    return f"{name}+{key_tag(name, public).hex()}+{material}"


def key_of(text: str) -> bytes:
    """The key in ``vkey_of``'s form, or in hexadecimal.  Raises ``ValueError`` for others."""
    if "+" not in text:
        public = bytes.fromhex(text)
    else:
        public = decoded(text.split("+", 2)[-1])[1:]
        if vkey_of(public) != text:
            raise ValueError("its name, its id and its key do not belong together")
    if len(public) != 32:
        raise ValueError("it has not 32 bytes")
    return public


def opened(note: str, public: bytes) -> Checkpoint:
    """The checkpoint that a note states.  Raises ``ValueError`` unless ``public`` signed it."""
    text, between, last = note.partition("\n\n")
    lines, words = text.split("\n"), last.split(" ")
    name = f"penstock/{hashlib.sha256(public).hexdigest()[:16]}"
    if not between or len(lines) < 3 or lines[0] != name:
        raise ValueError("the checkpoint is not a note of the log with this key")
    if len(words) != 3 or words[:2] != ["\u2014", name] or not last.endswith("\n"):
        raise ValueError("the checkpoint's note has another signature line")
    signature = decoded(words[2].removesuffix("\n"))
    signed_text = f"{text}\n".encode()
    if signature[:4] != key_tag(name, public) or not verified(public, signed_text, signature[4:]):
        raise ValueError("the checkpoint is not signed by the log's key")
    root, size = decoded(lines[2]), lines[1]
    digits = size.isascii() and size.isdigit() and len(size) <= len(str(LARGEST))
    if len(root) != 32 or not digits or size != str(int(size)) or not 1 <= int(size) <= LARGEST:
        raise ValueError("the checkpoint's note states no size or no root")
    return Checkpoint(int(size), root, note)
