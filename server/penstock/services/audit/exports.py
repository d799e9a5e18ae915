"""Write the log to a file in a job, and serve it to the auditor who asked for it.

The file is in the home of the machine that wrote it, readable by the server alone, and is a copy
of what an auditor may read anyway.  It is served for a day; it is removed when the server
starts, or writes another one.
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
"""The time for which a file is served."""

_LEAVES = 1000
"""The leaves between two reports of progress."""


def write(
    server: Server, principal: Principal, piece: str, attempt: int, progress: Progress
) -> str:
    """Write all leaves of the newest checkpoint to the file of ``piece``; return the file's name.

    Raises ``Forbidden``, and ``Unavailable`` if it cannot be written.
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
        # An earlier attempt under this name was stopped.
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
            f"The export cannot be written below the server's home: {problem.strerror}. Ask the"
            f" operator to free disk space there, or to run `penstock audit export`."
        ) from problem
    return name


def gone_after(piece: WorkView) -> datetime:
    """Return the time until which the file of a finished job is served."""
    return (piece.finished_at or piece.beat_at) + LIFE


def content(server: Server, principal: Principal, piece: WorkView, host: str) -> BinaryIO:
    """Open the file of the caller's own finished job; ``host`` is this machine's name.

    It can be read to its end even if it is removed in the meantime.  Raises ``Forbidden``, and
    ``NotFound`` if the file is gone or on another machine.
    """
    principal.require("auditor")
    if piece.result is None or server.clock() >= gone_after(piece):
        raise NotFound("The file of this export is gone; export the log again.")
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
    """Remove the files that are not served any more, and those that nobody will finish."""
    folder = _folder(server)
    if not folder.is_dir():
        return
    files = {path: path.name.partition("-")[0] for path in folder.iterdir()}
    known = jobs.kept(server, sorted(set(files.values())))
    now = server.clock()
    for path, piece in files.items():
        state, at = known.get(piece, ("failed", now))
        kept = state == "done" and path.suffix == ".jsonl" and now < at + LIFE
        if not kept and state != "running":
            with suppress(OSError):  # the next call may succeed
                path.unlink(missing_ok=True)


def _folder(server: Server) -> Path:
    return server.settings.home / FOLDER
