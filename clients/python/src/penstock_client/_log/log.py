"""Verify a server's log against what this client remembers of it.

The log's key is taken from its first answer and pinned from then on.  The newest checkpoint is
kept in a file, by the server's address.  A log that is shorter, or that does not begin with the
leaves of that checkpoint, is refused, even if its signature is valid.
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
"""The largest answer about the log, in bytes; a proof has at most 54 hashes."""


class Server(Protocol):
    """Get documents from the server."""

    def get(
        self,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        largest: int | None = None,
    ) -> object:
        """Return the parsed answer, of at most ``largest`` bytes."""


class Log:
    """Verify the log of the server at ``url``; remember it in ``file``, or in memory if None."""

    def __init__(self, server: Server, url: str, file: Path | None) -> None:
        self._server = server
        self._memory = Memory(file, url)
        self._lock = threading.Lock()
        self._known = self._memory.kept()

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Return the newest checkpoint that was verified."""
        return self._known.checkpoint if self._known else None

    def follow(self) -> Checkpoint:
        """Return the newest checkpoint, after verifying that it continues the remembered one.

        Raises ``LogRefused`` if it does not.
        """
        with self._lock:
            return self._followed().checkpoint

    def verify(self, receipt: Receipt, expected_fields: Mapping[str, object]) -> Checkpoint:
        """Verify a receipt: its leaf states ``expected_fields``, and is in the log.

        Raises ``LogRefused`` if the server does not prove both.
        """
        index, note = receipt.index, receipt.checkpoint
        if index is None or note is None:
            raise LogRefused("The receipt has no index in the log, or no checkpoint.")
        _require_leaf(receipt, expected_fields)
        with self._lock:
            known = self._known or self._followed()
            signed = _opened(note, known.key)
            if not 0 <= index < signed.size:
                raise LogRefused(
                    f"The receipt's checkpoint covers {signed.size} leaves, and not leaf {index}."
                )
            if known.checkpoint.size < signed.size:
                known = self._followed()
            newest = known.checkpoint
            if newest.size < signed.size:
                raise LogRefused(
                    f"The receipt's checkpoint is of {signed.size} leaves, and the log has only"
                    f" {newest.size}."
                )
            self._require_continued(signed, newest)
            self._require_included(_bytes(receipt.leaf_hash), index, newest)
        return newest

    def prove(self, index: int, leaf: str | None = None) -> tuple[str, list[str], Checkpoint]:
        """Verify that a leaf is in the log; return its hash, the proof and the checkpoint.

        ``leaf`` is the hash that the leaf must have, in hexadecimal.  Raises ``LogRefused``.
        """
        with self._lock:
            newest = self._followed().checkpoint
            answer = self._answer_to(
                "proof/inclusion", {"index": index, "size": newest.size}, "inclusion proof"
            )
        stated_hash, path = answer.text("leaf_hash"), list(answer.texts("hashes"))
        is_included = included(
            _bytes(stated_hash), index, newest.size, list(map(_bytes, path)), newest.root
        )
        if leaf not in (None, stated_hash) or not is_included:
            raise LogRefused(f"The log does not contain leaf {index} as it was shown.")
        return stated_hash, path, newest

    def require_continued(self, old: Checkpoint) -> Checkpoint:
        """Return the newest checkpoint, after verifying that its log begins with that of ``old``.

        Raises ``LogRefused`` if it does not.
        """
        with self._lock:
            newest = self._followed().checkpoint
            if newest.size < old.size:
                raise LogRefused(f"The log has {newest.size} leaves, and had {old.size}.")
            self._require_continued(old, newest)
        return newest

    def _followed(self) -> Known:
        # Read before the request: another client may store a later checkpoint during it.
        kept = self._memory.kept()
        fields = self._answer_to("checkpoint", {}, "checkpoint")
        key = _bytes(fields.text("key"))
        checkpoint = _opened(fields.text("note"), key)
        answered = (fields.integer("size"), fields.text("root_hash"))
        if answered != (checkpoint.size, checkpoint.root.hex()):
            raise LogRefused("The checkpoint's size or root differs from its signed note.")
        known = Known(key, checkpoint)
        for before in (self._known, kept):
            if before is not None:
                self._require_longer(before, known)
        while kept != known and (other := self._memory.replace(kept, known)) is not None:
            # Another client that shares the file has stored a checkpoint since, maybe a later
            # one.
            old, new = sorted((other, known), key=lambda memory: memory.checkpoint.size)
            self._require_longer(old, new)
            kept, known = other, new
        self._known = known
        return known

    def _require_longer(self, old: Known, new: Known) -> None:
        if old.key != new.key:
            raise LogRefused(
                "The log is signed by another key than before. Ask the server's operator whether"
                " the key was changed on purpose; only then remove the server's entry from"
                f" {self._memory.place}."
            )
        before, after = old.checkpoint, new.checkpoint
        if after.size < before.size:
            raise LogRefused(
                f"The log has {after.size} leaves, and had {before.size}: it was truncated, or"
                " the server's database was restored from an older state."
            )
        self._require_continued(before, after)

    def _require_continued(self, old: Checkpoint, new: Checkpoint) -> None:
        path: list[bytes] = []
        if old.size < new.size:
            parameters = {"from": old.size, "to": new.size}
            path = self._hashes("proof/consistency", parameters, "consistency proof")
        if not consistent(old.size, new.size, old.root, new.root, path):
            raise LogRefused(
                f"The log of {new.size} leaves does not begin with the {old.size} leaves that were"
                " seen before: its history was changed, or the server shows others another log."
            )

    def _require_included(self, leaf: bytes, index: int, newest: Checkpoint) -> None:
        parameters = {"index": index, "size": newest.size}
        path = self._hashes("proof/inclusion", parameters, "inclusion proof")
        if not included(leaf, index, newest.size, path, newest.root):
            raise LogRefused(f"The log does not contain leaf {index}, which the receipt names.")

    def _hashes(self, path: str, parameters: Mapping[str, int], name: str) -> list[bytes]:
        return [_bytes(text) for text in self._answer_to(path, parameters, name).texts("hashes")]

    def _answer_to(self, path: str, parameters: Mapping[str, int], name: str) -> Fields:
        return Fields(self._server.get(f"{API}/{path}", parameters, LARGEST_ANSWER), name)


