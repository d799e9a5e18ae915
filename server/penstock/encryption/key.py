"""Hold a key that never shows itself in a message, a log or a traceback.

What holds a key is a buffer that is overwritten when nobody uses the key any more, and what
is derived from it for a cipher goes into such buffers too: a key that was destroyed is then in no
memory of a process that used it.  That is as much as Python can do, and is looked at by searching
processes; whoever takes ``material`` has a copy that nothing overwrites.
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
    """Hold 256 bits and their public name.  Raises ``ValueError`` at another size."""

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
        """A copy of the key, which stays in memory for as long as Python likes."""
        return bytes(self._material)

    @contextmanager
    def exposed(self) -> Iterator[bytearray]:
        """Yield the key itself for a cipher; it is overwritten when this object goes."""
        yield self._material

    @cached_property
    def id(self) -> bytes:
        """``ID_SIZE`` bytes that name the key and say nothing of it: one-way by HKDF."""
        return self.subkey(b"", b"penstock key id", ID_SIZE)

    def subkey(self, salt: bytes, info: bytes, size: int = SIZE) -> bytes:
        """Return HKDF-SHA256 (Krawczyk, Eronen 2010, RFC 5869) of the key."""
        return HKDF(algorithm=SHA256(), length=size, salt=salt, info=info).derive(self._material)

    def subkey_into(self, buffer: bytearray, salt: bytes, info: bytes) -> None:
        """Return the same, filling ``buffer``, which its owner is to overwrite."""
        kdf = HKDF(algorithm=SHA256(), length=len(buffer), salt=salt, info=info)
        kdf.derive_into(self._material, buffer)

    def __del__(self) -> None:
        # Where the size was wrong there is nothing yet.
        wipe(getattr(self, "_material", bytearray()))

    def __repr__(self) -> str:
        return f"Key(id={self.id.hex()})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not serialized; wrap it")


def wipe(*buffers: bytearray) -> None:
    """Overwrite buffers with zeros, where they are."""
    for buffer in buffers:
        buffer[:] = bytes(len(buffer))
