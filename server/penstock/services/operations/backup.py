"""Copy the database for ``penstock backup``, without what must be stored apart from it."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from penstock.encryption.secrets import Secrets
from penstock.errors import Conflict
from penstock.persistence.backups import copy
from penstock.services.operations import backup_check, chunk_copies
from penstock.services.operations.backup_check import BackupCheckView
from penstock.services.operations.home import SECRETS, provider, require
from penstock.settings import Settings

STAMP = "last-backup"
"""The empty file in the home that is as old as the last backup."""


@dataclass(frozen=True)
class BackupView:
    """Hold a copy that was made, its manifest, and the folders that are not in it.

    ``chunks`` is the folder beside it with the chunks of long vectors; None if there are none.
    """

    path: str
    kind: str
    schema: str
    bytes: int
    manifest: str
    keys: str
    witness: str
    chunks: str | None = None


def create(settings: Settings, path: Path) -> BackupView:
    """Copy the database of a home into ``path``; the server may be running.

    The chunks of long vectors are copied into a folder beside it.  A manifest of the chunks, and of
    the keys that it needs, is written beside it.  Neither keys nor witness are copied,
    nor the files of exports.  Raises ``Unavailable`` if there is no home, ``Conflict`` for a file
    that exists or is in the folder of the keys, and what ``persistence.backups.copy.back_up`` and
    ``backup_check.write`` raise.
    """
    require(settings)
    place = path.absolute()
    keys, witness = settings.keys_path.resolve(), settings.witness_path.resolve()
    if place.parent.resolve() in (keys, witness):
        raise Conflict(
            "A backup must not be in the folder of the keys or the witness: anybody who takes"
            " that folder would have all of it. Name a file elsewhere."
        )
    secrets = Secrets.load(settings.keys_path / SECRETS)
    chunk_copies.require_none(place)
    made = copy.back_up(settings.resolved_migration_url, place)
    chunks = chunk_copies.copy(chunk_copies.source(settings), place)
    manifest = backup_check.write(secrets, place, chunks)
    _note(settings)
    return BackupView(
        path=str(made.path),
        kind=made.kind,
        schema=made.schema,
        bytes=made.size,
        manifest=str(manifest),
        keys=str(keys),
        witness=str(witness),
        chunks=str(chunk_copies.folder_of(place)) if chunks else None,
    )


def last(settings: Settings) -> datetime | None:
    """Return when the last backup of this home was made; None if none is known.

    Copies that are made otherwise, or from another home, are not known.
    """
    try:
        return datetime.fromtimestamp(_stamp(settings).stat().st_mtime, UTC)
    except OSError:
        return None


def _note(settings: Settings) -> None:
    """Note that a backup was made; its manifest is what counts, so it may fail."""
    with suppress(OSError):
        _stamp(settings).touch()


def _stamp(settings: Settings) -> Path:
    return settings.home / STAMP


def check(settings: Settings, path: Path) -> BackupCheckView:
    """Check that today's keys open a backup, without a database.

    Raises as ``backup_check.check`` does, and ``Unavailable`` if there is no home.
    """
    require(settings)
    secrets = Secrets.load(settings.keys_path / SECRETS)
    return backup_check.check(provider(settings), secrets, path)
