"""Copy the chunks of long vectors beside a backup of the database, and check such a copy.

They are copied after the database: every attempt that the copied rows name was complete by then,
and chunks never change.  What is copied besides, of attempts that began later, nothing can read.
"""

import hashlib
from pathlib import Path

from penstock.errors import Conflict
from penstock.persistence.chunks.choice import chunk_store
from penstock.persistence.chunks.folder import FolderStore
from penstock.persistence.chunks.store import ChunkMissing, ChunkStore
from penstock.settings import Settings

SUFFIX = ".chunks"
"""The suffix of the folder's name, after the backup's."""


def source(settings: Settings) -> ChunkStore:
    """Return where the chunks of a home are."""
    return chunk_store(settings.chunks_folder, settings.home)


def folder_of(path: Path) -> Path:
    """Return the folder of the chunks of a backup."""
    return path.with_name(path.name + SUFFIX)


def require_none(path: Path) -> None:
    """Raise ``Conflict`` if there are chunks beside the file that a backup is to be written to."""
    if folder_of(path).exists():
        raise Conflict(
            f"{folder_of(path)} exists already, from another backup. Nothing was copied; name"
            " another file."
        )


def copy(store: ChunkStore, path: Path) -> list[list[str]]:
    """Copy all chunks beside the backup ``path``; return the name and SHA-256 of each.

    Nothing is made if there are none.  Raises ``Unavailable``.
    """
    target = FolderStore(folder_of(path), lambda: 0)
    copied: list[list[str]] = []
    for attempt in store.attempts():
        writing = target.begin(attempt)
        try:
            for index in store.chunks(attempt):
                content = store.read(attempt, index)
                writing.put(index, content)
                copied.append([_name(attempt, index), hashlib.sha256(content).hexdigest()])
        except ChunkMissing:
            continue  # removed meanwhile, by a sweep or with its dataset
        finally:
            writing.settle()
            writing.keep()
            writing.close()
    return copied


def problem(path: Path, listed: object) -> str | None:
    """Return what is wrong with the chunks of a backup, whose manifest has ``listed`` them."""
    if not isinstance(listed, list) or not listed:
        return None
    target = FolderStore(folder_of(path), lambda: 0)
    wrong = [name for name, digest in listed if _digest(target, name) != digest]
    if not wrong:
        return None
    return (
        f"{len(wrong):,} of {len(listed):,} chunks in {target.place} are missing or altered, the"
        f" first is {wrong[0]}"
    )


def _digest(target: FolderStore, name: str) -> str | None:
    attempt, _, number = name.partition("/")
    try:
        return hashlib.sha256(target.read(attempt, int(number))).hexdigest()
    except ChunkMissing:
        return None


def _name(attempt: str, index: int) -> str:
    return f"{attempt}/{index:08d}"
