"""Follow a server's log: verify each new checkpoint, and report a fork with its evidence.

Between every two checkpoints that it sees, the monitor verifies a consistency proof (RFC 9162,
section 2.1.4).  The newest checkpoint is kept in a file, which is replaced as a whole before
anything is cosigned, and is left as it was after a fork.  A server that does not answer has not
forked.
"""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn, Protocol

from penstock_client._http.fields import Fields
from penstock_client._log import log
from penstock_client._log.cosigning import Cosigner
from penstock_client._log.log import API, LARGEST_ANSWER
from penstock_client._log.memory import Known, Memory
from penstock_client._log.notes import opened
from penstock_client._log.tree import consistent
from penstock_client.errors import InvalidInput, LogForked, NotFound, PenstockError

SETTING = "--state"


class Server(log.Server, Protocol):
    """Get documents from the server, and send cosignatures to it."""

    def post(self, path: str, body: Mapping[str, object]) -> object:
        """Return the parsed answer."""


@dataclass(frozen=True)
class Seen:
    """Hold the result of one look: the log, its size at the last look, whether it was cosigned."""

    known: Known
    before: int | None
    cosigned: bool


@dataclass
class Watcher:
    """Follow the log of the server at ``url``; remember it in the file ``state``.

    ``key`` is the log's public key (32 bytes); if it is None, the key in ``state`` is used, or
    else that of the first answer.  ``evidence`` is the folder for evidence of a fork.
    """

    server: Server
    url: str
    state: Path
    key: bytes | None = None
    evidence: Path | None = None
    cosigner: Cosigner | None = None
    clock: Callable[[], float] = field(default=time.time)

    def look(self) -> Seen:
        """Verify that the newest checkpoint continues the last one, remember it, and cosign it.

        Raises ``LogForked`` with the evidence's file, ``LogRefused`` for a state that cannot be
        used, and what ``Transport.get`` raises for a server that does not answer.
        """
        memory = Memory(self.state, self.url, SETTING)
        kept = memory.kept()
        while True:
            key = self.key or (kept.key if kept else None)
            try:
                answer = self.server.get(f"{API}/checkpoint", {}, LARGEST_ANSWER)
            except NotFound:
                if kept is None:
                    raise
                self._report(kept, None, f"The log is gone: it had {kept.checkpoint.size} leaves.")
            fields = Fields(answer, "checkpoint")
            note = fields.text("note")
            try:
                key = key or bytes.fromhex(fields.text("key"))
                known = Known(key, opened(note, key))
            except ValueError as problem:
                self._report(kept, note, f"The log's checkpoint is not valid: {problem}.")
            self._require_continued(kept, known, note)
            # Before the cosignature: a checkpoint that was cosigned must not be forgotten.
            current = memory.replace(kept, known) if kept != known else None
            if current is None:
                cosigned = self._cosigned(known, fields)
                return Seen(known, kept.checkpoint.size if kept else None, cosigned)
            kept = current  # another monitor that shares the file has replaced the entry

    def _require_continued(self, kept: Known | None, known: Known, note: str) -> None:
        if kept is None:
            return
        before, after = kept.checkpoint, known.checkpoint
        if kept.key != known.key:
            self._report(kept, note, "The log is signed by another key than before.")
        if after.size < before.size:
            self._report(kept, note, f"The log has {after.size} leaves, and had {before.size}.")
        if after.size == before.size:
            if after.root != before.root:
                message = (
                    f"There are two logs of {after.size} leaves, both signed by the log's key."
                )
                self._report(kept, note, message)
            return
        parameters = {"from": before.size, "to": after.size}
        path: list[bytes] = []
        proof: Sequence[str] | str
        try:
            answer = self.server.get(f"{API}/proof/consistency", parameters, LARGEST_ANSWER)
            proof = Fields(answer, "consistency proof").texts("hashes")
            with suppress(ValueError):
                path = [bytes.fromhex(text) for text in proof]
        except (InvalidInput, NotFound) as refused:
            proof = str(refused)  # the server signed both sizes, so it can prove them
        if not consistent(before.size, after.size, before.root, after.root, path):
            message = (
                f"The log of {after.size} leaves does not begin with the {before.size} leaves that"
                " were seen before."
            )
            self._report(kept, note, message, proof)

    def _cosigned(self, known: Known, fields: Fields) -> bool:
        if self.cosigner is None:
            return False
        listed = fields.children_or_none("cosignatures")
        if any(item.text("cosigner") == self.cosigner.name for item in listed):
            return True
        note = self.cosigner.signed(known.checkpoint.note, int(self.clock()))
        self.server.post(f"{API}/cosignatures", {"note": note})
        return True

    def _report(
        self,
        kept: Known | None,
        note: str | None,
        message: str,
        proof: Sequence[str] | str | None = None,
    ) -> NoReturn:
        """Save the evidence of a fork, and raise ``LogForked``."""
        now = datetime.fromtimestamp(self.clock(), UTC)
        content = {
            "what": message,
            "url": self.url,
            "found_at": now.isoformat(),
            "key": kept.key.hex() if kept else (self.key or b"").hex(),
            "seen": kept.checkpoint.note if kept else None,
            "shown": note,
            "proof": proof,
        }
        folder = self.evidence or self.state.parent
        file = _saved(folder, f"penstock-fork-{now:%Y%m%dT%H%M%S}Z", content)
        raise LogForked(
            f"{message} The log was truncated, restored from a backup or rewritten, or the server"
            f" shows others another log. Both signed notes are in {file}: keep that file, and show"
            " it to the server's operator and to others who follow the log.",
            file,
        )


def follow(
    watcher: Watcher,
    report: Callable[[Seen], None],
    failed: Callable[[PenstockError], None],
    wait: Callable[[], bool],
) -> None:
    """Look repeatedly, until ``wait`` returns True.

    ``report`` is called with the result of each look, ``failed`` with the error of a look that
    failed.  Raises ``LogForked``.
    """
    while True:
        try:
            report(watcher.look())
        except LogForked:
            raise
        except PenstockError as problem:
            failed(problem)
        if wait():
            return


def _saved(folder: Path, name: str, content: Mapping[str, object]) -> Path:
    """Write a new file and return its path.  Raises ``LogForked`` if that fails."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    for number in range(10_000):
        path = folder / f"{name}-{number}.json"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            continue
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise LogForked(
                f"{content['what']} The evidence cannot be saved in {folder} ({reason}); keep this"
                f" message:\n{text}",
                None,
            ) from error
        return path
    raise LogForked(
        f"{content['what']} The evidence cannot be saved, because {folder} has 10,000 files called"
        f" {name}-...; keep this message:\n{text}",
        None,
    )
