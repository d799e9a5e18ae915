"""Test that every notebook runs from top to bottom, against one server: three of them by night."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.distributions import Installation
from tests.contracts.running import free_port, running
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

FOLDER = ROOT / "clients/python/notebooks"
BY_NIGHT = {"regression-by-tier", "streams", "auditing"}
NOTEBOOKS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.nightly] * (path.stem in BY_NIGHT))
    for path in sorted(FOLDER.glob("*.ipynb"))
]

EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
print(sum(len(cell.get("outputs", ())) for cell in notebook.cells))
"""

TIERS = (("public", ()), ("internal", ("--above", "public")))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield the variables of a notebook, with a server at work."""
    folder = tmp_path_factory.mktemp("notebooks") / "served"
    folder.mkdir()
    areas = ("north", "south", "west")
    rows = [f"p{i},{areas[i % 3]},{i % 80 + 10},{i % 80 // 20 + 1}" for i in range(3000)]
    (folder / "visits.csv").write_text("person,area,age,visits\n" + "\n".join(rows) + "\n")
    installation = Installation(Path(sys.prefix))

    def typed(*words: str) -> str:
        return installation.run(
            "penstock", *words, folder=folder, PENSTOCK_DATA_FOLDER=str(folder)
        ).strip()

    typed("init")
    for tier, more in TIERS:
        typed("tier", "create", tier, *more)
    for user, role in (("root", "admin"), ("olga", "auditor")):
        typed("user", "create", user, "--role", role)
    port = free_port()
    variables = installation.environment(
        folder,
        PENSTOCK_DATA_FOLDER=str(folder),
        PENSTOCK_URL=f"http://127.0.0.1:{port}",
        PENSTOCK_ADMIN_TOKEN=typed("token", "create", "root"),
        PENSTOCK_AUDITOR_TOKEN=typed("token", "create", "olga"),
    )
    served = {
        name: value
        for name, value in variables.items()
        if name not in {"PENSTOCK_URL", "PENSTOCK_ADMIN_TOKEN", "PENSTOCK_AUDITOR_TOKEN"}
    }
    command = [str(installation.programs / "penstock"), "serve", "--workers", "1"]
    with running([*command, "--port", str(port)], folder, served, port):
        yield variables


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


def test_there_are_six_and_they_are_stored_without_outputs() -> None:
    paths = sorted(FOLDER.glob("*.ipynb"))
    assert len(paths) == 6
    for path in paths:
        for cell in json.loads(path.read_text())["cells"]:
            assert not cell.get("outputs")
            assert cell.get("execution_count") is None


def test_the_notebooks_need_nothing_of_this_process() -> None:
    assert "PENSTOCK_ADMIN_TOKEN" not in os.environ
