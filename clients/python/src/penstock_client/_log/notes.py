"""Read a log's checkpoints, which are signed notes of text, with the standard library only.

::

    penstock/0123456789abcdef            the log's name, from the SHA-256 of its key
    42                                   the number of leaves
    BASE64                               the Merkle root
    2026-11-20T12:00:00.000000Z          the time of signing

    — penstock/0123456789abcdef BASE64   4 bytes of key id, 64 bytes of Ed25519 signature
"""

import base64
import hashlib
from dataclasses import dataclass

from penstock_client._log.ed25519 import verified
from penstock_client._log.leaves import decoded

ED25519 = b"\x01"
"""The signature type, the first byte of a key's material (C2SP signed-note)."""

LARGEST = 2**53
"""The largest size of a log; the smallest size with a checkpoint is 1."""


@dataclass(frozen=True)
class Checkpoint:
    """Hold the size and the root (32 bytes) of a log, as its server signed them."""

    size: int
    root: bytes
    note: str


def key_tag(name: str, public: bytes) -> bytes:
    """Return the key's id, the 4 bytes that name the key in a signed note."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def vkey_of(public: bytes) -> str:
    """Return the key of a log as NAME+ID+BASE64 (C2SP signed-note)."""
    name = f"penstock/{hashlib.sha256(public).hexdigest()[:16]}"
    material = base64.b64encode(ED25519 + public).decode()
    return f"{name}+{key_tag(name, public).hex()}+{material}"


def key_of(text: str) -> bytes:
    """Return the key from ``vkey_of``'s form or from hexadecimal; else raise ``ValueError``."""
    if "+" not in text:
        public = bytes.fromhex(text)
    else:
        public = decoded(text.split("+", 2)[-1])[1:]
        if vkey_of(public) != text:
            raise ValueError("its name, id and key do not match")
    if len(public) != 32:
        raise ValueError("it does not have 32 bytes")
    return public


def opened(note: str, public: bytes) -> Checkpoint:
    """Return the checkpoint in a note.  Raises ``ValueError`` unless ``public`` signed it."""
    lines = signed_lines(note, public, "checkpoint")
    root, size = decoded(lines[2]) if len(lines) > 2 else b"", lines[1]
    digits = size.isascii() and size.isdigit() and len(size) <= len(str(LARGEST))
    if len(root) != 32 or not digits or size != str(int(size)) or not 1 <= int(size) <= LARGEST:
        raise ValueError("the checkpoint's note states no valid size or root")
    return Checkpoint(int(size), root, note)


def signed_lines(note: str, public: bytes, subject: str, form: str = "") -> list[str]:
    """Return the lines of a note that ``public`` signed, the first one names the log.

    ``form`` is what follows the log's name in that line.  Raises ``ValueError``, which calls the
    note that of ``subject``, unless the note has this form and this signature alone.
    """
    text, between, last = note.partition("\n\n")
    lines, words = text.split("\n"), last.split(" ")
    name = f"penstock/{hashlib.sha256(public).hexdigest()[:16]}"
    if not between or len(lines) < 2 or lines[0] != name + form:
        raise ValueError(f"the {subject} is not a note of the log with this key")
    if len(words) != 3 or words[:2] != ["\u2014", name] or not last.endswith("\n"):
        raise ValueError(f"the {subject}'s note does not end with one signature line of the log")
    signature = decoded(words[2].removesuffix("\n"))
    signed_text = f"{text}\n".encode()
    if signature[:4] != key_tag(name, public) or not verified(public, signed_text, signature[4:]):
        raise ValueError(f"the {subject}'s signature is not by the log's key")
    return lines
