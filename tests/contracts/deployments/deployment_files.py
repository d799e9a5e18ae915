"""Read the files of ``deploy/``: what tests of all ways of deployment need."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Final

import click
import pytest
from tests.support.places import ROOT

from penstock.cli.program import commands

DEPLOY: Final = ROOT / "deploy"
INSTALLED: Final = "/opt/penstock/bin/penstock"
"""Where every way of deployment has the program."""


def files() -> list[Path]:
    """Return every file below ``deploy/``, as the project has it."""
    inside = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
    return [path for path in inside if "__pycache__" not in path.parts]


def named_variables(text: str) -> set[str]:
    """Return the variables of Penstock's that a text names, without those of connections."""
    named = set(re.findall(r"\bPENSTOCK_[A-Z0-9_]+[A-Z0-9]\b", text))
    # The operator chooses the names of connections.
    return {name for name in named if not name.startswith("PENSTOCK_CONNECTION")}


def penstock() -> Path:
    """Return the program of the environment that runs the tests."""
    return Path(sys.executable).with_name("penstock")


def program(name: str, package: str) -> str:
    """Return the path of a program; skips outside of continuous integration where there is none."""
    beside = Path(sys.executable).parent
    path = shutil.which(name, path=f"{beside}:{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if path is None:
        reason = f"{name} is not installed ({package})"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def known_command(line: str) -> str:
    """Return the words of a command of Penstock's; fails where it or an option is unknown."""
    words = [word for word in line.split() if re.fullmatch("[a-z][a-z-]*", word)]
    context = click.Context(commands)
    command: click.Command = commands
    taken = []
    for word in words:
        if not isinstance(command, click.Group):
            break
        inner = command.get_command(context, word)
        assert inner is not None, f"penstock {line}: there is no command {word}"
        command = inner
        taken.append(word)
    options = {option for parameter in command.params for option in parameter.opts}
    unknown = {word for word in line.split() if word.startswith("--")} - options
    assert not unknown, f"penstock {line}: there are no options {unknown}"
    return " ".join(taken)
