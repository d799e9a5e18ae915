"""Choose the place for chunks by the text of a setting."""

from collections.abc import Callable
from pathlib import Path

from penstock.persistence.chunks.folder import FolderStore
from penstock.persistence.chunks.store import ChunkStore


def chunk_store(setting: str, home: Path, reserve: Callable[[], int] = lambda: 0) -> ChunkStore:
    """Return the place that a setting names: a folder, or a bucket by its URL; ``home/chunks``.

    ``reserve`` returns the bytes of a disk that are left alone.  Nothing is touched before a chunk
    is.  Raises ``Unavailable`` for a bucket without the package that reads it.
    """
    if "://" in setting:
        # Imported late: most servers have none.
        from penstock.persistence.chunks.bucket import bucket_store

        return bucket_store(setting)
    return FolderStore(Path(setting) if setting else home / "chunks", reserve)
