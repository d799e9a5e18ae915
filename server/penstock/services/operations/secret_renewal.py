"""Make a new key of a secret, for every rotation."""

from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.operations import secret_checks


def renew(server: Server, principal: Principal, name: str) -> None:
    """Make a new key of a secret, and log it; the earlier keys are kept.

    If the newest key is not in the database yet, after an interruption or a restore, it is added
    there and no further key is made.  Raises ``KeysUnavailable``.
    """
    # One transaction under the write lock: nothing is digested between the file and the log.
    with server.database.write() as session:
        if not secret_checks.add(session, server.stored.now, (name,)):
            secret_checks.add(session, server.stored.renew(name), (name,))
        number = server.stored.now.newest_of(name)
        record(session, principal, "key", server.clock(), secret=name, number=number)
