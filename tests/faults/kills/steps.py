"""End a process at a chosen step of what it does.

Steps are named as they are taken, by every thread: every line of the product's files that
are watched, every statement before and after it is sent to the database, every COMMIT, and
every signature, lock, write, sync and rename, before and after.  So no step is left out by a
test's author, and none has to be found again if the product changes.  The product itself has
no such hook.
"""

import fcntl
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from sqlalchemy import Engine, event

import penstock

SEQUENCER = (
    "transparency_log/sequencer.py",
    "transparency_log/tree_store.py",
    "transparency_log/checkpoints.py",
    "transparency_log/witness/file_witness.py",
)
RELEASE = (
    "services/releases/releases.py",
    "services/releases/allowed.py",
    "services/releases/locked_state.py",
    "services/releases/stored_hand_outs.py",
    "services/noise/sealed_state.py",
    "transparency_log/leaves.py",
    "persistence/database.py",
    "mechanisms/multiple_release.py",
    "mechanisms/gaussian/process.py",
    "randomness/normal.py",
    *SEQUENCER,
)
REGISTRATION = (
    "services/queries/registration.py",
    "services/ledger/charges.py",
    "services/ledger/accounts.py",
    "transparency_log/leaves.py",
    "persistence/database.py",
    "mechanisms/multiple_release.py",
    *SEQUENCER,
)

LOG = ("before sign", "after sign", "before pwrite", "before fdatasync", "after fdatasync")
"""Steps of every change: on the way of its leaf into the tree and to the witness."""

ANYWHERE = 7
"""How many steps beside those that matter are tried at every change."""

_CALLS = {
    os.pwrite: "pwrite",
    os.fdatasync: "fdatasync",
    os.fsync: "fsync",
    os.replace: "replace",
    fcntl.flock: "flock",
}


def die() -> None:
    """End the process as ``kill -9`` does."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Steps:
    """End the process at the step called ``named``; a step that comes again has a number.

    The lines of ``files``, paths inside the package, are steps.
    """

    files: tuple[str, ...] = ()
    named: str = ""
    taken: list[str] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)

    def take(self, name: str) -> None:
        """Count a step, or end the process there."""
        # Threads go on side by side, so that each counts its own.
        if threading.current_thread() is not threading.main_thread():
            name = f"{name}, behind"
        self.times[name] += 1
        if self.times[name] > 1:
            name = f"{name} ({self.times[name]})"
        self.taken.append(name)
        if name == self.named:
            die()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take a step at every line of the files, at every statement and at every call."""
        self._listen()
        package = Path(penstock.__file__).parent
        watched = {str(package / file) for file in self.files}

        def line(frame: FrameType, kind: str, _: object) -> object:
            if kind == "line":
                self.take(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
            return line

        def call(frame: FrameType, _: str, __: object) -> object:
            return line if frame.f_code.co_filename in watched else None

        for tracer in (sys, threading):
            tracer.settrace(call)
            tracer.setprofile(self._called)
        try:
            yield
        finally:
            for tracer in (sys, threading):
                tracer.settrace(None)
                tracer.setprofile(None)

    def _called(self, _: FrameType, kind: str, function: object) -> None:
        if kind in ("c_call", "c_return"):
            name = getattr(function, "__name__", "")
            name = "sign" if name == "sign" else _CALLS.get(function, "")  # type: ignore[call-overload]  # any object
            if name:
                self.take(f"{'before' if kind == 'c_call' else 'after'} {name}")

    def _listen(self) -> None:
        def before(*arguments: object) -> None:
            self.take(f"before {_first_words(arguments[2])}")

        def after(*arguments: object) -> None:
            self.take(f"after {_first_words(arguments[2])}")

        event.listen(Engine, "before_cursor_execute", before)
        event.listen(Engine, "after_cursor_execute", after)
        event.listen(Engine, "commit", lambda _: self.take("before COMMIT"))


def chosen(taken: Sequence[str], stride: int) -> list[str]:
    """Return the steps to end at.

    Around all that writes, signs or syncs all of them, elsewhere every ``stride``-th.
    """
    near = {place for place, name in enumerate(taken) if _matters(name)}
    near |= {place + 1 for place in near if place + 1 < len(taken)}
    return [taken[place] for place in sorted(near | set(range(0, len(taken), stride)))]


def landmarks(taken: Sequence[str], within: Sequence[str] = ()) -> list[str]:
    """Return those of the steps that every change is tried with.

    One before all that writes, signs, locks or syncs, those of ``LOG``, the one after each
    COMMIT, one in the middle of each file of ``within``, and a few anywhere.
    """
    near = {place for place, name in enumerate(taken) if _matters(name) and _tells(name)}
    near |= {place + 1 for place, name in enumerate(taken) if name.startswith("before COMMIT")}
    for file in within:
        lines = [place for place, name in enumerate(taken) if name.startswith(file)]
        near.add(lines[len(lines) // 2])
    near |= {*range(0, len(taken), len(taken) // ANYWHERE), len(taken) - 1}
    return [taken[place] for place in sorted(near) if place < len(taken)]


def missing(wanted: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Return those of ``wanted`` that no thread took."""
    return [name for name in wanted if not any(step.startswith(name) for step in taken)]


def _matters(name: str) -> bool:
    return ":" not in name and not name.startswith(("before SELECT", "after SELECT"))


def _tells(name: str) -> bool:
    if name.startswith(LOG):
        return True
    return name.startswith("before ") and not name.startswith("before BEGIN")


def _first_words(statement: object) -> str:
    """Return the first words of a statement: ``INSERT INTO release``, and the like."""
    return " ".join(str(statement).split()[:3])
