"""Write the log to a second place, which stores its leaves before requests are answered.

Each line is JSON with sorted keys: for a leaf its ``hash``, its ``index`` and its exact bytes as
``leaf``, for a checkpoint its ``note``, ``root`` and ``size``.  A checkpoint follows the leaves
that it is the first to cover here, so its line states that all before it were stored.
"""

import fcntl
import json
import os
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from penstock.errors import LogUnavailable
from penstock.transparency_log.merkle.tree import leaf_hash

_NAP: Final = 0.002
"""Seconds between two tries to lock a file."""

_BLOCK: Final = 1 << 16
"""Bytes per read, from the end of a file backward."""

_LEAF: Final = b'{"hash":"'
_CHECKPOINT: Final = b'{"note":"'
"""Prefixes of the lines of leaves and of checkpoints."""


@dataclass(frozen=True)
class Reached:
    """Hold the size of the log in a sink, and the root of that many leaves."""

    size: int
    root: bytes


NOWHERE: Final = Reached(0, b"")


class Taking(Protocol):
    """Write to a sink that is open; every method raises ``LogUnavailable``."""

    def reached(self) -> Reached | None:
        """Return the part of the log that it has, by its own record; ``None`` without a record."""

    def hashes(self) -> Collection[bytes] | None:
        """Return the hashes of all leaves that it has; ``None`` if it has no record."""

    def take(self, lines: Iterable[bytes]) -> None:
        """Store lines, given without their line ends, durably."""


class Sink(Protocol):
    """Represent a second place for the log, besides the database."""

    def opened(self) -> AbstractContextManager[Taking]:
        """Open it for writing, exclusively if it can.  Raises ``LogUnavailable``."""

    def health(self) -> str:
        """Return its state in words, without writing.  Raises ``LogUnavailable``."""


def leaf_line(index: int, digest: bytes, content: bytes) -> bytes:
    """Return the line of a leaf, with its bytes as text."""
    return _line(hash=digest.hex(), index=index, leaf=content.decode())


def checkpoint_line(size: int, root: bytes, note: str) -> bytes:
    """Return the line of a checkpoint."""
    return _line(note=note, root=root.hex(), size=size)


def _line(**fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


class FileSink:
    """Hold a ``Sink`` in a file that only grows, line by line.

    Lines after its last checkpoint were not stored completely, and are rewritten.  ``patience`` is
    how many seconds it waits for others that write to it.
    """

    def __init__(self, path: Path, patience: float) -> None:
        self.path = path
        self._patience = patience

    @contextmanager
    def opened(self) -> Iterator[Taking]:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._refused(error) from error
        try:
            # Closing writes the rest of the buffer, and can fail as writing does.
            with os.fdopen(descriptor, "r+b") as file:
                self._lock(file)
                yield _OpenFile(self.path, file)
        except OSError as error:
            raise self._refused(error) from error

    def health(self) -> str:
        try:
            with self.path.open("r+b") as file:
                size = _OpenFile(self.path, file).reached().size
        except FileNotFoundError:
            if not os.access(self.path.parent, os.W_OK | os.X_OK):
                raise unavailable(str(self.path), "is in a folder that cannot be used") from None
            return "not begun yet"
        except OSError as error:
            raise self._refused(error) from error
        return f"has {size} leaves of the log"

    def kept(self) -> tuple[dict[int, bytes], int]:
        """Return the recomputed hash of each leaf by its place, and the number of leaves.

        For a restored log, the hash is that of the leaf stored last; leaves of an earlier, longer
        log are left out.
        """
        leaves_kept: dict[int, bytes] = {}
        size = 0
        try:
            with self.path.open("rb") as file:
                for line in file:
                    entry = json.loads(line)
                    if line.startswith(_CHECKPOINT):
                        size = int(entry["size"])
                    else:
                        leaves_kept[int(entry["index"])] = leaf_hash(entry["leaf"].encode())
        except FileNotFoundError:
            return {}, 0
        except OSError as error:
            raise self._refused(error) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise unavailable(str(self.path), "holds lines that are not the server's") from error
        return {place: digest for place, digest in leaves_kept.items() if place < size}, size

    def _lock(self, file: BinaryIO) -> None:
        until = time.monotonic() + self._patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise unavailable(str(self.path), "is kept locked") from None
                time.sleep(_NAP)
            else:
                return

    def _refused(self, error: OSError) -> LogUnavailable:
        return unavailable(str(self.path), f"refuses ({os.strerror(error.errno or 0)})")


class _OpenFile:
    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def reached(self) -> Reached:
        _, line = last_checkpoint(self._file)
        if not line:
            self._require_begun()
            return NOWHERE
        try:
            entry = json.loads(line)
            return Reached(int(entry["size"]), bytes.fromhex(entry["root"]))
        except (ValueError, KeyError, TypeError) as error:
            problem = "ends with a checkpoint that the server did not write"
            raise unavailable(str(self._path), problem) from error

    def _require_begun(self) -> None:
        """Refuse a file without a checkpoint, unless it begins with a leaf."""
        self._file.seek(0)
        head = self._file.read(len(_LEAF))
        if not _LEAF.startswith(head):
            raise unavailable(str(self._path), "holds something other than a log")

    def hashes(self) -> Collection[bytes]:
        self._file.seek(0)
        start, end = len(_LEAF), len(_LEAF) + 64
        texts = (line[start:end] for line in self._file if line.startswith(_LEAF))
        try:
            return {bytes.fromhex(text.decode()) for text in texts}
        except ValueError as error:
            raise unavailable(str(self._path), "holds lines that are not the server's") from error

    def take(self, lines: Iterable[bytes]) -> None:
        end, _ = last_checkpoint(self._file)
        self._file.truncate(end)
        self._file.seek(end)
        self._file.writelines(line + b"\n" for line in lines)
        self._file.flush()
        os.fsync(self._file.fileno())
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def last_checkpoint(file: BinaryIO) -> tuple[int, bytes]:
    """Return the end of a file's last complete checkpoint line, and the line; 0 for none."""
    position, tail = file.seek(0, os.SEEK_END), b""
    while position > 0:
        start = max(0, position - _BLOCK)
        file.seek(start)
        tail = file.read(position - start) + tail
        position = start
        # The text after the last line end is not a complete line, and the first piece may be the
        # rest of a line that begins earlier.
        pieces = tail.split(b"\n")
        for place in range(len(pieces) - 2, 0 if position else -1, -1):
            if pieces[place].startswith(_CHECKPOINT):
                end = position + sum(len(piece) + 1 for piece in pieces[: place + 1])
                return end, pieces[place]
        tail = pieces[0] + b"\n" if len(pieces) > 1 else tail
    return 0, b""


def unavailable(where: str, what: str) -> LogUnavailable:
    """Return the error for a sink."""
    return LogUnavailable(
        f"The log's second place {where} {what}, so nothing new is answered. Repair it, or"
        f" change PENSTOCK_LOG_SINK; what was done is stored, and a repeated request is"
        f" answered.",
        path=where,
        reason=what,
    )
