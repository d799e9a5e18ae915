"""Ending a process at a chosen step of what it does.

Steps are counted as they are taken: every line of the product's files that are watched,
every statement before and after it is sent to the database, and every COMMIT.  So no
step is left out by whoever wrote the test, and none has to be found again when the
product changes.  It stands outside of the product, which knows no such hook.
"""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from sqlalchemy import Engine, event

import penstock

RELEASE = (
    "services/releases.py",
    "services/lookup.py",
    "services/held.py",
    "services/state.py",
    "services/log.py",
    "persistence/database.py",
    "mechanisms/path.py",
    "mechanisms/gaussian.py",
    "randomness/normal.py",
)
REGISTRATION = (
    "services/registration.py",
    "services/charging.py",
    "services/accounts.py",
    "services/log.py",
    "persistence/database.py",
    "mechanisms/path.py",
)


def die() -> None:
    """What ``kill -9`` does."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Steps:
    """Ends the process at the step of number ``last``, or at the first called ``named``.

    The lines of ``files``, paths inside the package, are steps.
    """

    files: tuple[str, ...] = ()
    last: int = 0
    named: str = ""
    taken: list[str] = field(default_factory=list)

    def take(self, name: str) -> None:
        """Count a step, or end the process there."""
        self.taken.append(name)
        if len(self.taken) == self.last or name == self.named:
            die()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take a step at every line of the files and at every statement."""
        self._listen()
        package = Path(penstock.__file__).parent
        watched = {str(package / file) for file in self.files}

        def line(frame: FrameType, kind: str, _: object) -> object:
            if kind == "line":
                self.take(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
            return line

        def call(frame: FrameType, _: str, __: object) -> object:
            return line if frame.f_code.co_filename in watched else None

        sys.settrace(call)  # type: ignore[arg-type]  # its type names itself, which ours cannot
        try:
            yield
        finally:
            sys.settrace(None)

    def _listen(self) -> None:
        def before(*arguments: object) -> None:
            self.take(f"before {_first_words(arguments[2])}")

        def after(*arguments: object) -> None:
            self.take(f"after {_first_words(arguments[2])}")

        event.listen(Engine, "before_cursor_execute", before)
        event.listen(Engine, "after_cursor_execute", after)
        event.listen(Engine, "commit", lambda _: self.take("before COMMIT"))


def chosen(taken: Sequence[str], stride: int) -> list[int]:
    """The numbers of the steps to end at.

    Around every statement and COMMIT all of them, elsewhere every ``stride``-th.
    """
    near = {number for number, name in enumerate(taken, start=1) if ":" not in name}
    near |= {number + 1 for number in near if number < len(taken)}
    return sorted(near | set(range(1, len(taken) + 1, stride)))


def _first_words(statement: object) -> str:
    """``INSERT INTO release``, and the like."""
    return " ".join(str(statement).split()[:3])
