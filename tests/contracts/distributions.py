"""Provide the two distributions as others get them: built from what git tracks, installed by pip.

Nothing here can reach the checkout: the wheels are built from a copy of the tracked files,
and what is installed runs in folders and with environment variables of its own.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.places import ROOT

LEFT_BEHIND = (
    "server/penstock/settings.pyc",
    "server/penstock/__pycache__/settings.cpython-311.pyc",
    "migrations/__pycache__/env.cpython-311.pyc",
    "migrations/versions/__pycache__/0001_initial.cpython-311.pyc",
    "clients/python/src/penstock_client/__pycache__/client.cpython-311.pyc",
)
"""What running from a checkout leaves in it, and no wheel may hold."""


@dataclass(frozen=True)
class Wheels:
    """Hold the built files, and the copy of the tracked files that they were built from."""

    server: Path
    client: Path
    source: Path

    def copied(self, below: str) -> Iterator[str]:
        """Yield the names of the tracked files below a folder of the source, or of the one file.

        A link is followed: a wheel has what it leads to under the link's own name.
        """
        start = self.source / below
        below_it = (
            Path(folder, name)
            for folder, _, names in os.walk(start, followlinks=True)
            for name in names
        )
        for path in [start] if start.is_file() else below_it:
            name = path.relative_to(self.source).as_posix()
            if name not in LEFT_BEHIND:
                yield name


@dataclass(frozen=True)
class Installation:
    """Hold a virtual environment with the requested packages and their dependencies."""

    folder: Path

    @property
    def programs(self) -> Path:
        """Return where ``python``, ``penstock`` and the like are."""
        return self.folder / "bin"

    def environment(self, folder: Path, **variables: str) -> dict[str, str]:
        """Return the variables of a newcomer whose home is ``folder``, and none of this process."""
        return {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "LANG": "C.UTF-8",
            # However busy this machine is with other tests, nobody gives up on the log.
            "PENSTOCK_LOG_PATIENCE": "120",
            **variables,
        }

    def done(
        self, *command: str, folder: Path, said: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one of the programs in ``folder``, with ``said`` on its standard input."""
        return subprocess.run(
            [str(self.programs / command[0]), *command[1:]],
            cwd=folder,
            env=self.environment(folder, **variables),
            input=said,
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, *command: str, folder: Path, said: str = "", **variables: str) -> str:
        """Return the standard output of a program that must succeed."""
        done = self.done(*command, folder=folder, said=said, **variables)
        assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stderr}"
        return done.stdout


def build(folder: Path, moment: float | None = None) -> Wheels:
    """Build both wheels from a copy of the tracked files, as somebody else's checkout has them.

    The files are as old as ``moment`` says, if it is given.
    """
    source, built = folder / "source", folder / "dist"
    for name in checked(["git", "ls-files", "-z"], cwd=ROOT).split("\0"):
        # One that was deleted, but not yet for git, is none.
        if name and ((ROOT / name).is_file() or (ROOT / name).is_symlink()):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name, follow_symlinks=False)
    for name in LEFT_BEHIND:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(b"bytecode")
    if moment is not None:
        for path in source.rglob("*"):
            os.utime(path, (moment, moment))
    for project in (source, source / "clients" / "python"):
        # -P: a folder called build where this runs is not the program of that name.
        arguments = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(built)]
        checked([sys.executable, "-P", *arguments, str(project)], cwd=folder)
    return wheels_in(folder)


def wheels_in(folder: Path) -> Wheels:
    """Return what ``build`` left in ``folder``; fails where that is not one wheel each."""
    (server,) = (folder / "dist").glob("penstock-*.whl")
    (client,) = (folder / "dist").glob("penstock_client-*.whl")
    return Wheels(server, client, folder / "source")


def install(folder: Path, wheels: Sequence[Path]) -> None:
    """Install wheels with pip into a new virtual environment, at the locked versions.

    Which packages are installed is for the wheels to say: the lock only says which
    version, so that this fails for reasons of our own alone.
    """
    checked([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)])
    locked = re.findall(r"^([\w.-]+==[^\s;\\]+)", (ROOT / "requirements.lock").read_text(), re.M)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(locked))
    # Most of what is installed is never imported: what is gets its bytecode then.
    wanted = ["--no-compile", "--constraint", str(constraints), *map(str, wheels)]
    checked([*pip(folder), "install", "--quiet", *wanted])
    checked([*pip(folder), "check"])


def pip(folder: Path) -> list[str]:
    """Return the words that begin a command of our own pip over another environment."""
    python = str(folder / "bin" / "python")
    return [sys.executable, "-I", "-m", "pip", "--python", python, "--disable-pip-version-check"]


def checked(command: Sequence[str], cwd: Path | None = None) -> str:
    """Run ``command`` with pip's settings and without Python's, and return what it printed."""
    done = subprocess.run(
        command, cwd=cwd, env=_outside(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def _outside(environment: Mapping[str, str]) -> dict[str, str]:
    dropped = {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"}
    return {name: value for name, value in environment.items() if name not in dropped}
