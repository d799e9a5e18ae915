"""Test both distributions with the lowest versions that they allow, and on each Python they name.

Every night: each takes minutes of downloads and tests.  The versions are those of `pyproject.toml`;
what these need themselves is for pip to choose.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.contracts.distributions import Wheels, checked, pip
from tests.support.places import ROOT

TOOLS = ("hypothesis", "pytest", "pytest-timeout", "pytest-xdist")
"""What the tests below need beside the product."""

TESTS = (
    "tests/unit/services/releases/test_releases.py",
    "tests/unit/services/queries/test_queries.py",
    "tests/unit/connectors/sql",
    "tests/unit/connectors/duckdb/test_source.py",
    "tests/unit/test_settings.py",
    "tests/api/routes",
    "tests/client/test_client.py",
    "tests/client/test_command.py",
)
"""Tests that reach every dependency, and need no program or extra of their own."""


@dataclass(frozen=True)
class Bound:
    """Hold a requirement, and the lowest version that it allows."""

    requirement: Requirement

    @property
    def lowest(self) -> str:
        """Return the requirement of exactly that version."""
        versions = [each.version for each in self.requirement.specifier if each.operator == ">="]
        assert len(versions) == 1, f"{self.requirement} has no lower bound"
        return f"{self.requirement.name}=={versions[0]}"


def bounds(project: Path) -> list[Bound]:
    """Return what a project needs without extras."""
    content = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    return [Bound(Requirement(line)) for line in content["dependencies"]]


def classified(project: Path) -> list[str]:
    """Return the versions of Python that a project says it runs on."""
    content = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    found = (re.fullmatch(r".* Python :: (\d\.\d+)", line) for line in content["classifiers"])
    return [match[1] for match in found if match]


def interpreter(version: str) -> str | None:
    """Return where Python of a version is, by its name on the path; nothing if it is missing."""
    program = shutil.which(f"python{version}")
    if program is None:
        return None
    # One that pyenv provides runs if its version is chosen.
    asked = subprocess.run(
        [program, "-c", "import sys; print(sys.executable)"],
        env={**os.environ, "PYENV_VERSION": version},
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() or None


def assert_tests_pass(folder: Path, python: str, wheels: Wheels, versions: Sequence[str]) -> None:
    """Install both wheels at these versions for an interpreter, and run the tests there."""
    checked([python, "-I", "-m", "venv", "--without-pip", str(folder)])
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(versions))
    both = [str(wheels.server), str(wheels.client)]
    checked([*pip(folder), "install", "-q", "-c", str(constraints), *both, *TOOLS])
    checked([*pip(folder), "check"])
    # Plugins that dependencies bring are for other tests than ours.
    plugins = ["-p", "no:anyio", "-p", "no:cacheprovider"]
    chosen = ["-m", "not nightly and not slow", "--databases=sqlite", *TESTS]
    command = [str(folder / "bin/python"), "-m", "pytest", "-q", "-n", "2", *plugins, *chosen]
    checked(command, cwd=ROOT)


@pytest.mark.nightly
def test_the_lowest_versions_are_enough(wheels: Wheels, tmp_path: Path) -> None:
    lowest = {bound.lowest for project in (ROOT, ROOT / "clients/python") for bound in
              bounds(project)}  # fmt: skip
    assert_tests_pass(tmp_path / "lowest", sys.executable, wheels, sorted(lowest))


@pytest.mark.nightly
@pytest.mark.parametrize("version", classified(ROOT))
def test_each_python_that_is_named_runs_it(version: str, wheels: Wheels, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on the path")
    lock = (ROOT / "requirements.lock").read_text()
    versions = re.findall(r"^([\w.-]+==[^\s;\\]+)", lock, re.MULTILINE)
    assert_tests_pass(tmp_path / version, python, wheels, versions)


@pytest.mark.nightly
def test_a_checkout_is_installed_into_an_empty_environment(wheels: Wheels, tmp_path: Path) -> None:
    """As a newcomer does it: pip provides what the build needs, and nothing else has MkDocs."""
    folder = tmp_path / "newcomer"
    checked([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)])
    both = [str(wheels.source), str(wheels.source / "clients/python")]
    checked([*pip(folder), "install", "-q", "--no-compile", *both])
    (package,) = folder.glob("lib/*/site-packages/penstock")
    assert (package / "site/tutorial/index.html").exists()
    assert list((package / "wheels").glob("penstock_client-*.whl"))
    for program in ("penstock", "penstock-client"):
        checked([str(folder / "bin" / program), "--version"])


def test_both_name_the_same_pythons_and_every_dependency_has_a_lower_bound() -> None:
    client = ROOT / "clients/python"
    assert classified(ROOT) == classified(client) == ["3.11", "3.12", "3.13"]
    shared = {bound.requirement.name: bound.lowest for bound in bounds(ROOT)}
    assert len(shared) > 15
    for bound in bounds(client):
        assert bound.lowest == shared.get(bound.requirement.name, bound.lowest)
