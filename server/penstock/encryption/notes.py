"""Read and write signed notes and cosignatures: formats of the C2SP community, by Ed25519 alone.

A note is text, an empty line, and a line for each signature::

    — NAME BASE64     4 bytes that name the key, then the signature

Of the kind 1 a signature is over the text (C2SP signed-note).  Of the kind 4 it is a time of 8
bytes and a signature over that and the text (C2SP tlog-cosignature): who signs so says that, at
that time, this was the largest tree that they had seen of the log, and continued what they had
seen before.  A key is told by its name, its kind and itself as ``NAME+HEX+BASE64``.
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
    """Return the 4 bytes by which a signature tells its key."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:ID_SIZE]


def named_well(name: str) -> bool:
    """Return whether ``name`` may name a key: without spaces, control characters and plus."""
    return bool(name) and name.isprintable() and "+" not in name and not any(map(str.isspace, name))


@dataclass(frozen=True)
class Verifier:
    """Hold a public key of ``KEY_SIZE`` bytes, and what its signatures are called and mean."""

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
        """The key's 4 bytes in signatures."""
        return key_id(self.name, self.kind, self.public)

    @property
    def text(self) -> str:
        """``NAME+HEX+BASE64``."""
        material = base64.b64encode(bytes([self.kind]) + self.public).decode()
        return f"{self.name}+{self.id.hex()}+{material}"

    def verified(self, text: str, signature: bytes) -> bool:
        """Return whether this key made a ``signature`` over a note's ``text``, its id left out."""
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
    """Hold a text, and by name and id of their keys what signatures stand under it."""

    text: str
    signatures: Mapping[tuple[str, bytes], bytes]

    @classmethod
    def read(cls, note: str) -> Self:
        """Read a note.  Raises ``ValueError`` for what is none."""
        above, between, below = note.rpartition("\n\n")
        if not between or not below.endswith("\n") or len(note) > LARGEST:
            raise ValueError("it is no text, an empty line, and signatures")
        if any(ord(letter) < 32 and letter != "\n" for letter in note):
            raise ValueError("it has control characters")
        signatures: dict[tuple[str, bytes], bytes] = {}
        for line in below[:-1].split("\n"):
            words = line.split(" ")
            signed = _decoded(words[2]) if len(words) == 3 else b""
            if words[0] != DASH or len(signed) <= ID_SIZE or not named_well(words[1]):
                raise ValueError("a line under its empty one is no signature")
            signatures[words[1], signed[:ID_SIZE]] = signed[ID_SIZE:]
        return cls(above + "\n", signatures)


def line(name: str, tag: bytes, signature: bytes) -> str:
    """Return the line of a signature, with its end."""
    return f"{DASH} {name} {base64.b64encode(tag + signature).decode()}\n"


def cosigned(text: str, at: int) -> bytes:
    """Return what a cosigner signs of a checkpoint's ``text`` at ``at``, in seconds of POSIX."""
    return f"cosignature/v1\ntime {at}\n{text}".encode()


def cosigned_at(signature: bytes) -> int:
    """Return the time of a cosignature, its key's id left out, in seconds of POSIX."""
    return int.from_bytes(signature[:TIME_SIZE], "big")


def _decoded(text: str) -> bytes:
    """Return bytes in canonical base64; none for anything else."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return content if base64.b64encode(content).decode() == text else b""
