"""Replacing ``fingerprint`` and ``values`` while the server runs.

Of ``fingerprint`` nothing is digested anew: files would have to be read, and exact answers are kept
nowhere.  What was known is compared under the key of its day, and what is new is under the newest.

Rows and the witness are signed anew under the newest of ``values``.  Until that is done the file
of the secrets lets both keys pass; then it names the newest, and whoever has an earlier one writes
no row that is believed.  Leaves of the log are never changed: values in them are compared
under the key of their day, so that no key of either name is ever dropped.  Cut off at any step,
rotating again finishes what was begun.
"""

from dataclasses import dataclass

from penstock.encryption.secrets import FINGERPRINT, VALUES
from penstock.persistence import row_authentication_upgrade
from penstock.persistence.row_authentication import SIGNED, derived
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.operations import secret_checks
from penstock.transparency_log import sights
from penstock.transparency_log.witness import FileWitness


@dataclass(frozen=True)
class DigestKeysView:
    """The newest key of a name by its number, and how many retired ones are kept."""

    name: str
    newest: int
    retired: int


def rotate_fingerprint(server: Server, principal: Principal) -> DigestKeysView:
    """Make a new key of fingerprints, and keep the ones before.

    Where the newest is not in the database yet, by an interruption or after a restore, that is
    made up for and no other one made.  Raises ``Forbidden`` and ``KeysUnavailable``.
    """
    principal.require("admin")
    with server.database.write() as session:
        if not secret_checks.add(session, server.stored.now, (FINGERPRINT,)):
            secret_checks.add(session, server.stored.renew(FINGERPRINT), (FINGERPRINT,))
        number = server.stored.now.newest_of(FINGERPRINT)
        record(session, principal, "key", server.clock(), secret=FINGERPRINT, number=number)
    return _view(server, FINGERPRINT)


def rotate_values(server: Server, principal: Principal) -> DigestKeysView:
    """Make a new key of rows and released values, and sign every row and the witness under it.

    Others read and write meanwhile.  Rows that do not authenticate stay refused.  Raises
    ``Forbidden`` and ``KeysUnavailable``.
    """
    principal.require("admin")
    with server.database.write():
        # Alone, so that two rotations at once make one key; unfinished, it is not made again.
        secrets = server.stored.now
        if secrets.rows == secrets.newest_of(VALUES):
            secrets = server.stored.renew(VALUES)
    *earlier, newest = [derived(key) for key in reversed(secrets.of_rows())]
    for kind in SIGNED:
        _sign_anew(server, earlier, newest, str(kind.__tablename__))
    settings = server.settings
    FileWitness(
        settings.witness_path, settings.log_patience, lambda: sights.keys_of(server.stored.now)
    ).renew()
    with server.database.write() as session:
        secret_checks.add(session, secrets, (VALUES,))
        number = secrets.newest_of(VALUES)
        record(session, principal, "key", server.clock(), secret=VALUES, number=number)
    # Last: until here rows under either are believed.
    server.stored.settle_rows()
    return _view(server, VALUES)


def _sign_anew(server: Server, earlier: list[bytes], newest: bytes, table: str) -> None:
    """Sign the rows of a table under the newest key, some at a time: nobody waits for all."""
    after: int | None = 0
    while after is not None:
        with server.database.write() as session:
            after = row_authentication_upgrade.sign_next(
                session.connection(), earlier, newest, table, after
            )


def _view(server: Server, name: str) -> DigestKeysView:
    secrets = server.stored.now
    return DigestKeysView(name, secrets.newest_of(name), len(secrets.kept[name]) - 1)
