"""Write files that hold keys: readable by their owner alone, and durable.

A new version is written to a temporary file that then replaces the old one.  A process that is
killed in between leaves a temporary file, which may hold keys that are destroyed later: ``locked``
removes such files first, since no other process writes while it holds the lock.
"""

import base64
import fcntl
import glob
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.encryption.key import SIZE, Key
from penstock.errors import KeysUnavailable
from penstock.nesting import shallow

_LARGEST = 16 << 20
"""A ring of some 100,000 keys."""

_NEW = ".new"
Buffer = bytes | bytearray | memoryview


def create(path: Path, content: object) -> None:
    """Write ``content`` as JSON into a new file of mode 0600, and sync it and its folder.

    Raises ``KeysUnavailable`` if the file exists (it is left unchanged) or cannot be made.
    """
    try:
        _write(path, [_json(content)])
    except FileExistsError:
        raise _unavailable(
            path,
            "exists already and was left as it is. To start over, first move it to a"
            " safe place: without it nothing that was sealed under it can be read again.",
        ) from None
    except OSError as error:
        raise _unwritable(path, error) from error


def replace(path: Path, content: Iterable[Buffer]) -> None:
    """Replace a private file, completely or not at all; call it under the file's lock."""
    beside = path.with_name(f"{path.name}.{os.getpid()}{_NEW}")
    try:
        try:
            _write(beside, content)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def read(path: Path) -> object:
    """Return the JSON of a private file.

    Raises ``KeysUnavailable`` if it is missing, readable by others, or no JSON; messages never
    repeat its content.
    """
    with opened(path) as descriptor:
        text = content(path, descriptor)
    return parsed(path, text)


def parsed(path: Path, text: bytearray) -> object:
    """Parse the JSON of a private file.  Raises ``KeysUnavailable``."""
    try:
        return json.loads(shallow(text.decode()))
    except ValueError:
        # The cause would carry the content along.
        raise malformed(path, "is not JSON") from None


def read_text(path: Path) -> str:
    """Return the line of a private text file.  Raises ``KeysUnavailable`` as ``read`` does."""
    try:
        with opened(path) as descriptor:
            return content(path, descriptor).decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise malformed(path, "is not text") from None


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a private file for reading, and yield its descriptor.  Raises ``KeysUnavailable``."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        _refuse_shared(path, os.fstat(descriptor))
        yield descriptor
    finally:
        os.close(descriptor)


def content(path: Path, descriptor: int) -> bytearray:
    """Read all of an opened file into a buffer that the caller can overwrite."""
    size = os.fstat(descriptor).st_size
    if size > _LARGEST:
        raise malformed(path, f"is longer than {_LARGEST} bytes")
    buffer = bytearray(size)
    if os.preadv(descriptor, [buffer], 0) != size:
        raise malformed(path, "cannot be read to its end")
    return buffer


def identity(descriptor: int) -> tuple[int, ...]:
    """Return what distinguishes a file from every other version of it: none is changed in place.

    It is another one also when others may read the file from now on, or it has another owner.
    """
    return _identity(os.fstat(descriptor))


def present_identity(path: Path | str) -> tuple[int, ...]:
    """Return the identity of the file that is there now, without opening it.

    Whoever read a file and finds the same identity need not check again whose it is.  Raises
    ``KeysUnavailable`` if there is none.  It takes a text, since that of a path is made anew.
    """
    try:
        return _identity(os.stat(path))  # noqa: PTH116 - every request does this
    except OSError as error:
        raise _unreadable(Path(path), error) from error


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (
        *(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns),
        # Although a change of these is one of ``st_ctime``: that counts in ticks of a clock.
        *(status.st_mode, status.st_uid),
    )


def tidy(path: Path) -> None:
    """Remove temporary files that killed processes left.  Raises as ``locked`` does."""
    with locked(path):
        pass


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing a private file between reading and writing it.

    It first removes what killed processes left.  Raises ``KeysUnavailable``.
    """
    try:
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _remove_unfinished(path)
        yield
    finally:
        os.close(descriptor)


def encode_key(key: Key) -> str:
    """Return a key as it is written in a private file."""
    return base64.b64encode(key.material).decode()


def decode_key(path: Path, name: str, text: object) -> Key:
    """Return the key stored under ``name``.  Raises ``KeysUnavailable``, never repeating it."""
    try:
        return Key(base64.b64decode(text if isinstance(text, str) else "", validate=True))
    except ValueError:
        raise malformed(path, f"does not hold {SIZE} bytes in base64 under {name[:32]!r}") from None


def malformed(path: Path, what: str) -> KeysUnavailable:
    """Return the error for a file with the wrong content."""
    return _unavailable(path, f"{what}. Restore the right file from where the keys are kept.")


def _refuse_shared(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise malformed(path, "is not a file")
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077:
        raise _unavailable(
            path,
            f"has mode {mode:04o}, so users other than its owner can use it. Run `chmod 600` on"
            f" it, and replace the keys if others had access.",
        )
    if status.st_uid not in (0, os.geteuid()):
        raise _unavailable(
            path,
            f"belongs to user {status.st_uid}, not to the server's user"
            f" {os.geteuid()}. Run `chown {os.geteuid()}` on it.",
        )


def _json(content: object) -> bytes:
    return json.dumps(content, indent=1).encode() + b"\n"


def _remove_unfinished(path: Path) -> None:
    paths = sorted(path.parent.glob(f"{glob.escape(path.name)}.*{_NEW}"))
    try:
        for unfinished in paths:
            unfinished.unlink()
    except OSError as error:
        raise _unavailable(
            unfinished,
            f"was left by an interrupted write, may hold keys, and cannot be removed"
            f" ({os.strerror(error.errno or 0)}). Remove it by hand, and try again.",
        ) from error
    if paths:
        _sync_folder(path.parent)


def _write(path: Path, parts: Iterable[Buffer]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    # Unbuffered, so that keys are not copied on the way.
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        os.fchmod(file.fileno(), 0o600)  # whatever the umask
        for part in parts:
            with memoryview(part) as view:
                written = 0
                while written < len(view):
                    written += os.write(file.fileno(), view[written:])
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unreadable(path: Path, error: OSError) -> KeysUnavailable:
    if isinstance(error, FileNotFoundError):
        return _unavailable(
            path,
            "is missing. Restore it from where the keys are kept, or run `penstock init` for a"
            " new home.",
        )
    return _unavailable(
        path,
        f"cannot be read ({os.strerror(error.errno or 0)})."
        " Give it to the server's user: chown and chmod 600.",
    )


def _unwritable(path: Path, error: OSError) -> KeysUnavailable:
    return _unavailable(
        path,
        f"cannot be written ({os.strerror(error.errno or 0)}); nothing was changed."
        " Make its folder writable for the server's user, and try again.",
    )


def _unavailable(path: Path, what: str) -> KeysUnavailable:
    # Users over HTTP see the detail, and need not learn where the keys are kept.
    return KeysUnavailable(f"{path.name} {what}", path=str(path))
