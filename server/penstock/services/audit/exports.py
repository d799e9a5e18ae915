"""The log as a file: written by a piece of work, fetched by whoever asked for it, removed.

A file lies in the home of the machine that wrote it, readable by the server alone, and is a
copy of what an auditor may read anyway.  Nobody is handed it after a day; it is removed
when the server starts, or writes another one.
"""

import json
import os
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from penstock.connectors.progress import Progress
from penstock.errors import NotFound, Unavailable
from penstock.services import disk_room
from penstock.services.access.principals import Principal
from penstock.services.audit import proofs
from penstock.services.context import Server
from penstock.services.jobs import jobs
from penstock.services.jobs.jobs import WorkView

FOLDER = "exports"
LIFE = timedelta(days=1)
"""How long a file is handed out."""

_LEAVES = 1000
"""Between two reports."""


def write(
    server: Server, principal: Principal, piece: str, attempt: int, progress: Progress
) -> str:
    """Write all leaves of the newest checkpoint to a file of ``piece``; the file's name.

    Raises ``Forbidden``, and ``Unavailable`` where it cannot be written.
    """
    principal.require("auditor")
    tidy(server)
    disk_room.require(server.database)
    name = f"{piece}-{attempt}.jsonl"
    size = proofs.size(server)
    place = _folder(server) / name
    unfinished = place.with_suffix(".part")
    try:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        # Whoever began it with this name was stopped.
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for leaf in proofs.leaves(server, size):
                if leaf.index % _LEAVES == 0:
                    progress("writing the log", 100 * leaf.index // size)
                file.write(json.dumps(asdict(leaf), separators=(",", ":")).encode() + b"\n")
        unfinished.rename(place)
    except OSError as problem:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise Unavailable(
            f"The export cannot be written below the server's home: {problem.strerror}. The"
            " operator frees room there, or runs `penstock audit export`."
        ) from problem
    return name


def gone_after(piece: WorkView) -> datetime:
    """Until when the file of a finished piece is handed out."""
    return (piece.finished_at or piece.beat_at) + LIFE


def content(server: Server, principal: Principal, piece: WorkView, host: str) -> BinaryIO:
    """The file of one's own finished piece, opened; ``host`` is what this machine is called.

    It can be read to its end, also where it is removed meanwhile.  Raises ``Forbidden``, and
    ``NotFound`` where the file is gone or elsewhere.
    """
    principal.require("auditor")
    if piece.result is None or server.clock() >= gone_after(piece):
        raise NotFound("There is no file of this export any more; export the log again.")
    try:
        return (_folder(server) / Path(piece.result).name).open("rb")
    except FileNotFoundError as problem:
        where = (
            "" if piece.host == host else f" It was written on {piece.host}, and this is {host}."
        )
        raise NotFound(
            f"The file of this export is not on this machine.{where} Export the log again."
        ) from problem


def tidy(server: Server) -> None:
    """Remove the files that nobody is handed any more, and those that nobody finishes."""
    folder = _folder(server)
    if not folder.is_dir():
        return
    files = {path: path.name.partition("-")[0] for path in folder.iterdir()}
    known = jobs.kept(server, sorted(set(files.values())))
    now = server.clock()
    for path, piece in files.items():
        state, at = known.get(piece, ("failed", now))
        wanted = state == "done" and path.suffix == ".jsonl" and now < at + LIFE
        if not wanted and state != "running":
            with suppress(OSError):  # the next one may be able to
                path.unlink(missing_ok=True)


def _folder(server: Server) -> Path:
    return server.settings.home / FOLDER
