"""The mutants are as many as they are said to be, fit the product, and die.

That they die is tried every night: each is a run of pytest of its own.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import PRODUCT, Mutant
from tests.mutants.workspace import ROOT, Workspace
from tests.support.named_tests import ordinary

FEWEST = 60


def faults(mutant: Mutant) -> list[str]:
    """What keeps a mutant from being run."""
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
    """Whether the ordinary suite has a case of a test, or of one in a file."""
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
        {"tests": ("tests/unit/test_guarantees.py::test_nothing",)},
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
        "CODE = 'from penstock.accounting.ledger import Entry; print(Entry(1, 1) + Entry(1, 1))'\n"
        "def test_it():\n"
        "    found = subprocess.run([sys.executable, '-c', CODE], capture_output=True, text=True)\n"
        "    assert 'failure=2' in found.stdout\n"
    )
    outside = replace(workspace, tests=tmp_path)
    mutant = next(one for one in MUTANTS if one.name == "failures-not-added")
    with workspace.wrong(mutant):
        assert outside.run(["test_written.py"]).failed == "test_written.py::test_it"
    assert outside.run(["test_written.py"]).failed is None


@pytest.mark.nightly
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_ordinary_suite_kills(mutant: Mutant, workspace: Workspace) -> None:
    with workspace.wrong(mutant):
        ran = workspace.run(mutant.tests)
    assert ran.failed is not None, mutant.wrong
