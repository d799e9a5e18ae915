"""Run ``penstock``: in this process, or as the real program in one of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

HANG_SECONDS = 600.0
"""What no program takes, however busy the machine is."""


@dataclass(frozen=True)
class Result:
    """What a run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Run(Protocol):
    """Runs ``penstock`` with these arguments."""

    def __call__(self, *arguments: str) -> Result: ...


def start(*arguments: str, folder: Path, home: Path | str, **more: Any) -> Result:
    """The real program, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "penstock", *arguments],
        cwd=folder,
        env={**os.environ, "PENSTOCK_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
        **more,
    )
    return Result(done.returncode, done.stdout, done.stderr)
