"""Test that the mutants are as many as they are said to be, fit the product, and die.

That they die is tried every night: each is a run of pytest of its own.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import PRODUCT, Mutant
from tests.mutants.workspace import Workspace
from tests.support.named_tests import ordinary
from tests.support.places import ROOT

FEWEST = 60


def faults(mutant: Mutant) -> list[str]:
    """Return what keeps a mutant from being run."""
    path = ROOT / PRODUCT / mutant.path
    if not path.is_file():
        return [f"{mutant.name}: there is no {mutant.path}"]
    found = []
    if path.read_text().count(mutant.before) != 1:
        found.append(f"{mutant.name}: its text does not stand once in {mutant.path}")
    if mutant.after == mutant.before or not mutant.wrong or not mutant.tests:
        found.append(f"{mutant.name}: nothing goes wrong, or nothing would find it")
    return found + [f"{mutant.name}: no {test}" for test in mutant.tests if not runs(test)]


def runs(test: str) -> bool:
    """Return whether the ordinary suite has a case of a test, or of one in a file."""
    path, _, name = test.partition("::")
    known = ordinary(ROOT / path)
    return known.get(name, False) if name else any(known.values())


def test_every_mutant_fits_the_product_and_names_tests() -> None:
    assert [fault for mutant in MUTANTS for fault in faults(mutant)] == []


def test_there_are_as_many_as_are_asked_for_each_by_one_name() -> None:
    assert len(MUTANTS) >= FEWEST
    assert max(Counter(mutant.name for mutant in MUTANTS).values()) == 1
    assert len({(mutant.path, mutant.before, mutant.after) for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize(
    "change",
    [
        {"path": "services/nothing.py"},
        {"before": "this stands nowhere"},
        {"before": "\n"},
        {"after": MUTANTS[0].before},
        {"tests": ()},
        {"tests": ("tests/unit/test_nothing.py",)},
        {"tests": ("tests/unit/repository/test_guarantees.py::test_nothing",)},
    ],
)
def test_a_mutant_that_cannot_be_run_is_found(change: dict[str, str]) -> None:
    assert faults(replace(MUTANTS[0], **change)) != []  # type: ignore[arg-type]  # wrong on purpose


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    with Workspace.made() as made:
        yield made


def test_tests_run_with_the_copy_while_it_is_wrong(workspace: Workspace, tmp_path: Path) -> None:
    """What they import is the copy, and what they start as well."""
    written = tmp_path / "test_written.py"
    written.write_text(
        "import subprocess, sys\n"
        "CODE = ('from penstock.accounting.charging.ledger import Entry as E;'\n"
        "        ' print(E(1, 1) + E(1, 1))')\n"
        "def test_it():\n"
        "    found = subprocess.run([sys.executable, '-c', CODE], capture_output=True, text=True)\n"
        "    assert 'failure=2' in found.stdout\n"
    )
    outside = replace(workspace, tests=tmp_path)
    mutant = next(one for one in MUTANTS if one.name == "failures-not-added")
    with workspace.wrong(mutant):
        assert outside.run(["test_written.py"]).failed == "test_written.py::test_it"
    assert outside.run(["test_written.py"]).failed is None


DECLARED = "[tool.pytest.ini_options]\nmarkers = ['slow: takes long', 'nightly: by count']\n"


@pytest.mark.parametrize(
    ("project", "chosen"),
    [
        (DECLARED, ["not nightly"]),
        (DECLARED.replace("nightly", "nightly2"), []),
        ("[project]\nname = 'older'\n", []),
        (None, []),
    ],
)
def test_a_checkout_is_asked_for_a_marker_that_it_declares_alone(
    tmp_path: Path, project: str | None, chosen: list[str]
) -> None:
    if project is not None:
        (tmp_path / "pyproject.toml").write_text(project)
    command = Workspace(tmp_path / "copy", tmp_path).command(["test_written.py"])
    assert [after for one, after in pairwise(command[3:]) if one == "-m"] == chosen
    assert command[-1] == "test_written.py"


def test_this_checkout_is_asked_for_the_ordinary_suite() -> None:
    assert "not nightly" in Workspace(ROOT).command(["tests"])


def test_a_night_makes_the_tests_that_try_mutants_no_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Look at all that the Makefile exports to the night."""
    exported = re.findall(r"(?m)^nightly: export (\w+) = (\w+)$", (ROOT / "Makefile").read_text())
    sizes = dict(exported)
    assert {"NIGHTLY", "GENERATED_CASES", "FAULTS_KILLS"} <= sizes.keys()
    for name, size in sizes.items():
        monkeypatch.setenv(name, size)
    monkeypatch.setenv("KEPT", "yes")
    environment = Workspace(tmp_path).environment()
    assert sizes.keys() & environment.keys() == set()
    assert environment["KEPT"] == "yes"


def test_why_pytest_does_not_run_is_told(workspace: Workspace, tmp_path: Path) -> None:
    """Look for what pytest says where errors go."""
    (tmp_path / "test_written.py").write_text("")
    (tmp_path / "pyproject.toml").write_text(DECLARED + "addopts = ['--unheard-of']\n")
    with pytest.raises(RuntimeError, match=r"(?s)ended with 4:.*--unheard-of"):
        replace(workspace, tests=tmp_path).run(["test_written.py"])


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_ordinary_suite_kills(mutant: Mutant, workspace: Workspace) -> None:
    with workspace.wrong(mutant):
        ran = workspace.run(mutant.tests)
    assert ran.failed is not None, mutant.wrong
