"""Provide a copy of the product that is made wrong and whole again, and tests that run with it."""

import compileall
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Final, Self

from tests.mutants.mutant import PRODUCT, Mutant
from tests.support.named_tests import NIGHTLY
from tests.support.places import ROOT

BESIDE: Final = ("migrations", "deploy")
"""What the product finds beside its folder in a checkout."""

PATIENCE_SECONDS: Final = 3600.0
"""Ends a run that hangs, and decides nothing else."""

_PLUGIN: Final = "penstock_of_this_run"
_ASKED_FOR: Final = "PENSTOCK_OF_THIS_RUN"
_CHECK: Final = f'''"""Ends a run that would test another product than it is meant for."""

import os

import penstock


def pytest_configure() -> None:
    assert penstock.__file__.startswith(os.environ["{_ASKED_FOR}"]), penstock.__file__
'''

_SIZES: Final = ("NIGHTLY", "GENERATED_CASES", "FUZZ_CASES", "FAULTS_")
"""How variables begin by which a night makes tests larger than what runs at every change."""

_TAIL: Final = 3000
"""How many characters of what pytest said last are told."""

_FAILED: Final = re.compile(r"(?m)^(?:FAILED|ERROR) (.+?)(?: - .*)?$")


@dataclass(frozen=True)
class Ran:
    """Hold how tests ended: the first that failed, none if all passed."""

    failed: str | None
    seconds: float


@dataclass
class Workspace:
    """Hold the product's copy in ``folder``; ``tests`` is the root of the tests' checkout."""

    folder: Path
    tests: Path = ROOT
    _python: str = field(default=sys.executable)

    @classmethod
    @contextmanager
    def made(cls, tests: Path = ROOT) -> "Iterator[Self]":
        """Yield a workspace as long as the block lasts."""
        with tempfile.TemporaryDirectory(prefix="penstock-mutants-") as name:
            folder = Path(name).resolve()
            left_out = shutil.ignore_patterns("__pycache__")
            for part in (PRODUCT, *BESIDE):
                shutil.copytree(ROOT / part, folder / part, ignore=left_out)
            (folder / "server" / f"{_PLUGIN}.py").write_text(_CHECK)
            # Known by their content: a file is changed and put back within one second.
            compileall.compile_dir(
                folder / "server", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH
            )
            yield cls(folder, tests)

    @contextmanager
    def wrong(self, mutant: Mutant) -> Iterator[None]:
        """Let the copy have a fault as long as the block lasts."""
        path = self.folder / PRODUCT / mutant.path
        whole = path.read_text()
        path.write_text(mutant.applied(whole))
        try:
            yield
        finally:
            path.write_text(whole)

    def known(self, tests: Sequence[str]) -> list[str]:
        """Return those of ``tests`` whose files this checkout has."""
        return [test for test in tests if (self.tests / test.partition("::")[0]).exists()]

    def run(self, tests: Sequence[str]) -> Ran:
        """Run ``tests`` with the copy, up to the first that fails.

        Raises ``RuntimeError`` where they did not run: a product that cannot be imported is
        no mutant.
        """
        ours = self.known(tests)
        if not ours:
            raise RuntimeError(f"{self.tests} has none of {', '.join(tests)}")
        before = _children()
        ended = subprocess.run(
            self.command(ours),
            cwd=self.tests,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
        seconds = _children() - before
        if ended.returncode not in (0, 1):
            said = f"{ended.stdout[-_TAIL:]}\n{ended.stderr[-_TAIL:]}"
            raise RuntimeError(f"pytest ended with {ended.returncode}:\n{said}")
        failed = _FAILED.search(ended.stdout)
        return Ran(None if ended.returncode == 0 else failed[1] if failed else "?", seconds)

    def command(self, tests: Sequence[str]) -> list[str]:
        """Say what runs ``tests`` of the ordinary suite, up to the first that fails."""
        # An older checkout may not know the marker, and pytest refuses one that is unknown.
        chosen = ("-m", f"not {NIGHTLY}") if NIGHTLY in self._markers() else ()
        return [
            *(self._python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"),
            *("-p", _PLUGIN, *chosen, "--color=no", *tests),
        ]

    def _markers(self) -> set[str]:
        """Return the markers that the checkout of the tests declares."""
        path = self.tests / "pyproject.toml"
        told = tomllib.loads(path.read_text()) if path.is_file() else {}
        options = told.get("tool", {}).get("pytest", {}).get("ini_options", {})
        return {re.split(r"[:(]", line)[0].strip() for line in options.get("markers", [])}

    def environment(self) -> dict[str, str]:
        """Return what makes Python, and what that starts, take the copy for the product."""
        left_out = ("PYTEST_", *_SIZES)
        kept = {name: text for name, text in os.environ.items() if not name.startswith(left_out)}
        folder = str(self.folder / "server")
        path = [folder, *filter(None, [kept.get("PYTHONPATH")])]
        return {**kept, "PYTHONPATH": os.pathsep.join(path), _ASKED_FOR: folder}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
