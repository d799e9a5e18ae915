"""Test that the owner's program in the guide of the mechanisms runs unchanged."""

import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.places import ROOT

README = ROOT / "server/penstock/mechanisms/owners_disk.md"


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)
    return str(found)


class Owner:
    """Provide a folder with the program in it, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "share.py").write_text(block("python"))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "share.py", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def told(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pulse(self, recipient: str, epsilon: str) -> float:
        told = self.told("give", recipient, epsilon)
        assert told.startswith(f"For {recipient}, at epsilon {epsilon}: ")
        return float(told.split(": ")[1].split()[0])

    @property
    def state(self) -> Path:
        return self.folder / "pulse.state"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    owner = Owner(tmp_path_factory.mktemp("begun"))
    owner.told("begin", "72")
    return owner.folder


@pytest.fixture
def owner(begun: Path, tmp_path: Path) -> Owner:
    """Return the owner of a copy of the folder in which the program has begun."""
    return Owner(shutil.copytree(begun, tmp_path / "owner"))


@pytest.mark.slow
def test_what_the_readme_types_shares_and_raises(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    typed = [line.split()[2:] for line in block("sh").splitlines()]
    assert typed[-1] == ["give", "study", "4"]
    before = {}
    for arguments in typed:
        told = owner.told(*arguments)
        if arguments[0] == "give":
            before[tuple(arguments)] = told
    # In another process and in another order: every number is the one that was given.
    for arguments_given, told in reversed(before.items()):
        assert owner.told(*arguments_given) == told


def test_numbers_are_as_far_off_as_their_epsilon_says(owner: Owner) -> None:
    # Beyond 40 scales once in 1e17.
    assert abs(owner.pulse("doctor", "20") - 72) < 40 * 3
    assert abs(owner.pulse("study", "1") - 72) < 40 * 60


def test_the_disk_holds_the_state_sealed_and_the_key_is_the_owners_alone(owner: Owner) -> None:
    assert b"PENSTOCK" not in owner.state.read_bytes()
    assert b"laplace" not in owner.state.read_bytes()
    assert stat.S_IMODE((owner.folder / "pulse.key").stat().st_mode) == 0o600


def test_an_altered_state_is_refused_and_stays_as_it_is(owner: Owner) -> None:
    altered = bytearray(owner.state.read_bytes())
    altered[-1] ^= 1
    owner.state.write_bytes(altered)
    done = owner.run("give", "study", "1")
    assert done.returncode != 0
    assert "IntegrityViolation" in done.stderr
    assert owner.state.read_bytes() == altered


def test_nobody_begins_twice_or_gets_more_than_the_ceiling(owner: Owner) -> None:
    kept = owner.state.read_bytes()
    assert "FileExistsError" in owner.run("begin", "72").stderr
    assert "draw the anchor, or raise it" in owner.run("give", "doctor", "21").stderr
    assert owner.state.read_bytes() == kept
    assert "share.py begin PULSE" in owner.run("help").stderr


def test_the_library_loads_nothing_of_the_server() -> None:
    others = {"flask", "sqlalchemy", "sqlmodel", "click", "duckdb", "pydantic"}
    program = (
        "import sys, penstock.mechanisms, penstock.accounting\n"
        f"print({others} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
