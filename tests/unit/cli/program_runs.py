"""Run ``penstock`` in this process, or as the real program in its own process."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

HANG_SECONDS = 600.0
"""A time limit that no program reaches, however busy the machine is."""


@dataclass(frozen=True)
class Result:
    """Hold the exit code and the output of a run."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Run(Protocol):
    """Run ``penstock`` with these arguments."""

    def __call__(self, *arguments: str) -> Result: ...


def start(*arguments: str, folder: Path, home: Path | str, **more: Any) -> Result:
    """Run the real program in its own process."""
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
