"""Rotate the secrets ``fingerprint`` and ``values`` while the server runs.

Nothing under ``fingerprint`` is digested again: files would have to be read, and exact answers are
stored nowhere.  Old digests are compared under the key that they were made with, and new ones are
made with the newest.

Rows and the witness are signed again under the newest key of ``values``.  Until that is complete
the secrets file accepts both keys; then it names the newest, and rows that are written under an
earlier one are not accepted.  Leaves of the log are never changed: values in them are compared
under the key that they were written with, so no key of either name is ever dropped.  After an
interruption at any step, rotating again completes the rotation.
"""

from dataclasses import dataclass

from penstock.encryption.secrets import FINGERPRINT, VALUES
from penstock.persistence import row_authentication_upgrade
from penstock.persistence.row_authentication import derived, signed_tables
from penstock.services import witnesses
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.operations import secret_checks, secret_renewal


@dataclass(frozen=True)
class DigestKeysView:
    """Hold the number of a secret's newest key, and how many retired keys are stored."""

    name: str
    newest: int
    retired: int


def rotate_fingerprint(server: Server, principal: Principal) -> DigestKeysView:
    """Make a new key of fingerprints, as ``secret_renewal.renew`` does.

    Raises ``Forbidden`` and ``KeysUnavailable``.
    """
    principal.require("admin")
    secret_renewal.renew(server, principal, FINGERPRINT)
    return _view(server, FINGERPRINT)


def rotate_values(server: Server, principal: Principal) -> DigestKeysView:
    """Make a new key of rows and released values, and sign all rows and the witness with it.

    Others may read and write in the meantime.  Rows that do not authenticate stay refused.  Raises
    ``Forbidden`` and ``KeysUnavailable``.
    """
    principal.require("admin")
    with server.database.write():
        # Under the write lock: two rotations at once make one key, an unfinished one is resumed.
        secrets = server.stored.now
        if secrets.rows == secrets.newest_of(VALUES):
            secrets = server.stored.renew(VALUES)
    *earlier, newest = [derived(key) for key in reversed(secrets.of_rows())]
    for name in signed_tables():
        _sign_anew(server, earlier, newest, name)
    witnesses.of(server.settings, lambda: server.stored.now).renew()
    with server.database.write() as session:
        secret_checks.add(session, secrets, (VALUES,))
        number = secrets.newest_of(VALUES)
        record(session, principal, "key", server.clock(), secret=VALUES, number=number)
    # Last: until here rows under either key are accepted.
    server.stored.settle_rows()
    return _view(server, VALUES)


def _sign_anew(server: Server, earlier: list[bytes], newest: bytes, table: str) -> None:
    """Sign the rows of a table under the newest key, in batches, so that nobody waits long."""
    after: int | None = 0
    while after is not None:
        with server.database.write() as session:
            after = row_authentication_upgrade.sign_next(
                session.connection(), earlier, newest, table, after
            )


def _view(server: Server, name: str) -> DigestKeysView:
    secrets = server.stored.now
    return DigestKeysView(name, secrets.newest_of(name), len(secrets.kept[name]) - 1)