def default_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the checkpoints' file: ``PENSTOCK_CHECKPOINTS``, or one in the user's state folder."""
    if environment.get(VARIABLE):
        return Path(environment[VARIABLE])
    states = environment.get("XDG_STATE_HOME")
    folder = Path(states) if states else Path.home() / ".local" / "state"
    return folder / "penstock" / "checkpoints.json"


def _require_leaf(receipt: Receipt, expected_fields: Mapping[str, object]) -> None:
    """Raise ``LogRefused`` unless the receipt's leaf states the fields of the answer."""
    content = (receipt.leaf or "").encode()
    try:
        leaf = stated(content)
    except ValueError:
        raise LogRefused("The receipt's leaf is missing or is not canonical JSON.") from None
    if leaf_hash(content).hex() != receipt.leaf_hash:
        raise LogRefused("The receipt's leaf does not have the hash that the receipt states.")
    for name, value in expected_fields.items():
        leaf_value = leaf.get(name)
        if isinstance(value, Mapping) and isinstance(leaf_value, Mapping):
            # A newer server may state more.
            leaf_value = {part: leaf_value.get(part) for part in value}
        if name == "query" and isinstance(leaf_value, str):
            # Behind a comma, which no chosen name has, is the number of the tier of its maker.
            leaf_value = leaf_value.partition(",")[0]
        if leaf_value != value:
            raise LogRefused(f"The receipt's leaf does not match the answer: {name} differs.")


def _opened(note: str, key: bytes) -> Checkpoint:
    try:
        return opened(note, key)
    except ValueError as problem:
        raise LogRefused(f"The log's checkpoint is refused: {problem}.") from None


def _bytes(text: str) -> bytes:
    try:
        content = bytes.fromhex(text)
    except ValueError:
        content = b""
    if len(content) != 32:
        raise LogRefused("The log states a hash or a key that is not 32 bytes in hexadecimal.")
    return content
