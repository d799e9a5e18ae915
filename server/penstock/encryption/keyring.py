"""The provider that keeps its keys in a file, outside of the database and its backups.

``{"format": "penstock-keyring", "version": 2, "keys": {ID: KEY, ...}, "contexts": {CONTEXT:
[ID, ...], ...}}``, names in hexadecimal, keys in base64, the newest key of a context last.  A
context is named by a digest.  Rotation without downtime: ``renew``, rewrap, ``drop_old``;
servers that run meanwhile read the file again before they wrap, and when they meet a key
that they do not know.

The file changes when a dataset is registered, rotated or shredded, and is to be backed up then.
Version 1 had one *primary* key for all and is still read: what it wrapped is rewrapped
under a key of its own by the first rotation.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Self

from penstock.encryption import private
from penstock.encryption.envelope import OVERHEAD, RowIdentity, key_id, open_envelope, seal
from penstock.encryption.key import Key
from penstock.encryption.providers import Health
from penstock.errors import KeysUnavailable

FORMAT = "penstock-keyring"
VERSION = 2


@dataclass(frozen=True, repr=False)
class _Ring:
    """What the file says: keys by public name, and which are whose."""

    keys: Mapping[str, Key] = field(default_factory=dict)
    contexts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def content(self) -> dict[str, object]:
        keys = {name: private.encode_key(key) for name, key in self.keys.items()}
        contexts = {context: list(names) for context, names in self.contexts.items()}
        return {"format": FORMAT, "version": VERSION, "keys": keys, "contexts": contexts}

    @classmethod
    def read(cls, path: Path) -> Self:
        content = private.read(path)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise private.malformed(path, "is not a key ring of Penstock")
        version = content.get("version")
        if version not in (1, VERSION):
            raise private.malformed(path, f"is a key ring of another version than {VERSION}")
        listed = content.get("keys")
        if not isinstance(listed, dict):
            raise private.malformed(path, "does not list its keys")
        keys = {name: private.decode_key(path, name, text) for name, text in listed.items()}
        if any(name != key.id.hex() for name, key in keys.items()):
            raise private.malformed(path, "lists a key under the name of another")
        return cls(keys, {} if version == 1 else _contexts(path, content.get("contexts"), keys))

    def with_key(self, context: str, key: Key) -> "_Ring":
        name = key.id.hex()
        names = (*self.contexts.get(context, ()), name)
        return _Ring({**self.keys, name: key}, {**self.contexts, context: names})

    def without(self, names: tuple[str, ...]) -> "_Ring":
        keys = {name: key for name, key in self.keys.items() if name not in names}
        kept = {
            context: tuple(name for name in own if name not in names)
            for context, own in self.contexts.items()
        }
        return _Ring(keys, {context: own for context, own in kept.items() if own})

    def newest(self, context: str) -> Key | None:
        names = self.contexts.get(context)
        return self.keys[names[-1]] if names else None


class KeyRing:
    """A ``KeyProvider`` over a file; ``create`` makes the file, ``load`` reads it."""

    def __init__(self, path: Path, ring: _Ring) -> None:
        self._path = path
        self._ring = ring

    @classmethod
    def create(cls, path: Path) -> Self:
        """An empty ring in a new file.  Raises ``KeysUnavailable`` where one stands."""
        private.create(path, _Ring().content())
        return cls(path, _Ring())

    @classmethod
    def load(cls, path: Path) -> Self:
        """The ring in a file.  Raises ``KeysUnavailable``, naming the next step."""
        return cls(path, _Ring.read(path))

    def wrap(self, key: Key, context: bytes) -> bytes:
        """``key`` in an envelope under the newest key of ``context``, as the file has it now."""
        self._ring = _Ring.read(self._path)
        newest = self._ring.newest(_name(context)) or self._renew(context)
        return seal(newest, key.material, _identity(context))

    def unwrap(self, wrapped: bytes, context: bytes) -> Key:
        """The wrapped key.  Raises ``KeysUnavailable`` where the ring lacks its wrapping key."""
        if len(wrapped) < OVERHEAD:
            # It names no key, and opens under none.
            return Key(open_envelope(Key.fresh(), wrapped, _identity(context)))
        return Key(open_envelope(self._key_of(wrapped), wrapped, _identity(context)))

    def rewrap(self, wrapped: bytes, context: bytes) -> bytes:
        """The same key under the context's newest; ``wrapped`` itself where it is already."""
        self._ring = _Ring.read(self._path)
        key = self.unwrap(wrapped, context)
        newest = self._ring.newest(_name(context))
        if newest is not None and key_id(wrapped) == newest.id:
            return wrapped
        return self.wrap(key, context)

    def renew(self, context: bytes) -> str:
        """A new key for ``context``, its newest from now on.  Returns its public name."""
        return self._renew(context).id.hex()

    def drop_old(self, context: bytes) -> tuple[str, ...]:
        """Forget what ``context`` was wrapped under before its newest key."""
        with private.locked(self._path):
            ring = _Ring.read(self._path)
            return self._drop(ring, ring.contexts.get(_name(context), ())[:-1])

    def drop_shared(self) -> tuple[str, ...]:
        """Forget the keys that a ring of version 1 had for all."""
        with private.locked(self._path):
            ring = _Ring.read(self._path)
            owned = {name for names in ring.contexts.values() for name in names}
            return self._drop(ring, tuple(name for name in ring.keys if name not in owned))

    def destroy(self, context: bytes) -> tuple[str, ...]:
        """Forget every key of ``context``."""
        with private.locked(self._path):
            ring = _Ring.read(self._path)
            return self._drop(ring, ring.contexts.get(_name(context), ()))

    def health(self) -> Health:
        """The keys in the file now.  Raises ``KeysUnavailable`` where it cannot be used."""
        self._ring = _Ring.read(self._path)
        return Health("keyring", tuple(self._ring.keys))

    def _renew(self, context: bytes) -> Key:
        key = Key.fresh()
        with private.locked(self._path):
            self._store(_Ring.read(self._path).with_key(_name(context), key))
        return key

    def _drop(self, ring: _Ring, names: tuple[str, ...]) -> tuple[str, ...]:
        if names:
            self._store(ring.without(names))
        return names

    def _store(self, ring: _Ring) -> None:
        private.replace(self._path, ring.content())
        self._ring = ring

    def _key_of(self, wrapped: bytes) -> Key:
        name = key_id(wrapped).hex()
        if name not in self._ring.keys:
            self._ring = _Ring.read(self._path)
        key = self._ring.keys.get(name)
        if key is None:
            raise KeysUnavailable(
                f"The key ring {self._path.name} lacks key {name}, under which a stored key is"
                f" wrapped; it has {len(self._ring.keys)} others. Put back the ring that belongs"
                " to this database, or the database that belongs to this ring.",
                path=str(self._path),
            )
        return key

    def __repr__(self) -> str:
        return f"KeyRing({str(self._path)!r}, {len(self._ring.keys)} keys)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key ring is not serialized; load it from its file")


def _contexts(path: Path, listed: object, keys: Mapping[str, Key]) -> dict[str, tuple[str, ...]]:
    if not isinstance(listed, dict) or not all(
        isinstance(names, list) and names and all(name in keys for name in names)
        for names in listed.values()
    ):
        raise private.malformed(path, "does not say which of its keys are whose")
    return {context: tuple(names) for context, names in listed.items()}


def _name(context: bytes) -> str:
    """What names a context in the file: nothing of what it is called."""
    return hashlib.sha256(context).hexdigest()[:32]


def _identity(context: bytes) -> RowIdentity:
    return RowIdentity(table="key", dataset=context.hex(), length=1, type="kek")
