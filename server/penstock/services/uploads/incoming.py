"""Write a file while its bytes arrive, so that it is whole under its name or not there at all.

The bytes are written under a name that nobody can guess, and reach the disk before the file gets
its own name.  That is a link, since a link never replaces what has the name, even for two uploads
at once.  All names are looked up in one open folder: none of them is a way out of it.
"""

import hmac
import os
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.errors import NameTaken, Unavailable
from penstock.services.disk_room import on_disk

UNFINISHED = ".upload-"
"""The beginning of the names under which bytes arrive."""

ABANDONED = timedelta(hours=6)
"""The time without a byte after which a file under such a name belongs to no upload any more."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MODE = 0o600


class Incoming:
    """Hold a file that arrives in ``folder`` and ends as ``name``, with an HMAC under ``key``.

    ``reserve`` bytes of the disk stay free.  Leaving the block without ``publish`` removes it.
    """

    def __init__(self, folder: Path, name: str, *, key: bytes, reserve: int) -> None:
        self._place, self._name, self._reserve = folder, name, reserve
        self._left = on_disk(folder)
        self._unfinished = f"{UNFINISHED}{secrets.token_hex(16)}{Path(name).suffix}"
        self._mac = hmac.new(key, digestmod="sha256")
        self._folder = self._file = -1

    def __enter__(self) -> Self:
        """Create the file.  Raises ``NameTaken``, and ``Unavailable`` if it cannot be written."""
        try:
            self._folder = os.open(self._place, _FOLDER)
            self._file = os.open(self._unfinished, _NEW, _MODE, dir_fd=self._folder)
        except OSError as problem:
            self._close()
            raise _unwritable(problem) from problem
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the name under which the bytes arrived."""
        with suppress(OSError):
            os.unlink(self._unfinished, dir_fd=self._folder)
        self._close()

    @property
    def path(self) -> Path:
        """Return where the bytes are until they are published."""
        return self._place / self._unfinished

    @property
    def digest(self) -> str:
        """Return the HMAC-SHA256 of the bytes so far, in hexadecimal."""
        return self._mac.hexdigest()

    def require_free(self) -> None:
        """Raise ``NameTaken`` if something has the file's name, be it a link that leads nowhere."""
        try:
            os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except OSError:
            return
        raise self._taken()

    def write(self, piece: bytes) -> None:
        """Add bytes.  Raises ``Unavailable`` for a full disk, before its reserve is touched."""
        if self._left() - len(piece) < self._reserve:
            raise _full()
        self._mac.update(piece)
        rest = memoryview(piece)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as problem:
            raise _unwritable(problem) from problem

    def keep(self) -> None:
        """Wait until the bytes are on the disk.  Raises ``Unavailable``."""
        try:
            os.fsync(self._file)
        except OSError as problem:
            raise _unwritable(problem) from problem

    def publish(self) -> None:
        """Give the file its name.  Raises ``NameTaken``, and ``Unavailable``."""
        try:
            os.link(
                self._unfinished,
                self._name,
                src_dir_fd=self._folder,
                dst_dir_fd=self._folder,
                follow_symlinks=False,
            )
            os.fsync(self._folder)
        except FileExistsError as problem:
            raise self._taken() from problem
        except OSError as problem:
            raise _unwritable(problem) from problem

    def withdraw(self) -> None:
        """Take the name away again, if it is this file's."""
        with suppress(OSError):
            there = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
            if os.path.samestat(there, os.fstat(self._file)):
                os.unlink(self._name, dir_fd=self._folder)

    def _taken(self) -> NameTaken:
        return NameTaken(
            f"The data folder has a file {self._name!r} already, and no upload replaces one."
            " Nothing was stored. Use that file, or upload this one under another name."
        )

    def _close(self) -> None:
        for descriptor in (self._file, self._folder):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._folder = -1


def tidy(folder: Path, now: datetime) -> None:
    """Remove what uploads left behind whose process was killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(UNFINISHED):
                continue
            with suppress(OSError):
                last = entry.stat(follow_symlinks=False).st_mtime
                if last < (now - ABANDONED).timestamp():
                    Path(entry.path).unlink()


def _full() -> Unavailable:
    return Unavailable(
        "The disk of the data folder has no room for this file; nothing was stored. Ask the"
        " operator to make room there."
    )


def _unwritable(problem: OSError) -> Unavailable:
    return Unavailable(
        f"The file cannot be written to the data folder ({problem.strerror}); nothing was stored."
        " Ask the operator to make room there, and to let the server write to it."
    )
