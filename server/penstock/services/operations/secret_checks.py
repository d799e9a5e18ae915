"""Whether the secrets are those that a database was made with.

Under other secrets every token would be refused and every fingerprint differ, as if all
tokens and files were wrong.  So the database keeps an HMAC of a fixed text under each
secret, which tells nothing of it.  It is kept when a home is made, or with the upgrade that
brought the table, and compared whenever a server is opened.  Of each it knows all that there
were, by number; a file that lacks the newest of these is one from before it.
"""

import hashlib
import hmac
from collections.abc import Collection, Mapping

from sqlalchemy import Connection
from sqlmodel import Session, select

from penstock.encryption import Secrets
from penstock.encryption.secrets import FIRST, NAMES, VALUES
from penstock.errors import KeysUnavailable
from penstock.persistence import Database
from penstock.persistence.tables import SecretCheck

_TEXT = b"penstock secret check 1\x00"


def remember(database: Database, secrets: Secrets) -> None:
    """Keep the checks of ``secrets`` where there are none yet.

    Raises ``KeysUnavailable`` where others are kept.
    """
    with database.write() as session:
        add(session, secrets)
    require(database, secrets)


def add(session: Session, secrets: Secrets, names: Collection[str] = NAMES) -> bool:
    """Keep what is not kept of those of ``secrets``, in a transaction; whether anything was not.

    Nothing where others are kept.
    """
    kept = dict(session.exec(select(SecretCheck.name, SecretCheck.digest)).all())
    digests = _digests(secrets, names)
    missing = [] if other(secrets, kept) else [name for name in digests if name not in kept]
    for name in missing:
        session.add(SecretCheck(name=name, digest=digests[name]))
    return bool(missing)


def require(database: Database, secrets: Secrets) -> None:
    """Raise ``KeysUnavailable`` unless ``secrets`` are those that were remembered."""
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
            f" last rotation those of this home are under {secrets.rows}: it is from before that,"
            " or was put there by somebody. If you restored it yourself, run `penstock db"
            " upgrade`, which signs it anew."
        )


def other(secrets: Secrets, kept: Mapping[str, bytes]) -> list[str]:
    """The names of those of ``secrets`` that are not what ``kept`` says of them.

    Of each, the newest that ``kept`` knows must be among them, retired or not.
    """
    digests = _digests(secrets, NAMES)
    wanted = {name: _called(name, newest(kept, name)) for name in NAMES}
    return [
        name
        for name, at in wanted.items()
        if at in kept and not hmac.compare_digest(kept[at], digests.get(at, b""))
    ]


def values_of(connection: Connection, secrets: Secrets) -> bytes:
    """The key of ``values`` that a database knows as its newest: its rows are signed under it.

    Raises ``KeysUnavailable`` where it is not among the secrets.
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
    """The highest number of a name that ``kept`` knows, or that of the first."""
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
    """What the check of a key is called: ``pepper`` of the first, ``pepper 2`` of the next."""
    return name if number <= FIRST else f"{name} {number}"


def _number(name: str) -> int:
    """The number of the key whose check has a name; the first one's has none."""
    number = name.partition(" ")[2]
    return int(number) if number.isascii() and number.isdigit() else FIRST
