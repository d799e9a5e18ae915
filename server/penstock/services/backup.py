"""``penstock backup``: a copy of the database, and what must be kept apart from it."""

from dataclasses import dataclass
from pathlib import Path

from penstock.errors import Conflict
from penstock.persistence import backup
from penstock.services.home import require
from penstock.settings import Settings


@dataclass(frozen=True)
class BackupView:
    """A copy that was made, and the folders that are not in it."""

    path: str
    kind: str
    schema: str
    bytes: int
    keys: str
    witness: str


def create(settings: Settings, path: Path) -> BackupView:
    """Copy the database of a home into ``path``, while it may be served.

    Neither keys nor witness are copied, nor the files of exports.  Raises ``Unavailable``
    where there is no home, ``Conflict`` for a file that exists or lies with the keys, and what
    ``persistence.backup.back_up`` raises.
    """
    require(settings)
    place = path.absolute()
    keys, witness = settings.keys_path.resolve(), settings.witness_path.resolve()
    if place.parent.resolve() in (keys, witness):
        raise Conflict(
            "A backup does not belong with the keys or the witness: whoever takes that folder"
            " would have all of it. Name a file elsewhere."
        )
    made = backup.back_up(settings.resolved_migration_url, place)
    return BackupView(
        path=str(made.path),
        kind=made.kind,
        schema=made.schema,
        bytes=made.size,
        keys=str(keys),
        witness=str(witness),
    )
