"""Record the state of the log outside of the database, so that an older database is detected.

It is written after a commit and before the answer, and never moved backward.  So a database that is
ahead of its witness was stopped in between; one that lacks what its witness saw was restored to an
older state.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from penstock.errors import LogUnavailable
from penstock.transparency_log import sights
from penstock.transparency_log.sights import NOTHING, Sight, Unauthentic

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

    def seen(self) -> Sight:
        return self._kept(lambda text: sights.read(text, self._keys()))

    def advance(self, sight: Sight) -> None:
        with self._locked():
            seen = self.seen()
            if seen.precedes(sight):
                further = max(seen, sight, key=lambda candidate: candidate.size)
                known = replace(further, suspended_at=seen.suspended_at)
                self._write(replace(known, accounts=seen.together(sight)))

    def begin(self) -> None:
        with self._locked():
            if not self._path.exists():
                self._write(NOTHING)

    def start_over(self, sight: Sight, instead_of: Sight | None = None) -> None:
        with self._locked():
            if instead_of is None or self.seen() == instead_of:
                self._write(sight)

    def suspend(self, sight: Sight, at: str) -> None:
        with self._locked():
            seen = self.seen()
            if seen == sight and not seen.suspended_at:
                self._write(replace(seen, suspended_at=at))

    def resume(self) -> None:
        with self._locked():
            seen = self.seen()
            if seen.suspended_at:
                self._write(replace(seen, suspended_at=""))

    def renew(self) -> None:
        """Authenticate the record under the newest key."""
        with self._locked():
            self._write(self.seen())

    def take_over(self) -> None:
        """Authenticate the record of an old version while its database is upgraded.

        Any other record stays unchanged, and a missing one stays missing.
        """
        with self._locked():
            earlier = self._kept(sights.read_earlier) if self._path.exists() else None
            if earlier is not None:
                self._write(earlier)

    def _write(self, sight: Sight) -> None:
        beside = self._path.with_suffix(".new")
        try:
            descriptor = os.open(
                beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(sights.written(sight, self._keys()[0]))
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise self._unavailable(f"cannot be written ({reason})") from error

    def _kept(self, read: Callable[[str], Read]) -> Read:
        try:
            return read(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise self._unavailable("is missing") from None
        except OSError as error:
            raise self._unavailable(f"cannot be read ({os.strerror(error.errno or 0)})") from error
        except Unauthentic as error:
            raise self._unavailable(str(error)) from None
        except (ValueError, KeyError, TypeError, AttributeError):
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
