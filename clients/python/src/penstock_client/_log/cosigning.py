"""Keep a cosigner's key in a file, and cosign checkpoints with it (C2SP tlog-cosignature).

The file contains one line, ``PRIVATE+KEY+NAME+ID+BASE64``.  Signing needs the package
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
"""The signature type of an Ed25519 cosignature, the first byte of a key's material."""

PREFIX = "PRIVATE+KEY+"
SEED_SIZE = 32


@dataclass(frozen=True)
class Cosigner:
    """Hold a cosigner's name and the seed of its Ed25519 key (RFC 8032, section 5.1.5)."""

    name: str
    seed: bytes = field(repr=False)

    @classmethod
    def create(cls, file: Path, name: str) -> Self:
        """Create a key in a new file that only its owner may read.

        Raises ``InvalidArgument`` for a name that cannot be used, and if the file exists or
        cannot be created.
        """
        if not _is_usable_name(name):
            raise InvalidArgument(
                "A cosigner's name looks like an address without https, for example"
                " auditor.example.org/log: no spaces, no control characters, no plus."
            )
        cosigner = cls(name, os.urandom(SEED_SIZE))
        material = base64.b64encode(KIND + cosigner.seed).decode()
        line = f"{PREFIX}{name}+{cosigner.id.hex()}+{material}\n"
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
                opened.write(line)
                opened.flush()
                os.fsync(opened.fileno())
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise InvalidArgument(
                f"{file} cannot be created: {reason}. Name a new file."
            ) from error
        return cosigner

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read a key.

        Raises ``InvalidArgument`` if the file contains no key, or if others may read it.
        """
        try:
            if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
                raise InvalidArgument(f"Others may read {file}; run `chmod 600 {file}`.")
            line = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidArgument(
                f"{file} cannot be read; name a file that `penstock-client audit key` created."
            ) from error
        name, _, rest = line.strip().removeprefix(PREFIX).partition("+")
        tag, _, encoded = rest.partition("+")
        try:
            material = decoded(encoded)
        except ValueError:
            material = b""
        if len(material) == 1 + SEED_SIZE and material[:1] == KIND and _is_usable_name(name):
            cosigner = cls(name, material[1:])
            if line.startswith(PREFIX) and tag == cosigner.id.hex():
                return cosigner
        raise InvalidArgument(
            f"{file} contains no cosigner's key; `penstock-client audit key` creates one."
        )

    @property
    def public(self) -> bytes:
        """Return the public key (32 bytes)."""
        return self._key().public_key().public_bytes_raw()

    @property
    def id(self) -> bytes:
        """Return the key's id, the 4 bytes that name the key in its signatures."""
        digest = hashlib.sha256(self.name.encode() + b"\n" + KIND + self.public)
        return digest.digest()[:4]

    @property
    def vkey(self) -> str:
        """Return the public key with its name (C2SP vkey), as ``PENSTOCK_COSIGNERS`` takes it."""
        material = base64.b64encode(KIND + self.public).decode()
        return f"{self.name}+{self.id.hex()}+{material}"

    def signed(self, note: str, at: int) -> str:
        """Return the note with this cosigner's signature line, at POSIX time ``at`` in seconds."""
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


def _is_usable_name(name: str) -> bool:
    return bool(name) and name.isprintable() and "+" not in name and not any(map(str.isspace, name))
