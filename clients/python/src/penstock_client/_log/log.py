"""What a client remembers of a server's log, and what it refuses to believe of it.

The key of a log is taken from its first answer and held to from then on.  The newest checkpoint
that was seen is kept in a file, by the server's address: a log that is shorter, or that does
not begin with what was seen, is refused, whoever signed it.
"""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from penstock_client._http.fields import Fields
from penstock_client._log.leaves import stated
from penstock_client._log.memory import VARIABLE, Known, Memory
from penstock_client._log.notes import Checkpoint, opened
from penstock_client._log.tree import consistent, included, leaf_hash
from penstock_client.errors import LogRefused
from penstock_client.models import Receipt

API = "/api/v1/audit"
LARGEST_ANSWER = 2**16
"""In bytes: a proof has at most 54 hashes."""


class Asks(Protocol):
    """Gets a document from the server."""

    def get(
        self,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        largest: int | None = None,
    ) -> object:
        """The parsed answer, of at most ``largest`` bytes."""


class Log:
    """The log of the server at ``url``, remembered in ``file`` (``None`` remembers in memory)."""

    def __init__(self, server: Asks, url: str, file: Path | None) -> None:
        self._server = server
        self._memory = Memory(file, url)
        self._lock = threading.Lock()
        self._known = self._memory.kept()

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest that was seen."""
        return self._known.checkpoint if self._known else None

    def follow(self) -> Checkpoint:
        """The newest checkpoint, once it was found to continue the one before.

        Raises ``LogRefused`` where it does not.
        """
        with self._lock:
            return self._followed().checkpoint

    def hold(self, receipt: Receipt, stated_fields: Mapping[str, object]) -> Checkpoint:
        """Hold the server to a receipt: its leaf says ``stated_fields``, and is in the log.

        Raises ``LogRefused`` where that is not shown.
        """
        index, note = receipt.index, receipt.checkpoint
        if index is None or note is None:
            raise LogRefused("The receipt names no place in the log, or no checkpoint.")
        _require_said(receipt, stated_fields)
        with self._lock:
            known = self._known or self._followed()
            mine = _opened(note, known.key)
            if not 0 <= index < mine.size:
                raise LogRefused(f"The receipt's checkpoint, of {mine.size}, has no leaf {index}.")
            if known.checkpoint.size < mine.size:
                known = self._followed()
            newest = known.checkpoint
            if newest.size < mine.size:
                raise LogRefused("The receipt's checkpoint is of more leaves than the log has.")
            self._require_continued(mine, newest)
            self._require_included(_bytes(receipt.leaf_hash), index, newest)
        return newest

    def _followed(self) -> Known:
        kept = self._memory.kept()  # not after the answer, which others may outrun
        fields = self._answer_to("checkpoint", {}, "checkpoint")
        key = _bytes(fields.text("key"))
        checkpoint = _opened(fields.text("note"), key)
        answered = (fields.integer("size"), fields.text("root_hash"))
        if answered != (checkpoint.size, checkpoint.root.hex()):
            raise LogRefused("The checkpoint says something else than its signed note.")
        known = Known(key, checkpoint)
        for before in (self._known, kept):
            if before is not None:
                self._require_longer(before, known)
        while kept != known and (other := self._memory.replace(kept, known)) is not None:
            # Another client that shares the file saw the log meanwhile, maybe later.
            old, new = sorted((other, known), key=lambda memory: memory.checkpoint.size)
            self._require_longer(old, new)
            kept, known = other, new
        self._known = known
        return known

    def _require_longer(self, old: Known, new: Known) -> None:
        if old.key != new.key:
            raise LogRefused(
                "The log is signed by another key than before. Ask its operator whether that is"
                f" meant, and only then forget what {self._memory.place} remembers."
            )
        before, after = old.checkpoint, new.checkpoint
        if after.size < before.size:
            raise LogRefused(
                f"The log has {after.size} leaves, and had {before.size}: it was cut off, or"
                " the server's database was put back to an older state."
            )
        self._require_continued(before, after)

    def _require_continued(self, old: Checkpoint, new: Checkpoint) -> None:
        path: list[bytes] = []
        if old.size < new.size:
            parameters = {"from": old.size, "to": new.size}
            path = self._hashes("proof/consistency", parameters, "consistency proof")
        if not consistent(old.size, new.size, old.root, new.root, path):
            raise LogRefused(
                f"The log of {new.size} leaves does not begin with the {old.size} that were seen"
                " before: its history was changed, or others are shown another one."
            )

    def _require_included(self, leaf: bytes, index: int, newest: Checkpoint) -> None:
        parameters = {"index": index, "size": newest.size}
        path = self._hashes("proof/inclusion", parameters, "inclusion proof")
        if not included(leaf, index, newest.size, path, newest.root):
            raise LogRefused(f"The log does not hold leaf {index} of the receipt.")

    def _hashes(self, path: str, parameters: Mapping[str, int], name: str) -> list[bytes]:
        return [_bytes(text) for text in self._answer_to(path, parameters, name).texts("hashes")]

    def _answer_to(self, path: str, parameters: Mapping[str, int], name: str) -> Fields:
        return Fields(self._server.get(f"{API}/{path}", parameters, LARGEST_ANSWER), name)


def default_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Where checkpoints are kept: ``PENSTOCK_CHECKPOINTS``, or the user's folder for states."""
    if environment.get(VARIABLE):
        return Path(environment[VARIABLE])
    states = environment.get("XDG_STATE_HOME")
    folder = Path(states) if states else Path.home() / ".local" / "state"
    return folder / "penstock" / "checkpoints.json"


def _require_said(receipt: Receipt, stated_fields: Mapping[str, object]) -> None:
    """Raise ``LogRefused`` unless the receipt's leaf is of what was answered."""
    content = (receipt.leaf or "").encode()
    try:
        leaf = stated(content)
    except ValueError:
        raise LogRefused("The receipt does not show what the log says.") from None
    if leaf_hash(content).hex() != receipt.leaf_hash:
        raise LogRefused("The receipt's leaf has another hash than the receipt says.")
    for name, value in stated_fields.items():
        stated_value = leaf.get(name)
        if isinstance(value, Mapping) and isinstance(stated_value, Mapping):
            stated_value = {
                part: stated_value.get(part) for part in value
            }  # a newer server may say more
        if stated_value != value:
            raise LogRefused(
                f"The receipt is of something else than the answer: of another {name}."
            )


def _opened(note: str, key: bytes) -> Checkpoint:
    try:
        return opened(note, key)
    except ValueError as problem:
        raise LogRefused(f"The log cannot be believed: {problem}.") from None


def _bytes(text: str) -> bytes:
    try:
        content = bytes.fromhex(text)
    except ValueError:
        content = b""
    if len(content) != 32:
        raise LogRefused("The log states a hash or a key that has not 32 bytes.")
    return content
