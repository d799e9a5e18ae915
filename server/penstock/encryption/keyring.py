"""The provider that keeps its keys in a file, outside of the database and its backups.

``{"format": "penstock-keyring", "version": 1, "primary": ID, "keys": {ID: KEY, ...}}``, names
in hexadecimal, keys in base64.  Rotation without downtime: ``add``, ``make_primary``, rewrap
everything, ``drop``; servers that run meanwhile read the file again before they wrap, and
when they meet a key that they do not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Self

from penstock.encryption import private
from penstock.encryption.envelope import OVERHEAD, RowIdentity, key_id, open_envelope, seal
from penstock.encryption.key import Key
from penstock.encryption.providers import Health
from penstock.errors import Conflict, KeysUnavailable, NotFound

FORMAT = "penstock-keyring"
VERSION = 1


@dataclass(frozen=True)
class _Ring:
    """What the file says: keys by public name, one of them primary."""

    keys: Mapping[str, Key]
    primary: str

    def content(self) -> dict[str, object]:
        keys = {name: private.encode_key(key) for name, key in self.keys.items()}
        return {"format": FORMAT, "version": VERSION, "primary": self.primary, "keys": keys}

    @classmethod
    def read(cls, path: Path) -> Self:
        content = private.read(path)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise private.malformed(path, "is not a key ring of Penstock")
        if content.get("version") != VERSION:
            raise private.malformed(path, f"is a key ring of another version than {VERSION}")
        listed, primary = content.get("keys"), content.get("primary")
        if not isinstance(listed, dict) or not isinstance(primary, str):
            raise private.malformed(path, "does not list its keys")
        keys = {name: private.decode_key(path, name, text) for name, text in listed.items()}
        if any(name != key.id.hex() for name, key in keys.items()):
            raise private.malformed(path, "lists a key under the name of another")
        if primary not in keys:
            raise private.malformed(path, "names a primary key that it does not hold")
        return cls(keys, primary)


class KeyRing:
    """A ``KeyProvider`` over a file; ``create`` makes the file, ``load`` reads it."""

    def __init__(self, path: Path, ring: _Ring) -> None:
        self._path = path
        self._ring = ring

    @classmethod
    def create(cls, path: Path) -> Self:
        """A new ring of one key in a new file.  Raises ``KeysUnavailable`` where one stands."""
        key = Key.fresh()
        ring = _Ring({key.id.hex(): key}, key.id.hex())
        private.create(path, ring.content())
        return cls(path, ring)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The ring in a file.  Raises ``KeysUnavailable``, naming the next step."""
        return cls(path, _Ring.read(path))

    def wrap(self, key: Key, context: bytes) -> bytes:
        """``key`` in an envelope under the primary key, as the file names it now."""
        self._ring = ring = _Ring.read(self._path)
        return seal(ring.keys[ring.primary], key.material, _identity(context))

    def unwrap(self, wrapped: bytes, context: bytes) -> Key:
        """The wrapped key.  Raises ``KeysUnavailable`` where the ring lacks its wrapping key."""
        return Key(open_envelope(self._key_of(wrapped), wrapped, _identity(context)))

    def rewrap(self, wrapped: bytes, context: bytes) -> bytes:
        """The same key under the primary key; ``wrapped`` itself where it is already."""
        self._ring = _Ring.read(self._path)
        key = self.unwrap(wrapped, context)
        if key_id(wrapped).hex() == self._ring.primary:
            return wrapped
        return self.wrap(key, context)

    def health(self) -> Health:
        """The keys in the file now.  Raises ``KeysUnavailable`` where it cannot be used."""
        self._ring = _Ring.read(self._path)
        return Health("keyring", self._ring.primary, tuple(self._ring.keys))

    def add(self) -> str:
        """Put a new key onto the ring, not yet primary.  Returns its public name."""
        key = Key.fresh()
        with private.locked(self._path):
            ring = _Ring.read(self._path)
            self._store(_Ring({**ring.keys, key.id.hex(): key}, ring.primary))
        return key.id.hex()

    def make_primary(self, name: str) -> None:
        """Wrap under this key from now on.  Raises ``NotFound``."""
        with private.locked(self._path):
            ring = self._ring_with(name)
            self._store(_Ring(ring.keys, name))

    def drop(self, name: str) -> None:
        """Forget a key; what is still wrapped under it is lost.

        Raises ``NotFound``, and ``Conflict`` for the primary key.
        """
        with private.locked(self._path):
            ring = self._ring_with(name)
            if name == ring.primary:
                raise Conflict(f"Key {name} is the primary one; make another primary first.")
            kept = {other: key for other, key in ring.keys.items() if other != name}
            self._store(_Ring(kept, ring.primary))

    def _ring_with(self, name: str) -> _Ring:
        ring = _Ring.read(self._path)
        if name not in ring.keys:
            raise NotFound(f"The key ring has no key {name}; it has {', '.join(ring.keys)}.")
        return ring

    def _store(self, ring: _Ring) -> None:
        private.replace(self._path, ring.content())
        self._ring = ring

    def _key_of(self, wrapped: bytes) -> Key:
        if len(wrapped) < OVERHEAD:
            return self._ring.keys[self._ring.primary]  # it names no key, and opens under none
        name = key_id(wrapped).hex()
        if name not in self._ring.keys:
            self._ring = _Ring.read(self._path)
        key = self._ring.keys.get(name)
        if key is None:
            raise KeysUnavailable(
                f"The key ring {self._path.name} lacks key {name}, under which a stored key is"
                f" wrapped; it has {', '.join(self._ring.keys)}. Put back the ring that belongs"
                " to this database, or the database that belongs to this ring.",
                path=str(self._path),
            )
        return key

    def __repr__(self) -> str:
        return f"KeyRing({str(self._path)!r}, primary={self._ring.primary})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key ring is not serialized; load it from its file")


def _identity(context: bytes) -> RowIdentity:
    return RowIdentity(table="key", dataset=context.hex(), length=1, type="kek")
