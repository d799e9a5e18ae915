"""Whether the secrets are those that a database was made with.

Under other secrets every token would be refused and every fingerprint differ, as if all
tokens and files were wrong.  So the database keeps an HMAC of a fixed text under each
secret, which tells nothing of it.  It is kept when a home is made, or with the upgrade that
brought the table, and compared whenever a server is opened.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import fields

from sqlmodel import select

from penstock.encryption import Secrets
from penstock.errors import KeysUnavailable
from penstock.persistence import Database
from penstock.persistence.tables import SecretCheck

_TEXT = b"penstock secret check 1\x00"


def remember(database: Database, secrets: Secrets) -> None:
    """Keep the checks of ``secrets`` where there are none yet.

    Raises ``KeysUnavailable`` where others are kept.
    """
    with database.write() as session:
        kept = set(session.exec(select(SecretCheck.name)).all())
        for name, digest in _digests(secrets).items():
            if name not in kept:
                session.add(SecretCheck(name=name, digest=digest))
    require(database, secrets)


def require(database: Database, secrets: Secrets) -> None:
    """Raise ``KeysUnavailable`` unless ``secrets`` are those that were remembered."""
    with database.read() as session:
        kept = dict(session.exec(select(SecretCheck.name, SecretCheck.digest)).all())
    found = _digests(secrets)
    if missing := sorted(set(found) - set(kept)):
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


def other(secrets: Secrets, kept: Mapping[str, bytes]) -> list[str]:
    """The names of those of ``secrets`` that are not what ``kept`` says of them."""
    return [
        name
        for name, digest in _digests(secrets).items()
        if name in kept and not hmac.compare_digest(kept[name], digest)
    ]


def _digests(secrets: Secrets) -> dict[str, bytes]:
    return {
        field.name: hmac.digest(
            getattr(secrets, field.name), _TEXT + field.name.encode(), hashlib.sha256
        )
        for field in fields(secrets)
    }
