"""Read and write the witness's record of the log, with authentication.

::

    {"format": "penstock-witness", "version": 2, "size": 42, "root": "ab...", "mac": "cd...",
     "accounts": {"sites@1/1": [5, 7]}, "suspended_at": ""}

``mac`` is an HMAC-SHA256 of everything else, as canonical JSON, under a key derived from a secret
in the keys' folder: neither the database nor the witness's own folder has it.

Version 1, of the schemas 0010 to 0017, had no ``mac`` and no ``suspended_at``, and before schema
0012 no ``accounts``.  Only the upgrade of a database of these schemas reads it
(``FileWitness.take_over``).
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.encryption import Secrets
from penstock.nesting import shallow

FORMAT: Final = "penstock-witness"
VERSION: Final = 2

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


NOTHING = Sight(0, b"")


class Unauthentic(Exception):
    """Report a witness whose content cannot be trusted; its message begins with a verb."""


def keys_of(secrets: Secrets) -> tuple[bytes, ...]:
    """Return the keys of a witness's HMAC, derived from the secrets, the newest first."""
    label = b"penstock witness 1\x00"
    return tuple(hmac.digest(key, label, hashlib.sha256) for key in secrets.of_rows())


def written(sight: Sight, key: bytes) -> bytes:
    """Return a sight as the text of its file."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "size": sight.size,
        "root": sight.root.hex(),
        "accounts": {name: list(spent) for name, spent in sight.accounts.items()},
        "suspended_at": sight.suspended_at,
    }
    return json.dumps({**content, "mac": _mac(content, key)}).encode() + b"\n"


def read(text: str, keys: Sequence[bytes]) -> Sight:
    """Read a sight from its file's text.

    Raises ``Unauthentic``, and several errors for invalid JSON.
    """
    content = json.loads(shallow(text))
    if (content["format"], content["version"]) == (FORMAT, 1):
        raise Unauthentic(
            "was written before witnesses were authenticated, and is accepted only together with"
            " a database of that time, by `penstock db upgrade`"
        )
    if (content["format"], content["version"]) != (FORMAT, VERSION):
        raise Unauthentic("is of another version")
    mac = content.pop("mac", None)
    if not isinstance(mac, str) or not any(
        hmac.compare_digest(mac.encode(), _mac(content, key).encode()) for key in keys
    ):
        raise Unauthentic(
            "does not authenticate: it was altered or damaged, or belongs to a home with other"
            " secrets"
        )
    return _sight(content, content["suspended_at"])


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
