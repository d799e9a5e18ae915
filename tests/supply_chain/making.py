"""Run the Makefile's targets with the programs of this environment, into a folder of one's own."""

import subprocess
import sys
from pathlib import Path

from tests.support.places import ROOT


def make(target: str, build: Path, **variables: str) -> None:
    """Make a target that writes into ``build``; the virtual environment is taken as it is."""
    subprocess.run(
        [
            "make",
            "--old-file=.venv/.installed",
            f"BIN={Path(sys.executable).parent}",
            f"BUILD={build}",
            *(f"{name}={value}" for name, value in variables.items()),
            target,
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
