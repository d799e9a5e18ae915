"""Provide a folder that is filled once for all test processes."""

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def made_once(folder: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """Yield a folder filled by ``make``, once for all processes, and gone with the last of them.

    Several test processes share it: installing takes long, and hundreds of megabytes.
    """
    folder.mkdir(exist_ok=True)
    made, users = folder / "made", folder / "users"
    with _locked(users) as file:
        if not file.read():
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir()
            make(made)
        file.write("one\n")
    try:
        yield made
    finally:
        with _locked(users) as file:
            others = file.readlines()[1:]
            file.seek(0)
            file.truncate()
            file.writelines(others)
            if not others:
                shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[IO[str]]:
    """Yield the file at ``path``, read from its start, while no other process has it."""
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        yield file
