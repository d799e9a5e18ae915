"""Read and write signed notes and cosignatures: formats of the C2SP community, by Ed25519 alone.

A note is text, an empty line, and a line for each signature::

    — NAME BASE64     4 bytes that name the key, then the signature

A signature of kind 1 is over the text (C2SP signed-note).  One of kind 4 is a time of 8 bytes and a
signature over that time and the text (C2SP tlog-cosignature): the cosigner states that, at that
time, this was the largest tree that it had seen of the log, and that it continued what it had seen
before.  A key is written as ``NAME+HEX+BASE64``: its name, its id, and its kind with the key
itself.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ED25519: Final = 1
COSIGNATURE: Final = 4

DASH: Final = "\u2014"
KEY_SIZE: Final = 32
ID_SIZE: Final = 4
TIME_SIZE: Final = 8
SIGNATURE_SIZE: Final = 64

LARGEST: Final = 16_384
"""The most characters of a note that is read: 16 signatures take less than a quarter."""


def key_id(name: str, kind: int, public: bytes) -> bytes:
    """Return the 4 bytes by which a signature names its key."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:ID_SIZE]


def named_well(name: str) -> bool:
    """Return True if ``name`` may name a key: without spaces, control characters and plus."""
    return bool(name) and name.isprintable() and "+" not in name and not any(map(str.isspace, name))


@dataclass(frozen=True)
class Verifier:
    """Hold a public key of ``KEY_SIZE`` bytes, with the name and kind of its signatures."""

    name: str
    kind: int
    public: bytes

    @classmethod
    def read(cls, text: str, kind: int) -> Self:
        """Read ``NAME+HEX+BASE64``.  Raises ``ValueError`` for anything else, or another kind."""
        name, _, rest = text.partition("+")
        tag, _, encoded = rest.partition("+")
        material = _decoded(encoded)
        if not named_well(name) or len(material) != 1 + KEY_SIZE or material[0] != kind:
            raise ValueError(f"it is not the name, the id and the Ed25519 key of kind {kind}")
        verifier = cls(name, kind, material[1:])
        if tag != verifier.id.hex():
            raise ValueError("its id is not that of its name and key")
        return verifier

    @property
    def id(self) -> bytes:
        """Return the key's 4 bytes in signatures."""
        return key_id(self.name, self.kind, self.public)

    @property
    def text(self) -> str:
        """Return the key as ``NAME+HEX+BASE64``."""
        material = base64.b64encode(bytes([self.kind]) + self.public).decode()
        return f"{self.name}+{self.id.hex()}+{material}"

    def verified(self, text: str, signature: bytes) -> bool:
        """Return True if this key made ``signature`` (without key id) over a note's ``text``."""
        message = text.encode()
        if self.kind == COSIGNATURE:
            at, signature = cosigned_at(signature), signature[TIME_SIZE:]
            message = cosigned(text, at)
        if len(signature) != SIGNATURE_SIZE:
            return False
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class Note:
    """Hold a text, and its signatures by the names and ids of their keys."""

    text: str
    signatures: Mapping[tuple[str, bytes], bytes]

    @classmethod
    def read(cls, note: str) -> Self:
        """Read a note.  Raises ``ValueError`` for any other text."""
        above, between, below = note.rpartition("\n\n")
        if not between or not below.endswith("\n") or len(note) > LARGEST:
            raise ValueError("it is not a text, an empty line, and signatures")
        if any(ord(letter) < 32 and letter != "\n" for letter in note):
            raise ValueError("it has control characters")
        signatures: dict[tuple[str, bytes], bytes] = {}
        for line in below[:-1].split("\n"):
            words = line.split(" ")
            signed = _decoded(words[2]) if len(words) == 3 else b""
            if words[0] != DASH or len(signed) <= ID_SIZE or not named_well(words[1]):
                raise ValueError("a line below the empty one is not a signature")
            signatures[words[1], signed[:ID_SIZE]] = signed[ID_SIZE:]
        return cls(above + "\n", signatures)


def line(name: str, tag: bytes, signature: bytes) -> str:
    """Return the line of a signature, with its end."""
    return f"{DASH} {name} {base64.b64encode(tag + signature).decode()}\n"


def cosigned(text: str, at: int) -> bytes:
    """Return the message that a cosigner signs for a checkpoint at ``at`` (POSIX seconds)."""
    return f"cosignature/v1\ntime {at}\n{text}".encode()


def cosigned_at(signature: bytes) -> int:
    """Return the time of a cosignature without its key's id, in POSIX seconds."""
    return int.from_bytes(signature[:TIME_SIZE], "big")


def _decoded(text: str) -> bytes:
    """Decode canonical base64; return no bytes for anything else."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return content if base64.b64encode(content).decode() == text else b""
