"""A cosigner's key, in a file of its own, and what it signs: checkpoints (C2SP tlog-cosignature).

The file holds one line, ``PRIVATE+KEY+NAME+ID+BASE64``.  Signing needs the package
``cryptography``, which comes with ``pip install 'penstock-client[cosign]'``.
"""

import base64
import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from penstock_client._log.leaves import decoded
from penstock_client.errors import InvalidArgument, MissingExtra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KIND = b"\x04"
"""A cosignature by Ed25519, in the names of keys."""

PREFIX = "PRIVATE+KEY+"
SEED_SIZE = 32


@dataclass(frozen=True)
class Cosigner:
    """A name, and the seed of an Ed25519 key (RFC 8032, section 5.1.5)."""

    name: str
    seed: bytes = field(repr=False)

    @classmethod
    def create(cls, file: Path, name: str) -> Self:
        """Make a key in a new file that nobody else may read.  Raises ``InvalidArgument``."""
        if not _named_well(name):
            raise InvalidArgument(
                "A cosigner's name is like an address without https, as auditor.example.org/log:"
                " no spaces, no control characters, no plus."
            )
        made = cls(name, os.urandom(SEED_SIZE))
        material = base64.b64encode(KIND + made.seed).decode()
        line = f"{PREFIX}{name}+{made.id.hex()}+{material}\n"
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
                opened.write(line)
                opened.flush()
                os.fsync(opened.fileno())
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise InvalidArgument(f"{file} cannot be made: {reason}. Name a new file.") from error
        return made

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read a key.  Raises ``InvalidArgument`` also where others may read the file."""
        try:
            if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
                raise InvalidArgument(f"{file} may be read by others; run `chmod 600 {file}`.")
            line = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidArgument(f"{file} cannot be read as a cosigner's key.") from error
        name, _, rest = line.strip().removeprefix(PREFIX).partition("+")
        tag, _, encoded = rest.partition("+")
        try:
            material = decoded(encoded)
        except ValueError:
            material = b""
        if len(material) == 1 + SEED_SIZE and material[:1] == KIND and _named_well(name):
            cosigner = cls(name, material[1:])
            if line.startswith(PREFIX) and tag == cosigner.id.hex():
                return cosigner
        raise InvalidArgument(
            f"{file} holds no cosigner's key; `penstock-client audit key` makes one."
        )

    @property
    def public(self) -> bytes:
        """The public key, of 32 bytes."""
        return self._key().public_key().public_bytes_raw()

    @property
    def id(self) -> bytes:
        """The 4 bytes by which its signatures tell the key."""
        digest = hashlib.sha256(self.name.encode() + b"\n" + KIND + self.public)
        return digest.digest()[:4]

    @property
    def vkey(self) -> str:
        """The public key with its name, as the server's operator names it."""
        material = base64.b64encode(KIND + self.public).decode()
        return f"{self.name}+{self.id.hex()}+{material}"

    def signed(self, note: str, at: int) -> str:
        """The note with this cosigner's line, of ``at`` in seconds of POSIX."""
        text = note.rpartition("\n\n")[0] + "\n"
        signature = self._key().sign(f"cosignature/v1\ntime {at}\n{text}".encode())
        line = base64.b64encode(self.id + at.to_bytes(8, "big") + signature).decode()
        return f"{note}\u2014 {self.name} {line}\n"

    def _key(self) -> "Ed25519PrivateKey":
        try:
            from cryptography.hazmat.primitives.asymmetric import ed25519
        except ImportError as error:
            raise MissingExtra("cosign", "Cosigner") from error
        return ed25519.Ed25519PrivateKey.from_private_bytes(self.seed)


def _named_well(name: str) -> bool:
    return bool(name) and name.isprintable() and "+" not in name and not any(map(str.isspace, name))
