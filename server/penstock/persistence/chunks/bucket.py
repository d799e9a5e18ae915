"""Keep chunks in a bucket of S3, GCS, Azure or another store that ``obstore`` reaches.

Each chunk is put only if it is absent.  A bucket has no locks: an attempt counts as being written
for a day from its beginning, which is longer than any drawing takes.
"""

import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.errors import Unavailable
from penstock.persistence.chunks.store import ATTEMPT, ChunkMissing, Content

DAY = timedelta(days=1)
PATIENCE = timedelta(seconds=30)
"""How long the store may take for an object, and how long it is asked again."""

_RETRIES = 2
_CONNECT = timedelta(seconds=5)
_PLAIN = ("AWS_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP")
_STATUS = re.compile(r"status code ?:? ?([1-5][0-9]{2})\b")
_BEGUN, _KEPT = "begun", "kept"


def bucket_store(url: str) -> "BucketStore":
    """Return the store at a URL such as ``s3://bucket/prefix``; credentials are the environment's.

    Raises ``Unavailable`` without ``obstore``, and for a URL that it does not know.
    """
    if importlib.util.find_spec("obstore") is None:
        raise Unavailable(
            "Chunks in a bucket need the package obstore: run `pip install 'penstock[storage]'`, or"
            " name a folder in PENSTOCK_CHUNKS_FOLDER."
        )
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    try:
        # Of the environment ``obstore`` reads everything else by itself.
        plain = any(os.environ.get(name, "").lower() in {"true", "1"} for name in _PLAIN)
        client: Any = {"connect_timeout": _CONNECT, "timeout": PATIENCE, "allow_http": plain}
        retries: Any = {"max_retries": _RETRIES, "retry_timeout": PATIENCE}
        opened = from_url(url, client_options=client, retry_config=retries)
        return BucketStore(url, opened)
    except (BaseError, ValueError) as problem:
        raise Unavailable(
            f"PENSTOCK_CHUNKS_FOLDER names {url}, which is no bucket that can be used; write"
            " s3://BUCKET/PREFIX, gs:// or az://."
        ) from problem


@dataclass(frozen=True)
class BucketWriting:
    """Write an attempt into a bucket."""

    bucket: "BucketStore"
    attempt: str

    def put(self, index: int, content: Content) -> None:
        """Store a chunk; the bucket answers when it is durable."""
        self.bucket.put(f"{self.attempt}/{index:08d}", content)

    def settle(self) -> None:
        """Do nothing: what a bucket has confirmed is durable."""

    def keep(self) -> None:
        """Note that the database names the attempt."""
        self.bucket.mark(self.attempt)

    def close(self) -> None:
        """Do nothing: an attempt that is not kept is abandoned after a day."""


@dataclass(frozen=True)
class BucketStore:
    """Keep chunks at ``place``, through a store of ``obstore``.

    ``kept`` has the attempts that were seen to be kept, which they are for ever: each is looked at
    once, and not before every draw.
    """

    place: str
    store: Any
    kept: set[str] = field(default_factory=set, compare=False, repr=False)

    def require_room(self, size: int) -> None:
        """Do nothing: a bucket has no end that could be measured."""

    def begin(self, attempt: str) -> BucketWriting:
        """Begin an attempt."""
        self.put(f"{attempt}/{_BEGUN}", b"begun")
        return BucketWriting(self, attempt)

    def joined(self, attempt: str) -> BucketWriting:
        """Write chunks of an attempt that another process began."""
        return BucketWriting(self, attempt)

    def put(self, name: str, content: Content) -> None:
        """Store an object unless there is one of this name."""
        with self._reported(name):
            self.store.put(name, bytes(content), mode="create")

    def read(self, attempt: str, index: int, room: memoryview | None = None) -> Content:  # noqa: ARG002 - the protocol passes it
        """Return a chunk, in memory of its own."""
        name = f"{attempt}/{index:08d}"
        with self._reported(name):
            try:
                return bytes(self.store.get(name).bytes())
            except FileNotFoundError as problem:
                raise ChunkMissing(f"{self.place}/{name} is missing") from problem

    def attempts(self) -> Iterator[str]:
        """Yield every attempt."""
        with self._reported(""):
            prefixes = self.store.list_with_delimiter()["common_prefixes"]
        names = sorted(str(prefix).rstrip("/").rpartition("/")[2] for prefix in prefixes)
        yield from (name for name in names if ATTEMPT.fullmatch(name))

    def chunks(self, attempt: str) -> Iterator[int]:
        """Yield the numbers of an attempt's chunks, ascending."""
        names = self._listed(attempt)
        yield from sorted(int(name) for name in names if name.isdecimal())

    def abandoned(self) -> Iterator[str]:
        """Yield the attempts that were not kept."""
        for attempt in self.attempts():
            if attempt in self.kept:
                continue
            if _KEPT in self._listed(attempt):
                self.kept.add(attempt)
            else:
                yield attempt

    @contextmanager
    def claimed(self, attempt: str) -> Iterator[bool]:
        """Yield True if an attempt began so long ago that nobody can be writing it."""
        begun = self._listed(attempt).get(_BEGUN)
        yield begun is None or begun < datetime.now(UTC) - DAY

    def mark(self, attempt: str) -> None:
        """Note that the database names an attempt."""
        with self._reported(attempt):
            self.store.put(f"{attempt}/{_KEPT}", b"kept")

    def remove(self, attempt: str) -> None:
        """Remove all objects of an attempt."""
        names = [f"{attempt}/{name}" for name in self._listed(attempt)]
        with self._reported(attempt):
            if names:
                self.store.delete(names)

    def _listed(self, attempt: str) -> dict[str, datetime]:
        """Return the last parts of the names of an attempt's objects, and when each was put."""
        with self._reported(attempt):
            batches = list(self.store.list(prefix=f"{attempt}/"))
        return {
            str(entry["path"]).rpartition("/")[2]: entry["last_modified"]
            for batch in batches
            for entry in batch
        }

    @contextmanager
    def _reported(self, name: str) -> Iterator[None]:
        """Raise ``Unavailable`` with what the bucket said."""
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as problem:
            raise Unavailable(
                f"The bucket of the chunks of long vectors cannot be used: the store"
                f" {_reason(problem)}. Nothing was released. Ask the operator to look at"
                " PENSTOCK_CHUNKS_FOLDER, the bucket and its credentials; the server's log has the"
                " path.",
                path=f"{self.place}/{name}",
            ) from None


def _reason(problem: Exception) -> str:
    """Say what a store did; what it wrote itself may have a signed address in it."""
    match = _STATUS.search(str(problem))
    status = match[1] if match else None
    kind = type(problem).__name__
    if kind in {"PermissionDeniedError", "UnauthenticatedError"} or status in {"401", "403"}:
        return f"refuses the credentials{f' ({status})' if status else ''}"
    if kind in {"AlreadyExistsError", "FileExistsError"}:
        return "has an object of this name already"
    if kind in {"FileNotFoundError", "NotFoundError"}:
        return "has no such bucket"
    return f"answers with the status {status}" if status else "does not answer in time"
