"""Dropping the keys that backups alone need, when these are not wanted any more.

Nobody but the operator knows which backups there are.  So a retired key stays until it is
dropped, and whoever drops names the backups that must still open.
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
    server: Server, principal: Principal, wanted: Collection[str], kept: Collection[Path]
) -> list[RetiredKeyView]:
    """The retired keys that are among ``wanted`` (all where none are), and that no backup needs.

    ``kept`` are the backups that must still open.  Raises ``Forbidden``, ``InvalidInput`` for a
    name that is of no retired key, and as ``backup_check.needed`` does.
    """
    principal.require("admin")
    with server.database.read() as session:
        retired_keys = key_rotation.retired(session, server.provider)
    unknown = sorted(set(wanted) - {key.key for key in retired_keys})
    if unknown:
        raise InvalidInput(
            f"{', '.join(unknown)} is no retired key; `penstock keys status` lists them."
            " A key that is in use is retired by `penstock keys rotate`."
        )
    needed = {name for path in kept for name in backup_check.needed(path)}
    return [
        key for key in retired_keys if key.key not in needed and (not wanted or key.key in wanted)
    ]


def drop(
    server: Server,
    principal: Principal,
    retired_keys: Collection[RetiredKeyView],
    pause: Callable[[], None],
) -> KeysView:
    """Destroy retired keys: backups that need them open never again.

    ``pause`` returns when no request is still at work that began before it was called.  Raises
    ``Forbidden`` and ``KeysUnavailable``.
    """
    principal.require("admin")
    pause()
    # Alone, so that no row comes to need one of them meanwhile, by a rotation that was cut off.
    with server.database.write() as session:
        still = {key_view.key for key_view in key_rotation.retired(session, server.provider)}
        names = sorted(key_view.key for key_view in retired_keys if key_view.key in still)
        record(session, principal, "key", server.clock(), dropped=names)
    server.provider.drop(names)
    return key_rotation.show(server, principal)
