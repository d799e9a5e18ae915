"""Provide a process that does one thing in a home, and is ended at a step of it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.faults import processes
from tests.faults.kills.steps import Steps

Act = Callable[[Path, Steps, Path], None]


def decisive(taken: Sequence[str]) -> list[str]:
    """Return the steps between which file, rows and log differ."""
    wanted = ("before COMMIT", "after COMMIT", "before replace", "after replace")
    return [step for step in taken if step.startswith(wanted)]


def killed(home: Path, act: Act, steps: Steps) -> list[str] | None:
    """Run a task that is to end at a step, and return its steps if it did not end there."""
    taken, errors = home.with_name("taken"), home.with_name("errors")
    worker = processes.start(errors, act, home, steps, taken)
    return None if worker.was_killed() else list(json.loads(taken.read_text()))
