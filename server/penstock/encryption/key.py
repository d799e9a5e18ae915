"""Hold a key that is never printed in a message, a log or a traceback.

A key is kept in a buffer that is overwritten when the key is no longer used, and subkeys for
ciphers are kept in such buffers too, so a destroyed key is not in the memory of a process that used
it; ``services.kept_keys`` bounds for how long keys of datasets and queries are used.  Tests search
the memory of processes for it; Python allows no more.  A caller who takes ``material`` has a copy
that is not overwritten.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NoReturn, Self

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SIZE = 32
"""The bytes of every key."""

ID_SIZE = 8
"""The bytes of a key's public name."""


class Key:
    """Hold 256 bits and their public name.  Raises ``ValueError`` for another size."""

    def __init__(self, material: bytes | bytearray | memoryview) -> None:
        if len(material) != SIZE:
            raise ValueError(f"a key has {SIZE} bytes, not {len(material)}")
        self._material = bytearray(material)

    @classmethod
    def fresh(cls) -> Self:
        """Return a new key from the operating system."""
        key = cls(bytes(SIZE))
        with Path("/dev/urandom").open("rb", buffering=0) as source:
            source.readinto(key._material)
        return key

    @property
    def material(self) -> bytes:
        """Return a copy of the key, which Python may keep in memory."""
        return bytes(self._material)

    @contextmanager
    def exposed(self) -> Iterator[bytearray]:
        """Yield the key itself for a cipher; it is overwritten when this object is deleted."""
        yield self._material

    @cached_property
    def id(self) -> bytes:
        """Return ``ID_SIZE`` bytes that name the key but, by HKDF, reveal nothing about it."""
        return self.subkey(b"", b"penstock key id", ID_SIZE)

    def subkey(self, salt: bytes, info: bytes, size: int = SIZE) -> bytes:
        """Return HKDF-SHA256 (Krawczyk, Eronen 2010, RFC 5869) of the key."""
        return HKDF(algorithm=SHA256(), length=size, salt=salt, info=info).derive(self._material)

    def subkey_into(self, buffer: bytearray, salt: bytes, info: bytes) -> None:
        """Write the same into ``buffer``, which its owner has to overwrite."""
        kdf = HKDF(algorithm=SHA256(), length=len(buffer), salt=salt, info=info)
        kdf.derive_into(self._material, buffer)

    def __del__(self) -> None:
        # If the size was wrong, there is no buffer yet.
        wipe(getattr(self, "_material", bytearray()))

    def __repr__(self) -> str:
        return f"Key(id={self.id.hex()})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not serialized; wrap it")


def wipe(*buffers: bytearray) -> None:
    """Overwrite buffers with zeros, in place."""
    for buffer in buffers:
        buffer[:] = bytes(len(buffer))
