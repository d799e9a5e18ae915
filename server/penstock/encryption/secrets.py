"""The keys of HMACs: of tokens, of fingerprints, of released values.

They stand in a file of their own, under the rules of the key ring and never in the
database or its backups: whoever holds the database alone can neither forge a token nor
try counts against a fingerprint.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import NoReturn, Self

from penstock.encryption import private
from penstock.encryption.key import Key

FORMAT = "penstock-secrets"
VERSION = 1


@dataclass(frozen=True, repr=False)
class Secrets:
    """Three keys of 32 bytes.

    ``pepper`` for the digests of tokens, ``fingerprint`` for those of sources and exact
    answers, ``values`` for those of released values in the log.
    """

    pepper: bytes
    fingerprint: bytes
    values: bytes

    @classmethod
    def create(cls, path: Path) -> Self:
        """New keys in a new file.  Raises ``KeysUnavailable`` where one stands already."""
        keys = {field.name: Key.fresh() for field in fields(cls)}
        listed = {name: private.encode_key(key) for name, key in keys.items()}
        private.create(path, {"format": FORMAT, "version": VERSION, **listed})
        return cls(**{name: key.material for name, key in keys.items()})

    @classmethod
    def load(cls, path: Path) -> Self:
        """The keys in a file.  Raises ``KeysUnavailable``, naming the next step."""
        content = private.read(path)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise private.malformed(path, "is not a file of Penstock's secrets")
        if content.get("version") != VERSION:
            raise private.malformed(path, f"is of another version than {VERSION}")
        names = [field.name for field in fields(cls)]
        return cls(*(private.decode_key(path, name, content.get(name)).material for name in names))

    def __repr__(self) -> str:
        return "Secrets(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets are not serialized; load them from their file")
