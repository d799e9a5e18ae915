"""Test that SECURITY.md is held to the tree: each promise has a test, which is there."""

import re
import sys
from pathlib import Path

import pytest
from tests.support.named_tests import ordinary
from tests.support.places import ROOT

LISTED = ROOT / "SECURITY.md"
SECTIONS = (
    "Reporting",
    "Who is who",
    "Promises",
    "What is not promised",
    "What is stored where",
    "Operating it",
)
NOT_CLAIMED = (
    "Losses of different queries still add up",
    "People who appear in two datasets lose in both",
    "`released` is an after-the-fact figure",
    "The state of streams and of sparse histograms is exact",
)
"""What nobody may read into the promises."""


def sections(text: str) -> dict[str, str]:
    """Return what stands under each heading of the second level."""
    parts = re.split(r"(?m)^## (.+)$", text)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def faults(text: str) -> list[str]:
    """Return what is wrong with the list of promises."""
    found = [f"no section {name}" for name in SECTIONS if name not in sections(text)]
    found += [f"not said: {words}" for words in NOT_CLAIMED if words not in text]
    for heading, rows in promises(text).items():
        if not heading.startswith("To ") or ", against " not in heading:
            found.append(f"{heading!r} does not say to whom and against whom")
        for row in rows:
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            if len(cells) != 3 or not all(cells):
                found.append(f"{row!r} is not a promise, what keeps it, and its tests")
                continue
            named = re.findall(r"`(tests/[^`]+)`", cells[2])
            if not named:
                found.append(f"{cells[0]!r} has no test")
            found += [f"no tests in {name}" for name in named if not ordinary(ROOT / name)]
            if not any(any(ordinary(ROOT / name).values()) for name in named):
                found.append(f"{cells[0]!r}: the ordinary suite has no test of this claim")
    return found


def promises(text: str) -> dict[str, list[str]]:
    """Return the rows of each table of promises, by its heading."""
    parts = re.split(r"(?m)^### (.+)$", sections(text).get("Promises", ""))[1:]
    return {
        heading: [line for line in body.splitlines() if line.startswith("|")][2:]
        for heading, body in zip(parts[::2], parts[1::2], strict=True)
    }


def test_each_promise_names_tests_that_there_are() -> None:
    assert faults(LISTED.read_text()) == []


def test_the_promises_are_read_whole() -> None:
    text = LISTED.read_text()
    found = promises(text)
    assert len(found) >= 4
    rows = sum(len(rows) for rows in found.values())
    assert rows == len(re.findall(r"(?m)^\|.*`tests/", text)) > 30


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("`tests/api/sight/test_hidden_and_missing.py`", "`tests/api/test_hindsight.py`"),
        ("`tests/api/sight/test_hidden_and_missing.py`", "`tests/api/conftest.py`"),
        ("`tests/api/http/test_cursors.py`", "a look"),
        ("`tests/api/http/test_cursors.py`", "`tests/api`"),
        ("cursors are sealed and bound to their list", ""),
        (", against strangers", ", and strangers"),
        ("## What is not promised", "## More"),
        (NOT_CLAIMED[1], "People are in one dataset"),
    ],
)
def test_a_promise_without_its_test_is_found(old: str, new: str) -> None:
    text = LISTED.read_text()
    assert old in text
    assert faults(text.replace(old, new)) != []


@pytest.mark.parametrize(("mark", "fault"), [("", False), ("pytestmark = nightly\n", True)])
def test_a_promise_that_is_shown_at_night_alone_is_found(
    mark: str, fault: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = LISTED.read_text()
    for name in re.findall(r"`(tests/[^`]+)`", text):
        written = tmp_path / name
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text("def test_it(): ...\n")
    (tmp_path / "tests/api/http/test_cursors.py").write_text(f"{mark}def test_it(): ...\n")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert [one.partition(": ")[2] for one in faults(text)] == [
        "the ordinary suite has no test of this claim"
    ] * fault
