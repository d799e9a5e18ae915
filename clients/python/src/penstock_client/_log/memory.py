"""The file in which clients remember logs, by the address of their server.

Several clients may share it: each entry is replaced only by whoever knows what it replaces.
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
    """A log's key, and the newest checkpoint of it."""

    key: bytes
    checkpoint: Checkpoint


class Memory:
    """What is remembered of the log at ``url`` in ``file``; nothing where that is ``None``.

    Every method raises ``LogRefused`` where the file cannot be read, or is not what was
    written: whoever forgets a log believes the next one.  ``setting`` names the file to its user.
    """

    def __init__(self, file: Path | None, url: str, setting: str = VARIABLE) -> None:
        self._file, self._url, self._setting = file, url, setting

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return str(self._file or "this client")

    def kept(self) -> Known | None:
        """What is remembered of this log."""
        entries = self._entries()
        return self._known(entries[self._url]) if self._url in entries else None

    def replace(self, before: Known | None, known: Known) -> Known | None:
        """Remember ``known`` if ``before`` is what was remembered; else what stands there."""
        if self._file is None:
            return None
        with self._alone(self._file):
            entries = self._entries()
            checkpoint = self._known(entries[self._url]) if self._url in entries else None
            if checkpoint not in (None, before):
                return checkpoint
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
        raise self._unusable(f"what it says of {self._url} is not what was written")

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
            raise self._unusable("it is not what was written")
        return entries

    @contextmanager
    def _alone(self, file: Path) -> Iterator[None]:
        """While nobody else writes the file; what goes wrong with it is told."""
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
            f"{self._file} cannot be used to remember logs: {why}. Make it usable or name another"
            f" file in {self._setting}; or move it away to begin anew, which trusts each"
            " server's next answer."
        )
