"""Test ``penstock dataset correct`` and ``withdraw``: a wrong declaration is not forever."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.data.stays import SPEC
from tests.unit.cli.program_runs import Run

RIGHT = {"columns": {"town": {"type": "string", "categories": ["northern"]}}}


@pytest.fixture
def wrong(here: Run, tmp_path: Path) -> Run:
    """Register a dataset with a category that its file does not have."""
    (tmp_path / "stays.csv").write_text("person,town\np1,northern\n")
    (tmp_path / "stays.json").write_text(json.dumps(SPEC))
    assert here("dataset", "register", "stays.json").code == 0
    return here


def test_a_declaration_is_corrected_and_withdrawn_from_the_terminal(
    wrong: Run, tmp_path: Path
) -> None:
    (tmp_path / "right.json").write_text(json.dumps(RIGHT))
    done = wrong("dataset", "correct", "stays", "right.json")
    assert done.code == 0
    assert done.out.startswith("stays, version 1, ")
    assert ", declaration 2\n" in done.out
    assert "column town: string, 1 categories" in done.out
    again = wrong("dataset", "correct", "stays", "right.json")
    assert again.code != 0
    assert "declared like this already" in again.err
    gone = wrong("dataset", "withdraw", "stays", "--format", "json")
    assert json.loads(gone.out) == {"dataset": "stays", "version": 1, "newest": None}
    assert "There is no dataset 'stays'" in wrong("dataset", "show", "stays").err
    assert wrong("dataset", "register", "stays.json").code == 0
    assert "stays, version 2" in wrong("dataset", "show", "stays").out
