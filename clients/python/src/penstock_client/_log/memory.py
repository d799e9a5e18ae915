"""Remember the newest checkpoint of each server's log in a file, by the server's address.

Several clients may share the file: an entry is replaced only if it is still the one that the
client verified against (compare and swap).
"""

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from penstock_client._log.nesting import shallow
from penstock_client._log.notes import Checkpoint, opened
from penstock_client.errors import LogRefused

VARIABLE = "PENSTOCK_CHECKPOINTS"

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True)
class Known:
    """Hold a log's key and its newest checkpoint."""

    key: bytes
    checkpoint: Checkpoint


class Memory:
    """Keep the entry of the log at ``url`` in ``file``; keep nothing if that is ``None``.

    Every method raises ``LogRefused`` if the file cannot be read, or was damaged: a client that
    forgot a log would trust any other one.  ``setting`` is the option or variable that names the
    file to its user.
    """

    def __init__(self, file: Path | None, url: str, setting: str = VARIABLE) -> None:
        self._file, self._url, self._setting = file, url, setting

    @property
    def place(self) -> str:
        """Return the name of the file, or "this client", for messages."""
        return str(self._file or "this client")

    def kept(self) -> Known | None:
        """Return what is remembered of this log, if anything."""
        entries = self._entries()
        return self._known(entries[self._url]) if self._url in entries else None

    def replace(self, before: Known | None, known: Known) -> Known | None:
        """Remember ``known`` if the entry is still ``before``; else return the entry."""
        if self._file is None:
            return None
        with self._locked(self._file):
            entries = self._entries()
            current = self._known(entries[self._url]) if self._url in entries else None
            if current not in (None, before):
                return current
            entries[self._url] = {"key": known.key.hex(), "note": known.checkpoint.note}
            self._write(self._file, entries)
        return None

    def _known(self, entry: object) -> Known:
        fields = entry if isinstance(entry, dict) else {}
        key, note = fields.get("key"), fields.get("note")
        if isinstance(key, str) and isinstance(note, str):
            with suppress(ValueError):
                public = bytes.fromhex(key)
                return Known(public, opened(note, public))
        raise self._unusable(f"its entry of {self._url} was changed or damaged")

    def _entries(self) -> dict[str, object]:
        if self._file is None:
            return {}
        try:
            entries = json.loads(shallow(self._file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable(os.strerror(error.errno or 0)) from error
        except ValueError:
            entries = None
        if not isinstance(entries, dict):
            raise self._unusable("it was changed or damaged")
        return entries

    @contextmanager
    def _locked(self, file: Path) -> Iterator[None]:
        """Hold a lock on the file inside the block; raise ``LogRefused`` for any ``OSError``."""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.with_name(f"{file.name}.lock").open("a") as lock:
                if sys.platform != "win32":
                    fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise self._unusable(os.strerror(error.errno or 0)) from error

    def _write(self, file: Path, entries: dict[str, object]) -> None:
        beside = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}.new")
        with beside.open("w", encoding="utf-8") as new:
            new.write(json.dumps(entries, indent=1) + "\n")
            new.flush()
            os.fsync(new.fileno())
        beside.replace(file)

    def _unusable(self, why: str) -> LogRefused:
        return LogRefused(
            f"{self._file} cannot be used to remember logs: {why}. Repair it, or name another"
            f" file by {self._setting}; or move it away to start again, which trusts each"
            " server's next answer."
        )
