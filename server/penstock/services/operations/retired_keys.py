"""Drop retired keys that only backups need, when these backups are not needed any more.

Only the operator knows which backups there are.  So a retired key stays until it is dropped, and
the operator names the backups that must still open.
"""

from collections.abc import Callable, Collection
from pathlib import Path

from penstock.errors import InvalidInput
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.operations import backup_check, key_rotation
from penstock.services.operations.key_rotation import KeysView, RetiredKeyView


def droppable(
    server: Server, principal: Principal, key_names: Collection[str], kept: Collection[Path]
) -> list[RetiredKeyView]:
    """Return the retired keys among ``key_names`` (all if it is empty) that no backup needs.

    ``kept`` are the backups that must still open.  Raises ``Forbidden``, ``InvalidInput`` for a
    name that no retired key has, and what ``backup_check.needed`` raises.
    """
    principal.require("admin")
    with server.database.read() as session:
        retired_keys = key_rotation.retired(session, server.provider)
    unknown = sorted(set(key_names) - {key.key for key in retired_keys})
    if unknown:
        raise InvalidInput(
            f"{', '.join(unknown)} is not a retired key; `penstock keys status` lists them."
            " A key that is in use is retired by `penstock keys rotate`."
        )
    needed = {name for path in kept for name in backup_check.needed(path)}
    return [
        key
        for key in retired_keys
        if key.key not in needed and (not key_names or key.key in key_names)
    ]


def drop(
    server: Server,
    principal: Principal,
    retired_keys: Collection[RetiredKeyView],
    pause: Callable[[], None],
) -> KeysView:
    """Destroy retired keys; backups that need them can never be opened again.

    ``pause`` returns when every request that began before its call is complete.  Raises
    ``Forbidden`` and ``KeysUnavailable``.
    """
    principal.require("admin")
    pause()
    # Under the write lock, so that no row comes to need one of them, by an interrupted rotation.
    with server.database.write() as session:
        still = {key_view.key for key_view in key_rotation.retired(session, server.provider)}
        names = sorted(key_view.key for key_view in retired_keys if key_view.key in still)
        record(session, principal, "key", server.clock(), dropped=names)
    server.provider.drop(names)
    return key_rotation.show(server, principal)
