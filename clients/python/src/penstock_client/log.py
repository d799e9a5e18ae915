"""What a client remembers of a server's log, and what it refuses to believe of it.

The key of a log is taken from its first answer and held to from then on.  The newest checkpoint
that was seen is kept in a file, by the server's address: a log that is shorter, or that does
not begin with what was seen, is refused, whoever signed it.
"""

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from penstock_client.errors import LogRefused
from penstock_client.fields import Fields
from penstock_client.models import Receipt
from penstock_client.notes import Checkpoint, opened
from penstock_client.tree import consistent, included

API = "/api/v1/audit"
VARIABLE = "PENSTOCK_CHECKPOINTS"


class Asks(Protocol):
    """Gets a document from the server."""

    def get(self, path: str, parameters: Mapping[str, str | int] | None = None) -> object:
        """The parsed answer."""


@dataclass(frozen=True)
class Known:
    """A log's key, and the newest checkpoint of it."""

    key: bytes
    checkpoint: Checkpoint


class Log:
    """The log of the server at ``url``, remembered in ``file`` (``None`` remembers in memory)."""

    def __init__(self, server: Asks, url: str, file: Path | None) -> None:
        self._server, self._url, self._file = server, url, file
        self._lock = threading.Lock()
        self._known = self._kept()

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest that was seen."""
        return self._known.checkpoint if self._known else None

    def follow(self) -> Checkpoint:
        """The newest checkpoint, once it was found to continue the one before.

        Raises ``LogRefused`` where it does not.
        """
        with self._lock:
            return self._followed()

    def hold(self, receipt: Receipt) -> Checkpoint:
        """Hold the server to a receipt: its leaf is in the log that was seen.

        Raises ``LogRefused`` where that is not shown.
        """
        if receipt.index is None or not isinstance(receipt.checkpoint, str):
            raise LogRefused("The receipt names no place in the log, or no checkpoint.")
        with self._lock:
            if self._known is None:
                self._followed()
            mine = self._opened(receipt.checkpoint)
            known = self.checkpoint
            if known is None or known.size < mine.size:
                known = self._followed()
            if known.size < mine.size:
                raise LogRefused("The receipt's checkpoint is of more leaves than the log has.")
            self._require_continued(mine, known)
            self._require_included(receipt, known)
        return known

    def _followed(self) -> Checkpoint:
        fields = Fields(self._server.get(f"{API}/checkpoint"), "checkpoint")
        key = _bytes(fields.text("key"))
        if self._known is not None and key != self._known.key:
            raise LogRefused(
                "The log is signed by another key than before. Ask its operator whether that is"
                f" meant, and only then forget what {self._file or 'this client'} remembers."
            )
        found = _opened(fields.text("note"), key)
        said = (fields.integer("size"), fields.text("root_hash"))
        if said != (found.size, found.root.hex()):
            raise LogRefused("The checkpoint says something else than its signed note.")
        if self._known is not None:
            before = self._known.checkpoint
            if found.size < before.size:
                raise LogRefused(
                    f"The log has {found.size} leaves, and had {before.size}: it was cut off, or"
                    " the server's database was put back to an older state."
                )
            self._require_continued(before, found)
        self._known = Known(key, found)
        self._keep()
        return found

    def _require_continued(self, old: Checkpoint, new: Checkpoint) -> None:
        asked = {"from": old.size, "to": new.size}
        hashes: tuple[str, ...] = ()
        if old.size < new.size:
            found = self._server.get(f"{API}/proof/consistency", asked)
            hashes = Fields(found, "consistency proof").texts("hashes")
        path = [_bytes(one) for one in hashes]
        if not consistent(old.size, new.size, old.root, new.root, path):
            raise LogRefused(
                f"The log of {new.size} leaves does not begin with the {old.size} that were seen"
                " before: its history was changed, or others are shown another one."
            )

    def _require_included(self, receipt: Receipt, known: Checkpoint) -> None:
        index = receipt.index or 0
        if index >= known.size:
            raise LogRefused(f"The receipt names leaf {index}, and the log has {known.size}.")
        asked = {"index": index, "size": known.size}
        found = Fields(self._server.get(f"{API}/proof/inclusion", asked), "inclusion proof")
        path = [_bytes(one) for one in found.texts("hashes")]
        if not included(_bytes(receipt.leaf_hash), index, known.size, path, known.root):
            raise LogRefused(f"The log does not hold leaf {index} of the receipt.")

    def _opened(self, note: str) -> Checkpoint:
        if self._known is None:
            raise LogRefused("The log has no checkpoint.")
        return _opened(note, self._known.key)

    def _kept(self) -> Known | None:
        entry = self._entries().get(self._url)
        if not isinstance(entry, dict):
            return None
        key = _bytes(str(entry.get("key")))
        return Known(key, _opened(str(entry.get("note")), key))

    def _keep(self) -> None:
        if self._file is None or self._known is None:
            return
        entries = self._entries()
        entry = {"key": self._known.key.hex(), "note": self._known.checkpoint.note}
        entries[self._url] = entry
        self._file.parent.mkdir(parents=True, exist_ok=True)
        beside = self._file.with_name(f"{self._file.name}.{os.getpid()}.new")
        beside.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
        beside.replace(self._file)

    def _entries(self) -> dict[str, object]:
        if self._file is None or not self._file.exists():
            return {}
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise LogRefused(
                f"{self._file} does not hold what was remembered of logs; move it away to begin"
                " anew, which trusts each server's next answer."
            )
        return found


def default_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Where checkpoints are kept: ``PENSTOCK_CHECKPOINTS``, or the user's folder for states."""
    if environment.get(VARIABLE):
        return Path(environment[VARIABLE])
    states = environment.get("XDG_STATE_HOME")
    folder = Path(states) if states else Path.home() / ".local" / "state"
    return folder / "penstock" / "checkpoints.json"


def _opened(note: str, key: bytes) -> Checkpoint:
    try:
        return opened(note, key)
    except ValueError as problem:
        raise LogRefused(f"The log cannot be believed: {problem}.") from None


def _bytes(text: str) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != 32:
        raise LogRefused("The log states a hash or a key that has not 32 bytes.")
    return found
