"""Check that the secrets are those that a database was made with.

With other secrets every token would be refused and every fingerprint differ, as if all tokens and
files were wrong.  So the database stores an HMAC of a fixed text under each secret, which reveals
nothing of the secret.  It is stored when a home is made, or with the upgrade that added the table,
and compared whenever a server is opened.  The database has the check of every key of each secret,
by number; a secrets file that lacks the newest of these is an older copy.
"""

import hashlib
import hmac
from collections.abc import Collection, Mapping

from sqlalchemy import Connection
from sqlmodel import Session, select

from penstock.encryption.secrets import FIRST, NAMES, VALUES, Secrets
from penstock.errors import KeysUnavailable
from penstock.persistence.database import Database
from penstock.persistence.tables.secret_checks import SecretCheck

_TEXT = b"penstock secret check 1\x00"


def remember(database: Database, secrets: Secrets) -> None:
    """Store the checks of ``secrets`` if the database has none yet.

    Raises ``KeysUnavailable`` if those of other secrets are stored.
    """
    with database.write() as session:
        add(session, secrets)
    require(database, secrets)


def add(session: Session, secrets: Secrets, names: Collection[str] = NAMES) -> bool:
    """Store the missing checks of ``secrets``; return True if any was missing.

    It is a part of a transaction, and stores nothing if those of other secrets are stored.
    """
    kept = dict(session.exec(select(SecretCheck.name, SecretCheck.digest)).all())
    digests = _digests(secrets, names)
    missing = [] if other(secrets, kept) else [name for name in digests if name not in kept]
    for name in missing:
        session.add(SecretCheck(name=name, digest=digests[name]))
    return bool(missing)


def require(database: Database, secrets: Secrets) -> None:
    """Raise ``KeysUnavailable`` unless the stored checks are those of ``secrets``."""
    with database.read() as session:
        kept = dict(session.exec(select(SecretCheck.name, SecretCheck.digest)).all())
    known = {name.partition(" ")[0] for name in kept}
    if missing := sorted(set(NAMES) - known):
        raise KeysUnavailable(
            f"The database does not know its secrets ({', '.join(missing)}). Run `penstock db"
            " upgrade` with the secrets.json that it was used with."
        )
    wrong = other(secrets, kept)
    if wrong:
        raise KeysUnavailable(
            f"The secrets are not those that this database was made with ({', '.join(wrong)}"
            " differ); under them every token and every fingerprint would be refused. Put the"
            " secrets.json of this home back into the keys' folder, or name the folder that has"
            " it in PENSTOCK_KEYS_FOLDER."
        )
    signed = newest(kept, VALUES)
    if signed < secrets.rows:
        raise KeysUnavailable(
            f"The rows of this database are signed under the key {signed} of values, and since the"
            f" last rotation those of this home are under {secrets.rows}: it is an older copy, or"
            f" somebody replaced it. If you restored it yourself, run `penstock db upgrade`,"
            f" which signs it again."
        )


def other(secrets: Secrets, kept: Mapping[str, bytes]) -> list[str]:
    """Return the names of the ``secrets`` that differ from the stored checks.

    For each name the newest key that ``kept`` has must be among the secrets, retired or not.
    """
    digests = _digests(secrets, NAMES)
    names = {name: _called(name, newest(kept, name)) for name in NAMES}
    return [
        name
        for name, at in names.items()
        if at in kept and not hmac.compare_digest(kept[at], digests.get(at, b""))
    ]


def values_of(connection: Connection, secrets: Secrets) -> bytes:
    """Return the key of ``values`` that is newest for a database: it signs the database's rows.

    Raises ``KeysUnavailable`` if it is not among the secrets.
    """
    kept = dict.fromkeys(connection.execute(select(SecretCheck.name)).scalars(), b"")
    number = newest(kept, VALUES)
    value = secrets.kept[VALUES].get(number)
    if value is None:
        raise KeysUnavailable(
            f"The rows of this database are signed under the key {number} of values, and"
            f" secrets.json ends with {secrets.newest_of(VALUES)}. Copy the secrets.json that was"
            " rotated to every host."
        )
    return value


def newest(kept: Mapping[str, bytes], name: str) -> int:
    """Return the highest number that ``kept`` has for a name, or that of the first key."""
    return max(
        (_number(name_kept) for name_kept in kept if name_kept.partition(" ")[0] == name),
        default=FIRST,
    )


def _digests(secrets: Secrets, names: Collection[str]) -> dict[str, bytes]:
    keys = {
        _called(name, number): key for name in names for number, key in secrets.kept[name].items()
    }
    return {
        name: hmac.digest(key, _TEXT + name.encode(), hashlib.sha256) for name, key in keys.items()
    }


def _called(name: str, number: int) -> str:
    """Return the name of a key's check: ``pepper`` for the first, ``pepper 2`` for the next."""
    return name if number <= FIRST else f"{name} {number}"


def _number(name: str) -> int:
    """Return the number of the key that a check is named after; the first has none in its name."""
    number = name.partition(" ")[2]
    return int(number) if number.isascii() and number.isdigit() else FIRST
