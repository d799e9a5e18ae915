"""Define what children know in these tests: computations that end well, badly, late or never."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from penstock.errors import InvalidInput

REMEMBERED: list[str] = []


def wait(asked: Any) -> str:
    """Say that it is reached by one file, and wait for another one."""
    Path(asked["reached"]).touch()
    while not Path(asked["open"]).exists():
        time.sleep(0.005)
    return "let go"


def spin(_: Any) -> None:
    while True:
        pass


def fill(asked: Any) -> int:
    return len(bytearray(asked))


def refuse(_: Any) -> None:
    raise InvalidInput("No.", pointer="/here", largest=3)


def die(_: Any) -> None:
    os._exit(1)


def surroundings(_: Any) -> dict[str, Any]:
    """Return what a child could know: its environment, its open files, its folder."""
    files = {
        str(path): str(path.readlink())
        for path in Path("/proc/self/fd").iterdir()
        if path.is_symlink()
    }
    return {"environment": dict(os.environ), "files": files, "pid": os.getpid()}


def remember(asked: str) -> list[str]:
    REMEMBERED.append(asked)
    return list(REMEMBERED)


JOBS: Mapping[str, Callable[[Any], Any]] = {
    one.__name__: one for one in (wait, spin, fill, refuse, die, surroundings, remember)
}


def forget() -> None:
    REMEMBERED.clear()
