"""Keep the witness's record in a file that several processes share.

It is written after a commit and before the answer, and never moved backward.  So a database that is
ahead of its witness was stopped in between; one that lacks what its witness saw was restored to an
older state.

A record is written into one of two slots (``slots``), with one sync.  What is rare makes a new file
beside, which replaces the old one: a record that outgrew its slot, another key, a restore.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from penstock.errors import LogUnavailable
from penstock.transparency_log.sights import NOTHING, Sight, Unauthentic
from penstock.transparency_log.witness import slots
from penstock.transparency_log.witness.slots import Content, KnownRecords

FILE = "log.json"
NAP_SECONDS = 0.002

Read = TypeVar("Read")


class Witness(Protocol):
    """Record the newest state of the log that was seen; every method raises ``LogUnavailable``."""

    def seen(self) -> Sight:
        """Return the newest sight."""

    def advance(self, sight: Sight) -> None:
        """Store ``sight`` durably, unless a state at least as new is stored."""

    def begin(self) -> None:
        """Record that nothing was seen, unless there is a record already."""

    def start_over(self, sight: Sight, instead_of: Sight | None = None) -> None:
        """Replace the record by ``sight``, after a restore that was acknowledged.

        ``instead_of`` is the record to replace, which must not be newer; ``None`` replaces any.
        """

    def suspend(self, sight: Sight, at: str) -> None:
        """Record that a database was found to lack ``sight``, unless that is recorded already."""

    def resume(self) -> None:
        """Remove the record that a database lacked something: the log has it now."""


class FileWitness:
    """Hold a ``Witness`` in a file of ``folder``, best on another disk than the database.

    ``keys`` authenticate its record (``sights``), the newest first, and must not be in that folder;
    ``patience`` is how many seconds it waits for others that write the file.
    """

    def __init__(self, folder: Path, patience: float, keys: Callable[[], Sequence[bytes]]) -> None:
        self._path = folder / FILE
        self._patience = patience
        self._keys = keys
        self._known = KnownRecords()

    def seen(self) -> Sight:
        with suppress(LogUnavailable):
            content = self._content()
            if content.is_whole:
                return content.sight
        # A slot that is not whole may be in the middle of being written.
        with self._locked():
            return self._content().sight

    def advance(self, sight: Sight) -> None:
        with self._locked():
            content = self._content()
            if content.sight.precedes(sight):
                self._store(content, content.sight.joined(sight))
            else:
                self._settle(content)

    def begin(self) -> None:
        with self._locked():
            if not self._path.exists():
                self._replace(NOTHING)

    def start_over(self, sight: Sight, instead_of: Sight | None = None) -> None:
        with self._locked():
            if instead_of is None or self._content().sight == instead_of:
                self._replace(sight)

    def suspend(self, sight: Sight, at: str) -> None:
        with self._locked():
            content = self._content()
            seen = content.sight
            if seen == sight and not seen.suspended_at:
                self._store(content, replace(seen, suspended_at=at))

    def resume(self) -> None:
        with self._locked():
            content = self._content()
            if content.sight.suspended_at:
                self._store(content, replace(content.sight, suspended_at=""))

    def renew(self) -> None:
        """Authenticate the record under the newest key, and keep none under another."""
        with self._locked():
            self._replace(self._content().sight)

    def take_over(self) -> None:
        """Authenticate the record of an old version while its database is upgraded.

        Any other record stays unchanged, and a missing one stays missing.
        """
        with self._locked():
            earlier = self._read(slots.read_earlier) if self._path.exists() else None
            if earlier is not None:
                self._replace(earlier)

    def _store(self, content: Content, sight: Sight) -> None:
        """Write a sight durably into the slot that does not have the newest one."""
        sequence, keys = content.sequence + 1, self._keys()
        slot = slots.filled(sight, sequence, len(content.slot), keys[0])
        if slot is None:
            self._replace(sight)
            return
        # Until the newest record is on the disk, the other one may be all that a power cut leaves.
        self._settle(content)
        with self._written() as descriptor:
            _put(descriptor, slot, (1 - content.number) * len(slot))
            _sync(descriptor)
            _mark(descriptor, 1 - content.number, len(slot), sequence)
        self._known.add(slot[: -slots.MARK_SIZE], keys, sequence, sight)

    def _settle(self, content: Content) -> None:
        """Store the newest record again if its writer did not: it may be in memory alone."""
        if content.is_settled:
            return
        if not content.slot:
            self._replace(content.sight)
            return
        # After a failed sync a second one may succeed without having written anything.
        with self._written() as descriptor:
            _put(descriptor, content.slot, content.number * len(content.slot))
            _sync(descriptor)
            self._sync_folder()
            _mark(descriptor, content.number, len(content.slot), content.sequence)

    def _replace(self, sight: Sight) -> None:
        """Replace the file by one that has only this sight, in both slots."""
        beside = self._path.with_suffix(".new")
        slot = slots.first(sight, 1, self._keys()[0])
        flags = os.O_CREAT | os.O_TRUNC
        with self._written(beside, flags) as descriptor:
            _put(descriptor, slot * 2, 0)
            os.fsync(descriptor)
            beside.replace(self._path)
            self._sync_folder()
            _mark(descriptor, 0, len(slot), 1)

    def _sync_folder(self) -> None:
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _written(self, path: Path | None = None, flags: int = 0) -> Iterator[int]:
        try:
            descriptor = os.open(path or self._path, os.O_WRONLY | os.O_CLOEXEC | flags, 0o600)
            try:
                yield descriptor
            finally:
                os.close(descriptor)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise self._unavailable(f"cannot be written ({reason})") from error

    def _content(self) -> Content:
        return self._read(lambda content: slots.read(content, self._keys(), self._known))

    def _read(self, read: Callable[[bytes], Read]) -> Read:
        try:
            return read(self._path.read_bytes())
        except FileNotFoundError:
            raise self._unavailable("is missing") from None
        except OSError as error:
            raise self._unavailable(f"cannot be read ({os.strerror(error.errno or 0)})") from error
        except Unauthentic as error:
            raise self._unavailable(str(error)) from None
        except slots.INVALID:
            raise self._unavailable("is not what the server wrote") from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            descriptor = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise self._unavailable(f"is in a folder that cannot be used ({reason})") from error
        try:
            until = time.monotonic() + self._patience
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise self._unavailable("is locked by another process") from None
                    time.sleep(NAP_SECONDS)
            yield
        finally:
            os.close(descriptor)

    def _unavailable(self, what: str) -> LogUnavailable:
        return LogUnavailable(
            f"The log's witness {self._path.name} {what}, so nothing new is answered. Restore"
            f" it, or make its folder usable; if it is lost, `penstock audit"
            f" acknowledge-restore` starts a new one.",
            path=str(self._path),
            reason=what,
        )


def _put(descriptor: int, content: bytes, place: int) -> None:
    while content:
        count = os.pwrite(descriptor, content, place)
        content, place = content[count:], place + count


def _mark(descriptor: int, number: int, size: int, sequence: int) -> None:
    """Note in a slot that its record is on the disk."""
    mark = slots.mark(sequence)
    _put(descriptor, mark, (number + 1) * size - len(mark))


def _sync(descriptor: int) -> None:
    """Wait until a file's data are on the disk; its size has not changed."""
    getattr(os, "fdatasync", os.fsync)(descriptor)
