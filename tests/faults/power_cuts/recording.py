"""Define what a process asked the disk for, in order, as ``strace`` saw it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.places import ROOT

PROGRAM = "strace"
PACKAGE = "strace is not installed (apt-get install strace)"
FORBIDDEN = "this machine lets no process trace another"
CALLS = (
    *("open", "openat", "creat", "write", "pwrite64", "writev", "pwritev", "ftruncate"),
    *("truncate", "fallocate", "fsync", "fdatasync", "rename", "renameat", "renameat2"),
    *("unlink", "unlinkat", "link", "linkat", "sync_file_range"),
)
LONGEST = 1 << 24

_LINE = re.compile(r"(\d+)\s+(.*)")
_CALL = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_PLACE = re.compile(r"\d+<([^>]*)>")


@dataclass(frozen=True)
class Call:
    """Hold one system call that succeeded.

    ``began`` is how many calls had ended when it began: what it syncs, at the least.
    ``place`` is the file of its descriptor, ``texts`` the strings that it was given.
    """

    name: str
    began: int
    place: str
    texts: tuple[bytes, ...]
    rest: str
    result: int


def installed() -> bool:
    """Return whether the program that records is there."""
    return shutil.which(PROGRAM) is not None


def available() -> bool:
    """Return whether processes can be recorded here."""
    if not installed():
        return False
    return subprocess.run([PROGRAM, "-o", "/dev/null", "true"], capture_output=True).returncode == 0


def record(trace: Path, module: str, *arguments: object) -> list[Call]:
    """Run a module of these tests under ``strace``, and say what it asked for."""
    done = subprocess.run(
        [
            *(PROGRAM, "-f", "-y", "-xx", "-s", str(LONGEST), "-o", str(trace)),
            *("--seccomp-bpf", "-e", f"trace=?{',?'.join(CALLS)}"),
            *(sys.executable, "-m", module, *map(str, arguments)),
        ],
        cwd=ROOT,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    with trace.open() as lines:
        return list(_calls(lines))


def _calls(lines: Iterator[str]) -> Iterator[Call]:
    begun: dict[str, tuple[int, str]] = {}
    count = 0
    for line in lines:
        found = _LINE.fullmatch(line.rstrip("\n"))
        assert found is not None, line[:200]
        thread, text = found.groups()
        began = count
        if text.endswith("<unfinished ...>"):
            begun[thread] = count, text.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := _RESUMED.match(text):
            began, start = begun.pop(thread)
            text = start + text[resumed.end() :]
        call = _CALL.match(text)
        if call is None or int(call[3]) < 0:
            continue  # it failed, or is a signal or an end
        count += 1
        yield _call(began, call[1], call[2], int(call[3]), text[call.end() :])


def _call(began: int, name: str, arguments: str, result: int, after: str) -> Call:
    if name in ("open", "openat", "creat"):
        place = _PLACE.match(f"{result}{after}")
    else:
        place = _PLACE.match(arguments)
    texts = tuple(_bytes(one) for one in _TEXT.findall(arguments))
    rest = _TEXT.sub("", arguments)
    return Call(name, began, _path(place[1]) if place else "", texts, rest, result)


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _path(text: str) -> str:
    return _bytes(text).decode() if text.startswith("\\x") else text


def numbers(call: Call) -> Sequence[int]:
    """Return the plain numbers among a call's arguments, in order."""
    return [int(one) for one in re.findall(r"(?<=, )\d+(?=,|$)", call.rest)]
