"""Keep chunks in a folder: one folder for each attempt, one file for each chunk.

No file is ever replaced: its attempt's name is new, and the database names the attempt only after
``settle``.  Whoever writes an attempt holds a lock on it, which ends with the process.
"""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import NoRoom, Unavailable
from penstock.persistence.chunks import direct
from penstock.persistence.chunks.store import ATTEMPT, ChunkMissing, Content

_CHUNK = re.compile("[0-9]{8}")
_LOCK, _KEPT = "lock", "kept"
_MEBIBYTE = 1 << 20
_DAY = 86_400


@dataclass
class FolderWriting:
    """Write an attempt into its folder, under its lock."""

    folder: Path
    lock: int

    def put(self, index: int, content: Content) -> None:
        """Store a chunk durably."""
        path = self.folder / _name(index)
        with _reported(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                direct.write(descriptor, content)
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)

    def settle(self) -> None:
        """Return when the names of all chunks outlast a loss of power, as their content does."""
        with _reported(self.folder):
            _sync(self.folder)
            _sync(self.folder.parent)

    def keep(self) -> None:
        """Note that the database names the attempt."""
        with _reported(self.folder):
            (self.folder / _KEPT).touch(0o600)

    def close(self) -> None:
        """Release the lock."""
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True)
class FolderStore:
    """Keep chunks in ``folder``, whose disk keeps ``reserve()`` bytes free.

    ``kept`` are attempts that were marked as kept, which is forever: each is looked at once, and
    not before every draw.
    """

    folder: Path
    reserve: Callable[[], int]
    kept: set[str] = field(default_factory=set, compare=False, repr=False)

    @property
    def place(self) -> str:
        """Return the folder as people read it."""
        return str(self.folder)

    def require_room(self, size: int) -> None:
        """Raise ``NoRoom`` unless the disk has room for ``size`` bytes."""
        kept, known = self.reserve(), self.folder
        while not known.exists() and known != known.parent:
            known = known.parent
        try:
            space = os.statvfs(known)
        except OSError:
            return  # writing reports the problem
        left = space.f_bavail * space.f_frsize
        if left - size < kept:
            raise NoRoom(
                f"The chunks of this vector take {-(-size // _MEBIBYTE):,} MiB, and the disk of the"
                f" chunks has {left // _MEBIBYTE:,}, of which {kept // _MEBIBYTE:,} are kept free;"
                " nothing was drawn. Ask the operator to make room there.",
                path=str(self.folder),
            )

    def begin(self, attempt: str) -> FolderWriting:
        """Make the folder of an attempt, and lock it."""
        folder, before = self.folder / attempt, self.folder / f".{attempt}"
        with _reported(folder):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._forget_beginnings()
            before.mkdir(mode=0o700)
            lock = _lock_file(before)
            fcntl.flock(lock, fcntl.LOCK_EX)
            # It has its name only when it is locked: nobody takes it for abandoned.
            before.rename(folder)
        return FolderWriting(folder, lock)

    def joined(self, attempt: str) -> FolderWriting:
        """Write chunks of an attempt whose lock another process holds."""
        return FolderWriting(self.folder / attempt, -1)

    def _forget_beginnings(self) -> None:
        """Remove what a process left that died between the two names of its attempt."""
        for name in _names(self.folder):
            if not (name.startswith(".") and ATTEMPT.fullmatch(name[1:])):
                continue
            path = self.folder / name
            with suppress(FileNotFoundError):
                # No lock tells it from one that begins just now, and that takes no day.
                if path.stat().st_mtime < time.time() - _DAY:
                    shutil.rmtree(path)

    def read(self, attempt: str, index: int, room: memoryview | None = None) -> Content:
        """Return a chunk, in ``room`` if it has that size."""
        path = self.folder / attempt / _name(index)
        try:
            with path.open("rb", buffering=0) as file:
                if room is None or os.fstat(file.fileno()).st_size != room.nbytes:
                    return file.readall()
                return room[: direct.read_into(file.fileno(), room)]
        except (FileNotFoundError, NotADirectoryError) as problem:
            raise ChunkMissing(f"{path} is missing") from problem
        except OSError as problem:
            raise _unavailable(path, problem) from problem

    def attempts(self) -> Iterator[str]:
        """Yield every attempt."""
        if not self.folder.exists():
            return
        with _reported(self.folder):
            names = sorted(_names(self.folder))
        yield from (name for name in names if ATTEMPT.fullmatch(name))

    def chunks(self, attempt: str) -> Iterator[int]:
        """Yield the numbers of an attempt's chunks, ascending."""
        with _reported(self.folder / attempt):
            names = sorted(path.name for path in (self.folder / attempt).iterdir())
        yield from (int(name) for name in names if _CHUNK.fullmatch(name))

    def abandoned(self) -> Iterator[str]:
        """Yield the attempts that were not kept."""
        for attempt in self.attempts():
            if attempt in self.kept:
                continue
            if (self.folder / attempt / _KEPT).exists():
                self.kept.add(attempt)
            else:
                yield attempt

    @contextmanager
    def claimed(self, attempt: str) -> Iterator[bool]:
        """Hold the lock of an attempt; yield False if a process that writes it has it."""
        try:
            lock = _lock_file(self.folder / attempt)
        except FileNotFoundError:
            yield False
            return
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(lock)

    def mark(self, attempt: str) -> None:
        """Note that the database names an attempt."""
        with _reported(self.folder / attempt):
            (self.folder / attempt / _KEPT).touch(0o600)

    def remove(self, attempt: str) -> None:
        """Remove the folder of an attempt."""
        folder = self.folder / attempt
        with _reported(folder), suppress(FileNotFoundError):
            shutil.rmtree(folder)


def _names(folder: Path) -> list[str]:
    # A path for each would take longer than the listing: there is a folder for every release.
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _name(index: int) -> str:
    return f"{index:08d}"


def _lock_file(folder: Path) -> int:
    return os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Raise ``Unavailable`` with what the system says about ``path``."""
    try:
        yield
    except OSError as problem:
        raise _unavailable(path, problem) from problem


def _unavailable(path: Path, problem: OSError) -> Unavailable:
    return Unavailable(
        f"The folder of the chunks of long vectors cannot be used: {problem.strerror}. Nothing was"
        " released. Ask the operator to look at PENSTOCK_CHUNKS_FOLDER and its disk; the server's"
        " log has the path.",
        path=str(path),
    )
