"""A monitor of a server's log: it follows checkpoints, and tells of a fork with what shows it.

Between every two checkpoints that it sees it verifies a consistency proof (RFC 9162, section
2.1.4).  What it saw last stands in a file, replaced whole and before anything is cosigned; after an
alarm it stays as it was.  Whoever does not answer is no fork.
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


class Asks(log.Asks, Protocol):
    """Gets documents from the server, and sends some."""

    def post(self, path: str, body: Mapping[str, object]) -> object:
        """The parsed answer."""


@dataclass(frozen=True)
class Seen:
    """What one look saw: the log, how many leaves it had before, and whether it was cosigned."""

    known: Known
    before: int | None
    cosigned: bool


@dataclass
class Watcher:
    """Follows the log of the server at ``url``; remembers it in ``state``.

    ``key``, 32 bytes, is the log's; where it is not given, that of ``state``, and without that
    the one of the first answer.  ``evidence`` is the folder for what shows a fork.
    """

    server: Asks
    url: str
    state: Path
    key: bytes | None = None
    evidence: Path | None = None
    cosigner: Cosigner | None = None
    clock: Callable[[], float] = field(default=time.time)

    def look(self) -> Seen:
        """Hold the newest checkpoint to the last one, remember it, and cosign it.

        Raises ``LogForked`` with the file of the evidence, ``LogRefused`` for a state that cannot
        be used, and as ``Transport.get`` does for a server that does not answer.
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
                self._tell(kept, None, f"The log is gone: it had {kept.checkpoint.size} leaves.")
            fields = Fields(answer, "checkpoint")
            note = fields.text("note")
            try:
                key = key or bytes.fromhex(fields.text("key"))
                known = Known(key, opened(note, key))
            except ValueError as problem:
                self._tell(kept, note, f"The log's checkpoint cannot be believed: {problem}.")
            self._require_continued(kept, known, note)
            # Before the cosignature: what was signed once must not be forgotten.
            other = memory.replace(kept, known) if kept != known else None
            if other is None:
                cosigned = self._cosigned(known, fields)
                return Seen(known, kept.checkpoint.size if kept else None, cosigned)
            kept = other  # another watcher shares the file

    def _require_continued(self, kept: Known | None, known: Known, note: str) -> None:
        if kept is None:
            return
        before, after = kept.checkpoint, known.checkpoint
        if kept.key != known.key:
            self._tell(kept, note, "The log is signed by another key than before.")
        if after.size < before.size:
            self._tell(kept, note, f"The log has {after.size} leaves, and had {before.size}.")
        if after.size == before.size:
            if after.root != before.root:
                message = f"There are two logs of {after.size} leaves, both signed by its key."
                self._tell(kept, note, message)
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
            proof = str(refused)  # of two sizes that it signed
        if not consistent(before.size, after.size, before.root, after.root, path):
            message = (
                f"The log of {after.size} leaves does not begin with the {before.size} before."
            )
            self._tell(kept, note, message, proof)

    def _cosigned(self, known: Known, fields: Fields) -> bool:
        if self.cosigner is None:
            return False
        listed = fields.children_or_none("cosignatures")
        if any(item.text("cosigner") == self.cosigner.name for item in listed):
            return True
        note = self.cosigner.signed(known.checkpoint.note, int(self.clock()))
        self.server.post(f"{API}/cosignatures", {"note": note})
        return True

    def _tell(
        self,
        kept: Known | None,
        note: str | None,
        message: str,
        proof: Sequence[str] | str | None = None,
    ) -> NoReturn:
        """Save what shows a fork, and raise it."""
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
        place = _kept(folder, f"penstock-fork-{now:%Y%m%dT%H%M%S}Z", content)
        raise LogForked(
            f"{message} It was cut off, put back or rewritten, or others are shown another one."
            f" Both signed notes are in {place}: keep that file, and show it to the log's operator"
            " and to others who follow it.",
            place,
        )


def follow(
    watcher: Watcher,
    tell: Callable[[Seen], None],
    failed: Callable[[PenstockError], None],
    wait: Callable[[], bool],
) -> None:
    """Look again and again, until ``wait`` answers that it is enough.

    ``tell`` hears of every look, ``failed`` of one that came to nothing.  Raises ``LogForked``.
    """
    while True:
        try:
            tell(watcher.look())
        except LogForked:
            raise
        except PenstockError as problem:
            failed(problem)
        if wait():
            return


def _kept(folder: Path, name: str, content: Mapping[str, object]) -> Path:
    """Write a file that is new, and answer which.  Raises ``LogForked`` where that cannot be."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    for number in range(10_000):
        place = folder / f"{name}-{number}.json"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with place.open("x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            continue
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise LogForked(
                f"{content['what']} What shows it cannot be kept in {folder} ({reason}):\n{text}",
                None,
            ) from error
        return place
    raise LogForked(f"{content['what']} {folder} is full of such files:\n{text}", None)
