"""Keep the keys of HMACs: of tokens, of fingerprints, of rows and released values.

They are in a file of their own, under the rules of the key ring and never in the database or its
backups: whoever holds the database alone can neither forge a token or a row nor try counts against
a fingerprint.

``{"format": "penstock-secrets", "version": 1, "pepper": KEY, "fingerprint": KEY, "values": KEY}``,
keys in base64, until one of them is rotated.  Version 2 has ``"peppers": {NUMBER: KEY, ...}``
instead of the one pepper; version 3 has ``fingerprints`` and ``values`` in the same form, and
``rows``, the lowest number of ``values`` that a row may be signed under.  The highest number of
each is the newest, the others are retired.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NoReturn, Self

from penstock.encryption import private
from penstock.encryption.key import Key

FORMAT = "penstock-secrets"
VERSION = 3
FIRST: Final = 1
"""The number of each key that a home is made with."""

PEPPER: Final = "pepper"
FINGERPRINT: Final = "fingerprint"
VALUES: Final = "values"
NAMES: Final = (PEPPER, FINGERPRINT, VALUES)
"""Names of the keys."""

_LISTS: Final = {PEPPER: "peppers", FINGERPRINT: "fingerprints", VALUES: "values"}
"""Field of the file that lists the retained keys of each name."""

_LONGEST_NUMBER = 9


@dataclass(frozen=True, repr=False)
class Secrets:
    """Hold keys of 32 bytes, ``kept`` by name and number, the newest first.

    ``pepper`` for the digests of tokens, ``fingerprint`` for those of sources, exact answers and
    requests, ``values`` for rows, the witness, and released values in the log.  New ones are made
    under the highest number.  Rows are accepted under ``values`` from the number ``rows`` on.
    """

    kept: Mapping[str, Mapping[int, bytes]]
    rows: int = FIRST

    @property
    def peppers(self) -> Mapping[int, bytes]:
        """Return every stored pepper."""
        return self.kept[PEPPER]

    @property
    def newest(self) -> int:
        """Return the number of the pepper for new digests."""
        return self.newest_of(PEPPER)

    @property
    def fingerprint(self) -> bytes:
        """Return the newest key of fingerprints."""
        return self.every(FINGERPRINT)[0]

    @property
    def values(self) -> bytes:
        """Return the newest key of rows and released values."""
        return self.every(VALUES)[0]

    def newest_of(self, name: str) -> int:
        """Return the highest number of the keys of a name."""
        return max(self.kept[name])

    def every(self, name: str) -> tuple[bytes, ...]:
        """Return the keys of a name that are kept, the newest first."""
        return tuple(key for _, key in sorted(self.kept[name].items(), reverse=True))

    def of_rows(self) -> tuple[bytes, ...]:
        """Return the keys that rows and the witness may be signed under, the newest first."""
        return self._of_rows

    @cached_property
    def _of_rows(self) -> tuple[bytes, ...]:
        numbered = sorted(self.kept[VALUES].items(), reverse=True)
        return tuple(key for number, key in numbered if number >= self.rows)

    @classmethod
    def create(cls, path: Path) -> Self:
        """Make new keys in a new file. Raises ``KeysUnavailable`` if the file exists."""
        keys = {name: Key.fresh() for name in NAMES}
        listed = {name: private.encode_key(key) for name, key in keys.items()}
        private.create(path, {"format": FORMAT, "version": 1, **listed})
        return cls({name: {FIRST: key.material} for name, key in keys.items()})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the keys in a file.  Raises ``KeysUnavailable``, naming the next step."""
        return cls.parsed(path, private.read(path))

    @classmethod
    def parsed(cls, path: Path, content: object) -> Self:
        """Return the keys in the JSON of the file at ``path``.  Raises ``KeysUnavailable``."""
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise private.malformed(path, "is not a file of Penstock's secrets")
        version = content.get("version")
        if version not in (1, 2, VERSION):
            raise private.malformed(path, f"is of another version than {VERSION}")
        listed = {1: (), 2: (PEPPER,), 3: NAMES}[version]
        kept = {
            name: _numbered(path, name, content.get(_LISTS[name]))
            if name in listed
            else {FIRST: _key(path, name, content.get(name))}
            for name in NAMES
        }
        rows = content.get("rows") if version == VERSION else FIRST
        if type(rows) is not int or not 0 < rows <= max(kept[VALUES]):
            raise private.malformed(path, "does not say under which keys rows are signed")
        return cls(kept, rows)

    def write(self, path: Path) -> None:
        """Replace the file's content, completely or not at all; the caller holds its lock."""
        listed = {
            _LISTS[name]: {str(number): _text(key) for number, key in self.kept[name].items()}
            for name in NAMES
        }
        content = {"format": FORMAT, "version": VERSION, **listed, "rows": self.rows}
        private.replace(path, [json.dumps(content, indent=1).encode() + b"\n"])

    def __repr__(self) -> str:
        return "Secrets(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets are not serialized; load them from their file")


class SecretsFile:
    """Read secrets that others may rotate meanwhile: each use sees what the file says now."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = os.fspath(path)
        self._kept = self._read()

    @property
    def now(self) -> Secrets:
        """Return the secrets as they are in the file.  Raises ``KeysUnavailable``."""
        kept = self._kept
        if private.present_identity(self._name) == kept[0]:
            return kept[1]
        kept = self._kept = self._read()
        return kept[1]

    def renew(self, name: str) -> Secrets:
        """Add a key of a name, the newest from now on; the others are kept, retired."""
        with private.locked(self._path):
            secrets = self.now
            keys = {**secrets.kept[name], secrets.newest_of(name) + 1: Key.fresh().material}
            replace(secrets, kept={**secrets.kept, name: keys}).write(self._path)
        return self.now

    def settle_rows(self) -> Secrets:
        """Accept only rows under the newest of ``values``, since all are signed under it."""
        with private.locked(self._path):
            secrets = self.now
            if secrets.rows < secrets.newest_of(VALUES):
                replace(secrets, rows=secrets.newest_of(VALUES)).write(self._path)
        return self.now

    def drop_peppers(self) -> Secrets:
        """Forget all peppers but the newest."""
        with private.locked(self._path):
            secrets = self.now
            if len(secrets.peppers) > 1:
                peppers = {secrets.newest: secrets.peppers[secrets.newest]}
                replace(secrets, kept={**secrets.kept, PEPPER: peppers}).write(self._path)
        return self.now

    def _read(self) -> tuple[tuple[int, ...], Secrets]:
        with private.opened(self._path) as descriptor:
            identity = private.identity(descriptor)
            text = private.content(self._path, descriptor)
        return identity, Secrets.parsed(self._path, private.parsed(self._path, text))


def _numbered(path: Path, name: str, listed: Any) -> dict[int, bytes]:
    if not isinstance(listed, dict) or not listed:
        raise private.malformed(path, f"does not list its {_LISTS[name]}")
    values = {}
    for number, text in listed.items():
        if not (number.isascii() and number.isdigit() and 0 < len(number) <= _LONGEST_NUMBER):
            raise private.malformed(path, f"has a {name} without a number, {number[:32]!r}")
        values[int(number)] = _key(path, name, text)
    return dict(sorted(values.items(), reverse=True))


def _key(path: Path, name: str, text: object) -> bytes:
    return private.decode_key(path, name, text).material


def _text(key: bytes) -> str:
    return private.encode_key(Key(key))
