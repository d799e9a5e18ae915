"""Provide a home in a temporary folder, and run the program on it."""

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Result, Run
from tests.unit.sites import SITES, VISITS

from penstock.cli import program

TIERS = ("public", "partner", "internal")
PEOPLE = (("pia", "public"), ("paul", "partner"), ("ines", "internal"))


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder; return PENSTOCK_HOME, a home that does not exist yet."""
    for name in list(os.environ):
        if name.startswith("PENSTOCK_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    monkeypatch.setenv("PENSTOCK_HOME", str(home))
    monkeypatch.setenv("PENSTOCK_DATA_FOLDER", str(tmp_path))
    return home


@pytest.fixture
def run(bare: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the program in this process, on the home of ``bare``."""

    def run(*arguments: str) -> Result:
        capfd.readouterr()
        code = program.run(arguments)
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with tiers, people, a dataset and a query, which the program made once."""
    folder = tmp_path_factory.mktemp("model")
    home = folder / "home"
    (folder / "sites.json").write_text(json.dumps(SITES))
    (folder / "visits.json").write_text(json.dumps(VISITS))
    commands = [
        ("init",),
        *(("tier", "create", tier) for tier in TIERS),
        *(
            ("user", "create", name, "--role", "analyst", "--clearance", tier)
            for name, tier in PEOPLE
        ),
        ("user", "create", "ada", "--role", "admin"),
        ("user", "create", "otto", "--role", "auditor"),
        ("dataset", "register", str(folder / "sites.json")),
        ("query", "register", str(folder / "visits.json")),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENSTOCK_HOME", str(home))
        for command in commands:
            assert program.run(command) == 0, command
    return home


@pytest.fixture
def furnished(bare: Path, model: Path) -> Path:
    """Return a copy of ``model`` that a test may change."""
    shutil.copytree(model, bare)
    return bare


@pytest.fixture
def here(run: Run, furnished: Path) -> Run:
    """Return a function that runs the program on a furnished home."""
    return run
