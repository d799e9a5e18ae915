"""Store a file of data that an admin uploads, in the folder from which datasets are registered.

An upload registers nothing, so it takes one person even under the two-person rule.  Its leaf has
the file's name and a keyed hash of its bytes.  It has neither their number nor a plain hash: those
are exact results, and whoever reads the log could compare them with what they suspect.
"""

import re
import secrets
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from penstock.connectors.duckdb.source_file import FORMATS
from penstock.connectors.specs import guess
from penstock.errors import Conflict, InvalidInput, Unavailable
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.data_folder import folder_of_uploads
from penstock.services.uploads.incoming import Incoming, tidy

LONGEST_NAME = 100
POINTER = "/file"
"""Where refusals of a file point to."""

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}", re.ASCII)


def receive(server: Server, principal: Principal, name: str, pieces: Iterable[bytes]) -> Path:
    """Store the bytes of ``pieces`` as the file ``name`` of the data folder; return its path.

    What may be uploaded is bounded by who reads ``pieces`` from a client.  Raises ``Forbidden``,
    ``InvalidInput`` for a name that is not plain and for a file whose columns cannot be read,
    ``NameTaken``, ``Conflict`` where uploads are switched off, and ``Unavailable`` for a folder
    that cannot be written or has no room.  Then, and if ``pieces`` raises, no file is there.
    """
    principal.require("admin")
    settings = server.settings
    if not settings.upload_limit:
        raise Conflict(
            "Uploads are switched off. Ask the operator to put the file into the data folder, or"
            " to set PENSTOCK_UPLOAD_LIMIT."
        )
    _require_plain(name)
    folder = _folder(folder_of_uploads(settings))
    tidy(folder, server.clock())
    upload = secrets.token_hex(16)
    with Incoming(
        folder, name, key=_key(server.secrets.values, upload), reserve=settings.room_reserve
    ) as file:
        file.require_free()
        for piece in pieces:
            file.write(piece)
        file.keep()
        _require_columns(file.path)
        with ExitStack() as undone:
            with server.database.write() as session:
                record(
                    session,
                    principal,
                    "upload",
                    server.clock(),
                    upload=upload,
                    file=name,
                    file_hmac=file.digest,
                )
                undone.callback(file.withdraw)
                file.publish()
            undone.pop_all()
    return folder / name


def _key(values: bytes, upload: str) -> bytes:
    """Return the key of one upload's hash: equal files have different ones."""
    return values + b"upload\x00" + upload.encode()


def _require_plain(name: str) -> None:
    """Raise ``InvalidInput`` for a name that could mean anything but one file of data."""
    if not name:
        raise InvalidInput("Choose a file.", pointer=POINTER)
    if not _NAME.fullmatch(name) or ".." in name:
        raise InvalidInput(
            f"The file's name must begin with a letter or digit and have at most {LONGEST_NAME}"
            " letters of A to Z, digits, dots, hyphens and underscores. Rename the file, or give"
            " it another name here.",
            pointer=POINTER,
        )
    if Path(name).suffix.lower() not in FORMATS:
        raise InvalidInput(
            f"The file's name must end in {' or '.join(FORMATS)}, which says what it is.",
            pointer=POINTER,
        )


def _require_columns(path: Path) -> None:
    """Raise ``InvalidInput`` for a file that no dataset could be registered from."""
    try:
        guess.guess_schema(path)
    except InvalidInput as problem:
        words = f"{problem.detail} Nothing was stored."
    else:
        return
    raise InvalidInput(words, pointer=POINTER)


def _folder(place: Path) -> Path:
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        return place.resolve(strict=True)
    except OSError as problem:
        raise Unavailable(
            f"The data folder cannot be used ({problem.strerror}). Ask the operator to create it."
        ) from problem
