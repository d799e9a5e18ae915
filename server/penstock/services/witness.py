"""What saw the log outside of the database: how far it was, so that an older one shows.

It is written after a commit and before the answer, and never moved backward.  So a
database that is ahead of its witness was stopped in between; one that lacks what its
witness saw was put back to an older state.
"""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from penstock.errors import LogUnavailable
from penstock.nesting import shallow

FILE = "log.json"
FORMAT = "penstock-witness"
VERSION = 1
NAP_SECONDS = 0.002


@dataclass(frozen=True)
class Sight:
    """The log as it was seen: its number of leaves, and their root (empty where there are none).

    ``accounts`` is what each account had spent, loss and failure in the units of the ledger:
    where the database is lost, nobody else knows it.
    """

    size: int
    root: bytes
    accounts: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def behind(self, other: "Sight") -> bool:
        """Whether ``other`` saw more."""
        return self.size < other.size or self.together(other) != self.accounts

    def together(self, other: "Sight") -> dict[str, tuple[int, int]]:
        """The most that either knows to be spent of each account."""
        found = dict(self.accounts)
        for name, (loss, failure) in other.accounts.items():
            before = found.get(name, (0, 0))
            found[name] = (max(before[0], loss), max(before[1], failure))
        return found


NOTHING = Sight(0, b"")


class Witness(Protocol):
    """Keeps the furthest that the log was seen at; every method raises ``LogUnavailable``."""

    def seen(self) -> Sight:
        """The furthest sight."""

    def advance(self, sight: Sight) -> None:
        """Keep ``sight`` durably, unless something as far was kept before."""

    def begin(self) -> None:
        """Keep that nothing was seen, unless something was kept before."""

    def start_over(self, sight: Sight, instead_of: Sight | None = None) -> None:
        """Keep ``sight`` instead of what was lost, after a restore that is known of.

        Where that is ``None``, instead of whatever was kept; else of nothing newer.
        """


class FileWitness:
    """A ``Witness`` in a file of ``folder``, best on another disk than the database.

    ``patience`` is how many seconds it waits for others that write the file.
    """

    def __init__(self, folder: Path, patience: float) -> None:
        self._path = folder / FILE
        self._patience = patience

    def seen(self) -> Sight:
        try:
            content = json.loads(shallow(self._path.read_text(encoding="utf-8")))
            if (content["format"], content["version"]) != (FORMAT, VERSION):
                raise self._unavailable("is of another version")
            return _read(content)
        except FileNotFoundError:
            raise self._unavailable("is missing") from None
        except OSError as error:
            raise self._unavailable(f"cannot be read ({os.strerror(error.errno or 0)})") from error
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._unavailable("is not what the server wrote") from None

    def advance(self, sight: Sight) -> None:
        with self._locked():
            seen = self.seen()
            if seen.behind(sight):
                further = max(seen, sight, key=lambda one: one.size)
                self._write(replace(further, accounts=seen.together(sight)))

    def begin(self) -> None:
        with self._locked():
            if not self._path.exists():
                self._write(NOTHING)

    def start_over(self, sight: Sight, instead_of: Sight | None = None) -> None:
        with self._locked():
            if instead_of is None or self.seen() == instead_of:
                self._write(sight)

    def _write(self, sight: Sight) -> None:
        beside = self._path.with_suffix(".new")
        content = {
            "format": FORMAT,
            "version": VERSION,
            "size": sight.size,
            "root": sight.root.hex(),
            "accounts": dict(sight.accounts),
        }
        try:
            descriptor = os.open(
                beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(json.dumps(content).encode() + b"\n")
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

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            descriptor = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise self._unavailable(f"lies in a folder that cannot be used ({reason})") from error
        try:
            until = time.monotonic() + self._patience
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise self._unavailable("is kept locked by another process") from None
                    time.sleep(NAP_SECONDS)
            yield
        finally:
            os.close(descriptor)

    def _unavailable(self, what: str) -> LogUnavailable:
        return LogUnavailable(
            f"The log's witness {self._path.name} {what}, so that nothing new is answered. Put it"
            " back, or make its folder usable; where it is lost, `penstock audit"
            " acknowledge-restore` begins another one.",
            path=str(self._path),
        )


def _read(content: Any) -> Sight:
    """A sight as it was written; of anything else one of several errors."""
    size, root = content["size"], bytes.fromhex(content["root"])
    accounts = {name: (loss, failure) for name, (loss, failure) in content["accounts"].items()}
    numbers = [size, *(number for spent in accounts.values() for number in spent)]
    if any(type(number) is not int or not 0 <= number < 2**63 for number in numbers):
        raise ValueError("not a number of leaves or of units of the ledger")
    if len(root) != (hashlib.sha256().digest_size if size else 0):
        raise ValueError("not a root")
    return Sight(size, root, accounts)
