"""Test that every notebook runs from top to bottom, against one server: three of them by night."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import linear_regression

import pytest
from tests.contracts.distributions import Installation
from tests.contracts.running import free_port, running
from tests.docs.blocks import PAGES, blocks_of
from tests.support.places import ROOT

from penstock.cli import program

pytestmark = pytest.mark.slow

FOLDER = ROOT / "clients/python/notebooks"
BY_NIGHT = {"regression-by-tier", "streams", "auditing"}
NOTEBOOKS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.nightly] * (path.stem in BY_NIGHT))
    for path in sorted(FOLDER.glob("*.ipynb"))
]

VISITS = next(b.content for b in blocks_of(PAGES / "tutorial.md") if b.detail == "make_visits.py")
"""The program by which the tutorial makes up a file."""

AGES = re.findall(
    r"```python\n(.*?)```",
    "".join(json.loads((FOLDER / "regression-by-tier.ipynb").read_text())["cells"][0]["source"]),
    re.DOTALL,
)[0]
"""The program by which a notebook says that its file is made up."""

EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
print(sum(len(cell.get("outputs", ())) for cell in notebook.cells))
"""

SET_UP = (
    ("init",),
    ("tier", "create", "public"),
    ("tier", "create", "internal", "--above", "public"),
    ("user", "create", "root", "--role", "admin"),
    ("user", "create", "olga", "--role", "auditor"),
    ("token", "create", "root"),
    ("token", "create", "olga"),
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield the variables of a notebook, with a server at work."""
    folder = tmp_path_factory.mktemp("notebooks") / "served"
    folder.mkdir()
    for made in (VISITS, AGES):
        subprocess.run([sys.executable, "-c", made], cwd=folder, check=True)
    installation, port = Installation(Path(sys.prefix)), free_port()
    served = installation.environment(folder, PENSTOCK_DATA_FOLDER=str(folder))
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        for name, value in served.items():
            patched.setenv(name, value)
        tokens = [typed(*words) for words in SET_UP][-2:]
    command = [str(installation.programs / "penstock"), "serve", "--workers", "1"]
    with running([*command, "--port", str(port)], folder, served, port):
        yield {
            **served,
            "PENSTOCK_URL": f"http://127.0.0.1:{port}",
            "PENSTOCK_ADMIN_TOKEN": tokens[0],
            "PENSTOCK_AUDITOR_TOKEN": tokens[1],
        }


def typed(*words: str) -> str:
    """Run a command of the operator in this process, and return what it prints."""
    with redirect_stdout(StringIO()) as printed:
        assert program.run(words) == 0
    return printed.getvalue().strip()


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_a_notebook_runs(path: Path, environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(path)],
        cwd=tmp_path,
        env={**environment, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= 1


def test_the_slope_that_the_text_says_is_that_of_the_file(environment: dict[str, str]) -> None:
    text = (Path(environment["PENSTOCK_DATA_FOLDER"]) / "ages.csv").read_text()
    rows = [[float(cell) for cell in line.split(",")[1:]] for line in text.splitlines()[1:]]
    slope = linear_regression(*zip(*rows, strict=True)).slope
    said = (FOLDER / "regression-by-tier.ipynb").read_text()
    assert f"visits rise by {slope:.3f} with each year of age" in said


def test_there_are_six_and_they_are_stored_without_outputs() -> None:
    paths = sorted(FOLDER.glob("*.ipynb"))
    assert len(paths) == 6
    for path in paths:
        for cell in json.loads(path.read_text())["cells"]:
            assert not cell.get("outputs")
            assert cell.get("execution_count") is None


def test_the_notebooks_need_nothing_of_this_process() -> None:
    assert "PENSTOCK_ADMIN_TOKEN" not in os.environ
