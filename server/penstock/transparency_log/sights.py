"""Read and write the witness's record of the log, with authentication.

::

    {"format": "penstock-witness", "version": 3, "sequence": 7, "slot_size": 4096, "size": 42,
     "root": "ab...", "accounts": {"sites@1/1": [5, 7]}, "suspended_at": "", "mac": "cd..."}

``mac`` is an HMAC-SHA256 of everything else, as canonical JSON, under a key derived from a secret
in the keys' folder: neither the database nor the witness's own folder has it.

Version 2 had a file to itself, and so neither ``sequence`` nor ``slot_size``.  It is still read;
the next record that is written replaces it.

Version 1, of the schemas 0010 to 0017, had no ``mac`` and no ``suspended_at`` either, and before
schema 0012 no ``accounts``.  Only the upgrade of a database of these schemas reads it
(``FileWitness.take_over``).
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from penstock.encryption.secrets import Secrets
from penstock.nesting import shallow

FORMAT: Final = "penstock-witness"
VERSION: Final = 3

IN_A_FILE: Final = 2
"""The last version whose record had a file to itself."""

AUTHENTICATED_SINCE: Final = "0018"
"""The first schema whose witness is authenticated."""

WITNESSED_SINCE: Final = "0010"
"""The first schema that had a witness."""


@dataclass(frozen=True)
class Sight:
    """Hold the state of the log that was seen: its number of leaves, and their root.

    The root is empty without leaves.  ``accounts`` is what each account had spent, loss and failure
    in the units of the ledger: if the database is lost, this is the only record.  ``suspended_at``
    is when a database was found to lack this state, in RFC 3339; empty if none was.
    """

    size: int
    root: bytes
    accounts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    suspended_at: str = field(default="", compare=False)

    def precedes(self, other: "Sight") -> bool:
        """Return True if ``other`` saw more leaves."""
        return self.size < other.size or self.together(other) != self.accounts

    def together(self, other: "Sight") -> dict[str, tuple[int, int]]:
        """Return for each account the most that either record has as spent."""
        accounts = dict(self.accounts)
        for name, (loss, failure) in other.accounts.items():
            before = accounts.get(name, (0, 0))
            accounts[name] = (max(before[0], loss), max(before[1], failure))
        return accounts

    def joined(self, other: "Sight") -> "Sight":
        """Return the further of the two, with what either has as spent."""
        further = max(self, other, key=lambda candidate: candidate.size)
        return replace(further, accounts=self.together(other), suspended_at=self.suspended_at)


NOTHING = Sight(0, b"")


class Unauthentic(Exception):
    """Report a witness whose content cannot be trusted; its message begins with a verb."""


def keys_of(secrets: Secrets) -> tuple[bytes, ...]:
    """Return the keys of a witness's HMAC, derived from the secrets, the newest first."""
    label = b"penstock witness 1\x00"
    return tuple(hmac.digest(key, label, hashlib.sha256) for key in secrets.of_rows())


def written(sight: Sight, key: bytes, sequence: int, slot_size: int) -> bytes:
    """Return a sight as the text of its record."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "sequence": sequence,
        "slot_size": slot_size,
        "size": sight.size,
        "root": sight.root.hex(),
        "accounts": {name: list(spent) for name, spent in sight.accounts.items()},
        "suspended_at": sight.suspended_at,
    }
    return json.dumps({**content, "mac": _mac(content, key)}).encode() + b"\n"


def fields_of(text: str) -> dict[str, Any]:
    """Return the fields of a record, which nothing has authenticated yet.

    Raises several errors for other content.
    """
    content: dict[str, Any] = json.loads(shallow(text))
    if (content["format"], content["version"]) != (FORMAT, VERSION):
        raise ValueError("not a record of this version")
    return content


def authenticated(content: Mapping[str, Any], keys: Sequence[bytes]) -> Sight:
    """Return the sight of a record's fields.

    Raises ``Unauthentic``, and several errors for fields that no server wrote.
    """
    signed = {name: value for name, value in content.items() if name != "mac"}
    mac = content.get("mac")
    if not isinstance(mac, str) or not any(
        hmac.compare_digest(mac.encode(), _mac(signed, key).encode()) for key in keys
    ):
        raise Unauthentic(
            "does not authenticate: it was altered or damaged, or belongs to a home with other"
            " secrets"
        )
    return _sight(content, content["suspended_at"])


def read(text: str, keys: Sequence[bytes]) -> Sight:
    """Read a sight of version 2 from its file's text.

    Raises ``Unauthentic``, and several errors for invalid JSON.
    """
    content = json.loads(shallow(text))
    if (content["format"], content["version"]) == (FORMAT, 1):
        raise Unauthentic(
            "was written before witnesses were authenticated, and is accepted only together with"
            " a database of that time, by `penstock db upgrade`"
        )
    if (content["format"], content["version"]) == (FORMAT, VERSION):
        raise ValueError("a part of a file")
    if (content["format"], content["version"]) != (FORMAT, IN_A_FILE):
        raise Unauthentic("is of another version")
    return authenticated(content, keys)


def read_earlier(text: str) -> Sight | None:
    """Read a sight of a version without authentication; return ``None`` for another version.

    Raises one of several errors for other content.
    """
    content = json.loads(shallow(text))
    if (content["format"], content["version"]) != (FORMAT, 1):
        return None
    return _sight({"accounts": {}, **content}, "")


def _mac(content: Mapping[str, object], key: bytes) -> str:
    written = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(key, b"witness\x00" + written, hashlib.sha256).hexdigest()


def _sight(content: Mapping[str, Any], suspended_at: str) -> Sight:
    size, root = content["size"], bytes.fromhex(content["root"])
    accounts = {name: (loss, failure) for name, (loss, failure) in content["accounts"].items()}
    numbers = [size, *(number for spent in accounts.values() for number in spent)]
    if any(type(number) is not int or not 0 <= number < 2**63 for number in numbers):
        raise ValueError("not a number of leaves or of units of the ledger")
    if len(root) != (hashlib.sha256().digest_size if size else 0):
        raise ValueError("not a root")
    return Sight(size, root, accounts, suspended_at)
