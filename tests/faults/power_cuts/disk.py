"""Provide a disk that keeps what was synced, and of the rest whatever a power cut happens to leave.

It promises no more than POSIX does: a file's content is safe once the file was synced, its
name once its folder was.  Writes in between may be lost, kept, kept in another order, or kept
in part (by sectors).  Renaming is atomic: the old name or the new one, never neither.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from numpy.random import Generator
from tests.faults.power_cuts.recording import Call, numbers

SECTOR = 512


@dataclass(frozen=True)
class Write:
    """Hold ``data`` that is written at ``offset``; if it is ``None``, the file ends there."""

    number: int
    offset: int
    data: bytes | None

    def onto(self, content: bytearray) -> None:
        """Apply the write to ``content``; a hole is filled with zeros."""
        if self.data is None:
            del content[self.offset :]
        end = self.offset + len(self.data or b"")
        content.extend(bytes(max(0, end - len(content))))
        if self.data is not None:
            content[self.offset : end] = self.data

    @property
    def can_tear(self) -> bool:
        return self.data is not None and len(self.data) > 1

    def torn(self, choice: Generator) -> "Write":
        """Return the first sectors of the write, or the last ones."""
        if self.data is None or not self.can_tear:
            return self
        first = (self.offset // SECTOR + 1) * SECTOR - self.offset
        ends = range(first, len(self.data), SECTOR) or [len(self.data) // 2]
        end = int(choice.choice(list(ends)))
        if choice.integers(2):
            return Write(self.number, self.offset, self.data[:end])
        return Write(self.number, self.offset + end, self.data[end:])


@dataclass(frozen=True)
class Left:
    """Hold what a cut leaves of a file, and whether that ends in the middle of a write."""

    content: bytes
    is_torn: bool


@dataclass
class File:
    """Hold what is safe of a file, and what was written since."""

    safe: bytearray = field(default_factory=bytearray)
    pending: list[Write] = field(default_factory=list)
    size: int = 0

    def write(self, number: int, offset: int, data: bytes | None) -> None:
        self.pending.append(Write(number, offset, data))
        end = offset + len(data or b"")
        self.size = end if data is None else max(self.size, end)

    def sync(self, began: int) -> None:
        for write in self.pending:
            if write.number < began:
                write.onto(self.safe)
        self.pending = [write for write in self.pending if write.number >= began]

    def left(self, choice: Generator) -> "Left":
        """Return what a cut leaves."""
        content = bytearray(self.safe)
        survivors = _survivors(self.pending, choice)
        for write in survivors:
            write.onto(content)
        whole = {id(write) for write in self.pending}
        return Left(bytes(content), any(id(write) not in whole for write in survivors))


@dataclass
class Folder:
    """Hold the names in a folder: the safe ones, and what became of them since."""

    safe: dict[str, File] = field(default_factory=dict)
    now: dict[str, File] = field(default_factory=dict)
    pending: list[tuple[int, Mapping[str, File | None]]] = field(default_factory=list)

    def change(self, number: int, names: Mapping[str, File | None]) -> None:
        self.pending.append((number, names))
        _rename(self.now, names)

    def sync(self, began: int) -> None:
        for number, names in self.pending:
            if number < began:
                _rename(self.safe, names)
        self.pending = [one for one in self.pending if one[0] >= began]

    def left(self, choice: Generator) -> dict[str, File]:
        """Return the names that a cut leaves."""
        names = dict(self.safe)
        kept = choice.integers(len(self.pending) + 1)
        for _, change in self.pending[:kept]:
            _rename(names, change)
        return names


class Disk:
    """Hold the folders below ``root`` as they are, and then what calls do to them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[Path, Folder] = {}
        for path in (root, *root.rglob("*")):
            if path.is_dir():
                self._folders[path] = Folder()
        for path in root.rglob("*"):
            if path.is_file():
                content = bytearray(path.read_bytes())
                file, folder = File(content, size=len(content)), self._folders[path.parent]
                folder.safe[path.name] = folder.now[path.name] = file
        self._places: dict[str, int] = {}
        self._count = 0

    def do(self, call: Call) -> str:
        """Take a call in; return what it did, or nothing if it is about another place."""
        self._count += 1
        number = self._count - 1
        if call.name in ("rename", "renameat", "renameat2"):
            return self._renamed(number, *(Path(text.decode()) for text in call.texts))
        if call.name in ("unlink", "unlinkat"):
            return self._unlinked(number, Path(call.texts[0].decode()))
        path = Path(call.place)
        if path in self._folders and call.name in ("fsync", "fdatasync"):
            self._folders[path].sync(call.began)
            return "sync folder"
        # SQLite's index of its log is memory: whoever opens it first makes it again.
        if path.parent not in self._folders or path.name.endswith("-shm"):
            return ""
        folder = self._folders[path.parent]
        if call.name in ("open", "openat", "creat"):
            return self._opened(number, folder, path, call.rest)
        file = folder.now[path.name]
        match call.name:
            case "write":
                file.write(number, self._places[call.place], call.texts[0][: call.result])
                self._places[call.place] += call.result
            case "pwrite64":
                length, offset = numbers(call)
                assert length == len(call.texts[0])
                file.write(number, offset, call.texts[0][: call.result])
            case "ftruncate":
                (size,) = numbers(call)
                file.write(number, size, None)
            case "fsync" | "fdatasync":
                file.sync(call.began)
            case _:
                raise AssertionError(f"{call.name} of {path.name} is not understood")
        return f"{call.name} {path.name}"

    @property
    def can_tear(self) -> bool:
        """Return whether anything is being written of which a cut can leave a part."""
        files = [file for folder in self._folders.values() for file in folder.now.values()]
        return any(write.can_tear for file in files for write in file.pending)

    def leave(self, root: Path, choice: Generator, *, torn: bool = False) -> bool:
        """Make under ``root`` what a power cut leaves now; return whether a write is torn.

        With ``torn`` one is.
        """
        left = self._left(choice)
        while torn and not any(file.is_torn for file in left.values()):
            left = self._left(choice)
        for path in self._folders:
            (root / path.relative_to(self._root)).mkdir(mode=0o700, exist_ok=True)
        for path, file in left.items():
            place = root / path.relative_to(self._root)
            place.write_bytes(file.content)
            place.chmod(0o600)
        return any(file.is_torn for file in left.values())

    def _left(self, choice: Generator) -> dict[Path, Left]:
        return {
            path / name: file.left(choice)
            for path, folder in self._folders.items()
            for name, file in folder.left(choice).items()
        }

    def _opened(self, number: int, folder: Folder, path: Path, rest: str) -> str:
        if "O_CREAT" in rest and path.name not in folder.now:
            folder.change(number, {path.name: File()})
            done = f"create {path.name}"
        elif "O_TRUNC" in rest:
            folder.now[path.name].write(number, 0, None)
            done = f"truncate {path.name}"
        else:
            return ""
        self._places[str(path)] = 0
        return done

    def _renamed(self, number: int, old: Path, new: Path) -> str:
        if old.parent not in self._folders:
            return ""
        assert old.parent == new.parent
        folder = self._folders[old.parent]
        folder.change(number, {old.name: None, new.name: folder.now[old.name]})
        return f"rename {old.name}"

    def _unlinked(self, number: int, path: Path) -> str:
        if path.parent not in self._folders or path.name.endswith("-shm"):
            return ""
        self._folders[path.parent].change(number, {path.name: None})
        return f"unlink {path.name}"


def _rename(names: dict[str, File], change: Mapping[str, File | None]) -> None:
    for name, file in change.items():
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


def _survivors(pending: Sequence[Write], choice: Generator) -> Sequence[Write]:
    """Return none of what was not synced, all of it, some of it, or a part of the last."""
    if not pending:
        return ()
    match choice.integers(5):
        case 0:
            return ()
        case 1:
            return pending
        case 2:
            return [write for write in pending if choice.integers(2)]
        case 3:
            kept = pending[: 1 + int(choice.integers(len(pending)))]
            return [*kept[:-1], kept[-1].torn(choice)]
        case _:
            return [
                write if choice.integers(2) else write.torn(choice)
                for write in pending
                if choice.integers(3)
            ]
