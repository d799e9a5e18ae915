"""Test that every notebook runs from top to bottom, and shows what is stored: three by night."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import linear_regression

import pytest
from tests.docs import executed
from tests.docs.executed import FOLDER

pytestmark = pytest.mark.slow

BY_NIGHT = {"regression-by-tier", "streams", "auditing"}
NOTEBOOKS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.nightly] * (path.stem in BY_NIGHT))
    for path in sorted(FOLDER.glob("*.ipynb"))
]
OWN = re.compile(r"pst_|/tmp|/home|127[.]0[.]0[.]1|localhost")
"""What outputs are not to tell of the machine that they were made on."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield the variables of a notebook, with a server at work."""
    with executed.serving(tmp_path_factory.mktemp("notebooks")) as variables:
        yield variables


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_runs_and_shows_what_is_stored(
    path: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    shown = executed.run(path, environment, tmp_path)
    stored = json.loads(path.read_text())
    # Numbers have noise; what kinds of things each cell shows does not depend on it.
    assert executed.kinds(shown) == executed.kinds(stored)


def test_the_slope_that_the_text_says_is_that_of_the_file(environment: dict[str, str]) -> None:
    text = (Path(environment["PENSTOCK_DATA_FOLDER"]) / "ages.csv").read_text()
    rows = [[float(cell) for cell in line.split(",")[1:]] for line in text.splitlines()[1:]]
    slope = linear_regression(*zip(*rows, strict=True)).slope
    said = (FOLDER / "regression-by-tier.ipynb").read_text()
    assert f"visits rise by {slope:.3f} with each year of age" in said


def test_there_are_six_and_they_are_stored_with_outputs() -> None:
    paths = sorted(FOLDER.glob("*.ipynb"))
    assert len(paths) == 6
    for path in paths:
        cells = [one for one in json.loads(path.read_text())["cells"] if "outputs" in one]
        assert [one["execution_count"] for one in cells] == list(range(1, len(cells) + 1))
        outputs = json.dumps([one["outputs"] for one in cells])
        assert len(outputs) > 100
        assert not OWN.search(outputs)


def test_the_notebooks_need_nothing_of_this_process() -> None:
    assert "PENSTOCK_ADMIN_TOKEN" not in os.environ
