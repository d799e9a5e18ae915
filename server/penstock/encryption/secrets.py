"""The keys of HMACs: of tokens, of fingerprints, of released values.

They stand in a file of their own, under the rules of the key ring and never in the
database or its backups: whoever holds the database alone can neither forge a token nor
try counts against a fingerprint.

``{"format": "penstock-secrets", "version": 1, "pepper": KEY, "fingerprint": KEY, "values": KEY}``,
keys in base64, until the pepper is rotated.  Version 2 has ``"peppers": {NUMBER: KEY, ...}``
instead of the one: the highest number is the newest, the others are retired.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, Self

from penstock.encryption import private
from penstock.encryption.key import Key

FORMAT = "penstock-secrets"
VERSION = 2
FIRST_PEPPER: Final = 1
"""The number of the pepper that a home is made with."""

NAMES: Final = ("pepper", "fingerprint", "values")
"""What the keys are called."""

_LONGEST_NUMBER = 9


@dataclass(frozen=True, repr=False)
class Secrets:
    """Keys of 32 bytes.

    ``peppers`` for the digests of tokens, by number, of which new ones are made under the
    highest; ``fingerprint`` for those of sources and exact answers, ``values`` for those of
    released values in the log.
    """

    peppers: Mapping[int, bytes]
    fingerprint: bytes
    values: bytes

    @property
    def newest(self) -> int:
        """The number of the pepper that new digests are under."""
        return max(self.peppers)

    @classmethod
    def create(cls, path: Path) -> Self:
        """New keys in a new file.  Raises ``KeysUnavailable`` where one stands already."""
        keys = {name: Key.fresh() for name in NAMES}
        listed = {name: private.encode_key(key) for name, key in keys.items()}
        private.create(path, {"format": FORMAT, "version": 1, **listed})
        pepper, fingerprint, values = (keys[name].material for name in NAMES)
        return cls({FIRST_PEPPER: pepper}, fingerprint, values)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The keys in a file.  Raises ``KeysUnavailable``, naming the next step."""
        return cls.parsed(path, private.read(path))

    @classmethod
    def parsed(cls, path: Path, content: object) -> Self:
        """The keys in the JSON of the file at ``path``.  Raises ``KeysUnavailable``."""
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise private.malformed(path, "is not a file of Penstock's secrets")
        version = content.get("version")
        if version not in (1, VERSION):
            raise private.malformed(path, f"is of another version than {VERSION}")
        listed = content.get("peppers")
        if version == 1:
            listed = {str(FIRST_PEPPER): content.get("pepper")}
        others = [_key(path, name, content.get(name)) for name in NAMES[1:]]
        return cls(_peppers(path, listed), *others)

    def write(self, path: Path) -> None:
        """Put these into the file's place, whole or not at all; under its lock."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "peppers": {str(number): _text(key) for number, key in self.peppers.items()},
            "fingerprint": _text(self.fingerprint),
            "values": _text(self.values),
        }
        private.replace(path, [json.dumps(content, indent=1).encode() + b"\n"])

    def __repr__(self) -> str:
        return "Secrets(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets are not serialized; load them from their file")


class SecretsFile:
    """Secrets that others may rotate meanwhile: each use sees what the file says now."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept = self._read()

    @property
    def now(self) -> Secrets:
        """The secrets as they stand in the file.  Raises ``KeysUnavailable``."""
        kept = self._kept
        with private.opened(self._path) as descriptor:
            if private.identity(descriptor) == kept[0]:
                return kept[1]
        kept = self._kept = self._read()
        return kept[1]

    def renew_pepper(self) -> Secrets:
        """Add a pepper, the newest from now on; the others are kept, retired."""
        with private.locked(self._path):
            found = self.now
            peppers = {**found.peppers, found.newest + 1: Key.fresh().material}
            Secrets(peppers, found.fingerprint, found.values).write(self._path)
        return self.now

    def drop_peppers(self) -> Secrets:
        """Forget all peppers but the newest."""
        with private.locked(self._path):
            found = self.now
            if len(found.peppers) > 1:
                peppers = {found.newest: found.peppers[found.newest]}
                Secrets(peppers, found.fingerprint, found.values).write(self._path)
        return self.now

    def _read(self) -> tuple[tuple[int, ...], Secrets]:
        with private.opened(self._path) as descriptor:
            identity = private.identity(descriptor)
            text = private.content(self._path, descriptor)
        return identity, Secrets.parsed(self._path, private.parsed(self._path, text))


def _peppers(path: Path, listed: Any) -> dict[int, bytes]:
    if not isinstance(listed, dict) or not listed:
        raise private.malformed(path, "does not list its peppers")
    found = {}
    for name, text in listed.items():
        if not (name.isascii() and name.isdigit() and 0 < len(name) <= _LONGEST_NUMBER):
            raise private.malformed(path, f"has a pepper without a number, {name[:32]!r}")
        found[int(name)] = _key(path, "pepper", text)
    return dict(sorted(found.items(), reverse=True))


def _key(path: Path, name: str, text: object) -> bytes:
    return private.decode_key(path, name, text).material


def _text(key: bytes) -> str:
    return private.encode_key(Key(key))
