"""Test what is read of tests without running them.

Which there are, and which run at every change.
"""

from pathlib import Path

import pytest
from tests.support.named_tests import ordinary

NIGHTLY = "pytest.mark.nightly"


def read(text: str, folder: Path) -> dict[str, bool]:
    path = folder / "test_written.py"
    path.write_text(text)
    return dict(ordinary(path))


def test_functions_are_found_in_their_file_alone(tmp_path: Path) -> None:
    text = "def test_one(): ...\ndef other(): ...\nclass TestIt:\n    def test_two(self): ...\n"
    assert read(text, tmp_path) == {"test_one": True, "test_two": True}
    assert dict(ordinary(tmp_path / "test_nothing.py")) == {}


@pytest.mark.parametrize(
    "above",
    [
        f"@{NIGHTLY}",
        "@nightly",
        f"@{NIGHTLY}('why')",
        f"@pytest.mark.slow\n@{NIGHTLY}",
        f"@pytest.mark.parametrize('x', [pytest.param(1, marks={NIGHTLY})])",
        f"@pytest.mark.parametrize('x', (pytest.param(1, marks=[pytest.mark.slow, {NIGHTLY}]),))",
        f"@pytest.mark.parametrize(argnames='x', argvalues=[pytest.param(1, marks={NIGHTLY})])",
        f"@pytest.mark.parametrize('x', [pytest.param(x, marks={NIGHTLY}) for x in (1, 2)])",
        f"@pytest.mark.parametrize('x', [*(pytest.param(x, marks={NIGHTLY}) for x in (1, 2))])",
        f"@pytest.mark.slow\n@pytest.mark.parametrize('x', [pytest.param(1, marks={NIGHTLY})])",
    ],
)
def test_what_runs_at_night_alone_is_not_ordinary(above: str, tmp_path: Path) -> None:
    text = f"{above}\ndef test_one(x=1, y=1): ...\n\ndef test_two(): ...\n"
    assert read(text, tmp_path) == {"test_one": False, "test_two": True}


@pytest.mark.parametrize("mark", [NIGHTLY, f"[pytest.mark.slow, {NIGHTLY}]", f"({NIGHTLY},)"])
def test_a_module_that_runs_at_night_has_nothing_ordinary(mark: str, tmp_path: Path) -> None:
    assert read(f"pytestmark = {mark}\n\ndef test_one(): ...\n", tmp_path) == {"test_one": False}


@pytest.mark.parametrize(
    "above",
    [
        "@pytest.mark.statistical",
        f"@pytest.mark.parametrize('x', [1, pytest.param(2, marks={NIGHTLY})])",
        f"@pytest.mark.parametrize('x', [1, *(pytest.param(x, marks={NIGHTLY}) for x in (2, 3))])",
        "@pytest.mark.parametrize('x', [pytest.param(2, id='two')])",
        "@pytest.mark.parametrize('x', [(1, 2), (2, 3)])",
        "@pytest.mark.parametrize('x', CASES)",
        "@pytest.mark.parametrize('x', [])",
    ],
)
def test_what_has_another_case_is_ordinary(above: str, tmp_path: Path) -> None:
    assert read(f"{above}\ndef test_one(x=1): ...\n", tmp_path) == {"test_one": True}
