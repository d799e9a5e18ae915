"""A key that never shows itself in a message, a log or a traceback."""

import os
from functools import cached_property
from typing import NoReturn, Self

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SIZE = 32
"""The bytes of every key."""

ID_SIZE = 8
"""The bytes of a key's public name."""


class Key:
    """256 bits and the public name derived from them.  Raises ``ValueError`` at another size."""

    def __init__(self, material: bytes) -> None:
        if len(material) != SIZE:
            raise ValueError(f"a key has {SIZE} bytes, not {len(material)}")
        self._material = bytes(material)

    @classmethod
    def fresh(cls) -> Self:
        """A new key from the operating system."""
        return cls(os.urandom(SIZE))

    @property
    def material(self) -> bytes:
        """The key itself, for a cipher or for the file that keeps it."""
        return self._material

    @cached_property
    def id(self) -> bytes:
        """``ID_SIZE`` bytes that name the key and say nothing of it: one-way by HKDF."""
        return self.subkey(b"", b"penstock key id", ID_SIZE)

    def subkey(self, salt: bytes, info: bytes, size: int = SIZE) -> bytes:
        """HKDF-SHA256 (Krawczyk, Eronen 2010, RFC 5869) of the key."""
        return HKDF(algorithm=SHA256(), length=size, salt=salt, info=info).derive(self._material)

    def __repr__(self) -> str:
        return f"Key(id={self.id.hex()})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not serialized; wrap it")
