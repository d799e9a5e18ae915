"""Test that the list of guarantees is held to the code.

What it names exists, and nothing is left out.
"""

import importlib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import Mutant
from tests.support.claims import LISTED, Claim, claims
from tests.support.named_tests import ordinary
from tests.support.places import ROOT

from penstock.mechanisms import MECHANISMS, GeneralizedGaussian

KINDS = (
    "exact",
    "proved with a stated numeric charge",
    "engineering bound",
    "engineered control",
)
KIND = re.compile(rf"(?:{'|'.join(KINDS)})(?:$|[ ,:(])")
STATED = ("guarantee", "cost", "numerical_charges", "increment", "bridge", "plan")
"""What of every mechanism has to stand behind a claim."""


def missing_function(path: str) -> bool:
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return True
            found = getattr(found, part)
        return length < 2
    return True


def missing_test(identifier: str) -> bool:
    path, _, name = identifier.partition("::")
    return name not in ordinary(ROOT / path)


def nightly_test(identifier: str) -> bool:
    """Return whether a test is there, and no case of it runs at every change."""
    path, _, name = identifier.partition("::")
    return not ordinary(ROOT / path).get(name, True)


def untold(row: Claim) -> list[str]:
    """Return what the ordinary suite does not show of a claim that the tests named do."""
    nightly = [test for test in row.tests if nightly_test(test)]
    if nightly and len(nightly) == len(row.tests):
        return [f"{row.id}: the ordinary suite has no test of this claim"]
    return [f"{row.id}: the ordinary suite has no case of {test}" for test in nightly]


def untried(rows: Sequence[Claim], mutants: Sequence[Mutant]) -> Iterator[str]:
    """Yield what keeps each claim from being broken, and found to be, by mutants of its own."""
    known = {mutant.name: mutant for mutant in mutants}
    for row in rows:
        if not row.mutants:
            yield f"{row.id} has no mutant"
        for name in row.mutants:
            if name not in known or known[name].row != row.id:
                yield f"{row.id} has no mutant {name}"
            elif others := set(known[name].tests) - set(row.tests):
                yield f"{row.id}: {name} is tried by {', '.join(sorted(others))}"
    listed = {(row.id, name) for row in rows for name in row.mutants}
    for mutant in mutants:
        if mutant.row and (mutant.row, mutant.name) not in listed:
            yield f"{mutant.name} is of {mutant.row}, which does not name it"


def listing(text: str) -> str:
    """Return each claim, and below it the tests that can fail; of those of the night it is said."""
    lines = []
    for row in claims(text):
        lines.append(f"{row.id} ({' '.join(row.kind.split())})")
        lines += [f"  {test}{' (nightly)' * nightly_test(test)}" for test in row.tests]
    return "\n".join(lines) + "\n"


def faults(text: str) -> list[str]:
    rows = claims(text)
    found = [] if tuple(re.findall(r"(?m)^- \*\*(.*?)\*\*:", text)) == KINDS else ["other kinds"]
    found += [f"{row.id} is listed twice" for row in rows if [r.id for r in rows].count(row.id) > 1]
    for row in rows:
        for part in row.kind.split("; "):
            if not KIND.match(part):
                found.append(f"{row.id}: {part!r} is of no kind")
        if not row.functions or not row.tests:
            found.append(f"{row.id} names no function or no test")
        found += [f"{row.id}: no {path}" for path in row.functions if missing_function(path)]
        found += [f"{row.id}: no {test}" for test in row.tests if missing_test(test)]
        found += untold(row)
    return [*found, *untried(rows, MUTANTS)]


def test_everything_that_the_list_names_exists() -> None:
    assert faults(LISTED.read_text()) == []


def test_the_list_is_read_whole() -> None:
    text = LISTED.read_text()
    assert len(claims(text)) == len(re.findall(r"(?m)^- kept by:", text)) > 30


@pytest.mark.parametrize("kind", [*MECHANISMS.values(), GeneralizedGaussian])
@pytest.mark.parametrize("method", STATED)
def test_every_mechanism_has_its_rows(kind: type, method: str) -> None:
    named = {path for row in claims(LISTED.read_text()) for path in row.functions}
    assert f"{kind.__module__}.{kind.__name__}.{method}" in named


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Gaussian.cost`", "Gaussian.costs`"),
        ("::test_every_level_alone_has_its_exact_law`", "::test_something_else`"),
        ("tests/statistical/processes/test_marginal_law.py", "tests/statistical/test_nothing.py"),
        ("- kind: exact", "- kind: certain"),
        ("- kind: exact", "- kind: exactly"),
        ("- kind: proved with a stated numeric charge", "- kind: proved"),
        ("; engineering bound for vectors", "; convexity is an engineering check for vectors"),
        ("- **engineering bound**", "- **guess**"),
        ("**N2.**", "**N1.**"),
        ("- mutants: ", "- faults: "),
        ("- mutants: `", "- mutants: `un"),
        ("- mutants: `", "- mutants: `gaussian-half-charged`, `"),
    ],
)
def test_a_row_that_names_what_is_not_there_is_found(old: str, new: str) -> None:
    text = LISTED.read_text()
    assert old in text
    assert faults(text.replace(old, new, 1)) != []


@pytest.mark.parametrize(
    "change",
    [
        {"row": "X1"},
        {"row": "N2"},
        {"row": ""},
        {"tests": ("tests/unit/repository/test_guarantees.py::test_the_list_is_read_whole",)},
        {"name": "another"},
    ],
)
def test_a_mutant_that_is_not_that_of_its_row_is_found(change: dict[str, str]) -> None:
    rows = claims(LISTED.read_text())
    first = next(mutant for mutant in MUTANTS if mutant.row == "N1")
    others = [mutant for mutant in MUTANTS if mutant is not first]
    assert list(untried(rows, [first, *others])) == []
    wrong = replace(first, **change)  # type: ignore[arg-type]  # wrong on purpose
    assert list(untried(rows, [wrong, *others])) != []


@pytest.mark.parametrize(
    ("marks", "found"),
    [
        (("", ""), 0),
        (("@pytest.mark.nightly\n", ""), 1),
        (("@pytest.mark.nightly\n", "@pytest.mark.nightly\n"), 1),
    ],
)
def test_a_claim_that_is_shown_at_night_alone_is_found(
    marks: tuple[str, str], found: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    names = ("test_0", "test_1")
    written = zip(marks, names, strict=True)
    text = "\n\n".join(f"{mark}def {name}():\n    ..." for mark, name in written)
    (tmp_path / "test_written.py").write_text(text)
    tests = tuple(f"test_written.py::{name}" for name in names)
    told = untold(Claim("X1", "exact", ("penstock.version",), tests))
    assert len(told) == found
    assert ("has no test of this claim" in "".join(told)) == all(marks)


def test_the_tests_of_each_claim_are_listed() -> None:
    text = LISTED.read_text()
    lines = listing(text).splitlines()
    assert len(lines) == len(claims(text)) + sum(len(row.tests) for row in claims(text))
    assert not [line for line in lines if "(nightly)" in line]


if __name__ == "__main__":
    sys.stdout.write(listing(LISTED.read_text()))
