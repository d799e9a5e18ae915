"""Find a dataset's file, read its columns' names, and check that it did not change.

Messages depend on the names of the columns and on nothing else that the file holds.
"""

import csv
import hmac
import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from penstock.connectors.planning.refusals import pointer
from penstock.connectors.progress import Progress, silent
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput, SourceChanged

_CHUNK = 1 << 20
_LONGEST_HEADER = 1 << 20
_AT = pointer("source", "uri")
_PATTERNS = frozenset("*?[]{}")
_SIZE = 2
"""The index of the size in a file's identity."""

FORMATS: dict[str, Literal["csv", "parquet"]] = {".csv": "csv", ".parquet": "parquet"}


@dataclass(frozen=True)
class SourceFile:
    """Represent a regular file, with every link on the way to it resolved."""

    path: Path
    format: Literal["csv", "parquet"]


@dataclass(frozen=True)
class Stamp:
    """Hold a file's identity in its file system, and a keyed hash of its bytes."""

    identity: tuple[int, ...]
    fingerprint: bytes


def locate(dataset: DatasetSpec, folder: Path | None = None) -> SourceFile:
    """Find the dataset's file; a relative name is looked up in ``folder``.

    With a folder, a file outside of it is refused; without one, names are relative to the current
    folder and any file may be named.  Raises ``InvalidInput``.
    """
    uri = dataset.source.uri or ""
    if "://" in uri:
        raise InvalidInput(
            "This is an address; name a file on the machine on which the server runs.",
            pointer=_AT,
        )
    file = locate_path((folder or Path.cwd()) / uri)
    if folder is not None and not file.path.is_relative_to(folder.resolve()):
        raise InvalidInput(
            "The file lies outside of the folder that the server reads data from; move it there.",
            pointer=_AT,
        )
    return file


def locate_path(path: Path) -> SourceFile:
    """Check that there is one readable CSV or Parquet file at ``path``.

    Raises ``InvalidInput``.
    """
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise InvalidInput("The file's name must end in .csv or .parquet.", pointer=_AT)
    try:
        resolved = path.resolve(strict=True)
        regular = stat.S_ISREG(resolved.stat().st_mode)
    except (OSError, RuntimeError):
        raise InvalidInput(
            "There is no such file that the server can read; check the name, and that the file"
            " is on the server's machine.",
            pointer=_AT,
        ) from None
    if not regular or not os.access(resolved, os.R_OK):
        raise InvalidInput("This is not a file that the server can read.", pointer=_AT)
    if _PATTERNS & set(str(resolved)):
        raise InvalidInput(
            "The file, or a folder on the way to it, has one of * ? [ ] { } in its name, which"
            " would match several files; rename it.",
            pointer=_AT,
        )
    return SourceFile(resolved, form)


def column_names(file: SourceFile) -> tuple[str, ...]:
    """Return the names in the file's header, in its order.  Raises ``InvalidInput``."""
    names = _names_in_csv(file.path) if file.format == "csv" else _names_in_parquet(file.path)
    if not names:
        raise InvalidInput(
            "The file has no columns; a CSV file begins with a line of names.", pointer=_AT
        )
    return names


def check_columns(dataset: DatasetSpec, names: tuple[str, ...]) -> None:
    """Raise ``InvalidInput`` for declared columns that are missing, or there twice."""
    places = []
    for name in dataset.columns:
        count = names.count(name)
        if count == 0:
            places.append((pointer("columns", name), "The file has no column of this name."))
        elif count > 1:
            places.append((pointer("columns", name), f"The file has {count} columns so named."))
    if places:
        raise InvalidInput(
            f"{len(places)} of the {len(dataset.columns)} declared columns cannot be found in"
            " the file, the first being at"
            f" {places[0][0]}. Check the spelling, also upper and lower case, and that a CSV"
            " file is in UTF-8 and begins with the names, separated by commas.",
            errors=places,
        )


def stamp(
    file: SourceFile,
    key: bytes,
    progress: Progress = silent,
    stage: str = "reading the file",
) -> Stamp:
    """Return the HMAC-SHA256 of the file's bytes under ``key``, 32 bytes, and its identity.

    ``progress`` receives the percentage of bytes read.  Raises ``SourceChanged``
    if the file is gone or changes while it is read.
    """
    digest = hmac.new(key, digestmod="sha256")
    try:
        with file.path.open("rb", buffering=0) as stream:
            before, read = _identity(os.fstat(stream.fileno())), 0
            progress(stage, 0)
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                read += len(chunk)
                # A file that grows while it is read is refused below.
                progress(stage, min(100, 100 * read // max(1, before[_SIZE])))
            after = _identity(os.fstat(stream.fileno()))
    except OSError:
        raise _changed("can no longer be read") from None
    if before != after:
        raise _changed("changed while it was read")
    return Stamp(after, digest.digest())


def check_unchanged(
    file: SourceFile, key: bytes, fingerprint: bytes, progress: Progress = silent
) -> Stamp:
    """Raise ``SourceChanged`` unless the file is the one with this fingerprint."""
    read_now = stamp(file, key, progress, "checking that the file is the registered one")
    if not hmac.compare_digest(read_now.fingerprint, fingerprint):
        raise _changed("is not the one that was registered")
    return read_now


def check_untouched(
    file: SourceFile, key: bytes, before: Stamp, progress: Progress = silent
) -> None:
    """Raise ``SourceChanged`` if the file was changed or replaced since ``before``."""
    stage = "checking that the file was not changed while it was read"
    if stamp(file, key, progress, stage) != before:
        raise _changed("changed while it was read")


def vanished() -> SourceChanged:
    """Return the error for a registered file that cannot be found any more."""
    return _changed("cannot be found")


def _changed(what: str) -> SourceChanged:
    return SourceChanged(
        f"The dataset's file {what}. Nothing was released. Put the registered file back, or"
        " register the new one as a new version of the dataset."
    )


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _names_in_csv(path: Path) -> tuple[str, ...]:
    try:
        with path.open("rb") as stream:
            start = stream.read(_LONGEST_HEADER)
    except OSError:
        raise InvalidInput("The file cannot be read.", pointer=_AT) from None
    # A character that is cut at the end of the bytes read does not belong to the header.
    text = start.decode("utf-8-sig", errors="replace")
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), strict=True), [])
    except csv.Error:
        raise InvalidInput("The file's first line cannot be read as CSV.", pointer=_AT) from None
    return tuple(names)


def types_in_parquet(file: SourceFile) -> dict[str, str]:
    """Return each column's type as Arrow writes it, from the file's footer.

    Raises ``InvalidInput``.
    """
    return {name: str(kind) for name, kind in arrow_types(file).items()}


def arrow_types(file: SourceFile) -> dict[str, Any]:
    """Return each column's type in a Parquet file, from its footer.  Raises ``InvalidInput``."""
    return {field.name: field.type for field in _schema(file.path)}


def parquet_schema(file: SourceFile) -> Any:
    """Return a Parquet file's own schema, with how it stores columns.  Raises ``InvalidInput``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(file.path).schema
    except (pa.ArrowException, OSError):
        raise _not_parquet() from None


def _names_in_parquet(path: Path) -> tuple[str, ...]:
    return tuple(field.name for field in _schema(path))


def _schema(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError):
        raise _not_parquet() from None


def _not_parquet() -> InvalidInput:
    return InvalidInput("The file cannot be read as Parquet.", pointer=_AT)
