"""Keep the provider's keys in a file, outside of the database and its backups.

``ring_file`` describes the file.  A context is named by a digest.  Rotation without downtime:
``renew``, rewrap, ``drop``; running servers check with every use of a key, also of one that they
keep for a few seconds, whether the file was replaced.

The file changes when a dataset is registered, rotated or shredded; back it up then. Version 1 had
one *primary* key for all contexts and is still read: the first rotation rewraps everything under
separate keys.
"""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NoReturn, Self

from penstock.encryption import private, ring_file
from penstock.encryption.envelope import OVERHEAD, RowIdentity, key_id, open_key, seal_key
from penstock.encryption.key import Key
from penstock.encryption.providers import Health
from penstock.encryption.ring_file import RingFile
from penstock.errors import KeysUnavailable


class KeyRing:
    """Hold a ``KeyProvider`` over a file; ``create`` makes the file, ``load`` reads it."""

    def __init__(self, file: RingFile) -> None:
        self._path, self._place = file.path, str(file.path)
        self._file = file

    @classmethod
    def create(cls, path: Path) -> Self:
        """Return an empty ring in a new file.  Raises ``KeysUnavailable`` if the file exists."""
        return cls(ring_file.create(path))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the ring in a file.  Raises ``KeysUnavailable``, naming the next step."""
        return cls(RingFile.read(path))

    def wrap(self, key: Key, context: bytes) -> bytes:
        """Return ``key`` in an envelope under the newest key of ``context`` in the file."""
        newest = self._now().newest(_name(context)) or self.renew(context)
        return seal_key(self._key(newest), key, _identity(context))

    def unwrap(self, wrapped: bytes, context: bytes) -> Key:
        """Unwrap a key.  Raises ``KeysUnavailable`` if the ring lacks its wrapping key."""
        # A record that is too short names no key, and cannot be opened.
        short = len(wrapped) < OVERHEAD
        key = Key.fresh() if short else self._key(key_id(wrapped).hex())
        return open_key(key, wrapped, _identity(context))

    def rewrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Return the key wrapped under the context's newest; unchanged if it already is."""
        key = self.unwrap(wrapped, context)
        if key_id(wrapped).hex() == self._now().newest(_name(context)):
            return wrapped
        return self.wrap(key, context)

    def renew(self, context: bytes) -> str:
        """Make a new key for ``context``, its newest from now on; return its public name."""
        key = Key.fresh()
        with private.locked(self._path):
            self._now().with_key(_name(context), key)
        return key.id.hex()

    def keys_of(self, context: bytes) -> tuple[str, ...]:
        """Return the names of the keys of ``context``, the newest last."""
        return self._now().contexts.get(_name(context), ())

    def shared(self) -> tuple[str, ...]:
        """Return the keys that a ring of version 1 had for all contexts."""
        file = self._now()
        owned = {name for names in file.contexts.values() for name in names}
        return tuple(name for name in file.places if name not in owned)

    def drop(self, names: Collection[str]) -> tuple[str, ...]:
        """Delete keys by name."""
        with private.locked(self._path):
            file = self._now()
            return _drop(file, [name for name in file.places if name in names])

    def destroy(self, context: bytes) -> tuple[str, ...]:
        """Delete every key of ``context``."""
        with private.locked(self._path):
            file = self._now()
            return _drop(file, file.contexts.get(_name(context), ()))

    def version(self) -> tuple[int, ...]:
        """Return the identity of the file that is there now.  Raises ``KeysUnavailable``."""
        return private.present_identity(self._place)

    def health(self) -> Health:
        """Return the keys in the file now.  Raises ``KeysUnavailable`` if it cannot be used."""
        return Health("keyring", tuple(self._now().places))

    def _now(self) -> RingFile:
        file = self._file
        if not file.stands():
            file = self._file = RingFile.read(self._path)
        return file

    def _key(self, name: str) -> Key:
        # Once more if the file was replaced between the two.
        while name in (file := self._now()).places:
            key = file.key(name)
            if key is not None:
                return key
        raise KeysUnavailable(
            f"The key ring {self._path.name} lacks key {name}, under which a stored key is"
            f" wrapped; it has {len(file.places)} others. Restore the ring that belongs to this"
            f" database, or the database that belongs to this ring.",
            path=str(self._path),
        )

    def __repr__(self) -> str:
        return f"KeyRing({str(self._path)!r}, {len(self._file.places)} keys)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key ring is not serialized; load it from its file")


def _drop(file: RingFile, names: Sequence[str]) -> tuple[str, ...]:
    if names:
        file.without(names)
    return tuple(names)


def _name(context: bytes) -> str:
    """Return the digest that names a context in the file; it does not reveal the context."""
    return hashlib.sha256(context).hexdigest()[:32]


def _identity(context: bytes) -> RowIdentity:
    return RowIdentity(table="key", dataset=context.hex(), length=1, type="kek")
