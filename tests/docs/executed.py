"""Run the notebooks of the Python client against a server.

``python -m tests.docs.executed`` stores what their cells show, after a change of the client.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from tests.contracts.distributions import Installation
from tests.contracts.running import free_port, running
from tests.docs.blocks import PAGES, blocks_of
from tests.support.places import ROOT

from penstock.cli import program

FOLDER = ROOT / "clients/python/notebooks"

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
print(nbformat.writes(notebook))
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


@contextmanager
def serving(place: Path) -> Iterator[dict[str, str]]:
    """Yield the variables of a notebook, with a server at work in a new folder of ``place``."""
    folder = place / "served"
    folder.mkdir()
    for made in (VISITS, AGES):
        subprocess.run([sys.executable, "-c", made], cwd=folder, check=True)
    installation, port = Installation(Path(sys.prefix)), free_port()
    served = installation.environment(folder, PENSTOCK_DATA_FOLDER=str(folder))
    with chdir(folder), patch.dict(os.environ, served):
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
        if program.run(words):
            raise RuntimeError(f"penstock {words} failed")
    return printed.getvalue().strip()


def run(path: Path, environment: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Return a notebook with what its cells show, run in a process of its own in ``folder``."""
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(path)],
        cwd=folder,
        env={**environment, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    notebook: dict[str, Any] = json.loads(done.stdout)
    return notebook


def kinds(notebook: Mapping[str, Any]) -> list[set[str]]:
    """Return the kinds of what each cell of code shows: text that is printed, or types of media."""
    return [
        {kind for output in cell["outputs"] for kind in output.get("data", {"printed": ""})}
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def store(path: Path, shown: Mapping[str, Any]) -> None:
    """Store what cells show in a notebook, and nothing of the machine that ran it."""
    notebook = json.loads(path.read_text())
    for cell, ran in zip(notebook["cells"], shown["cells"], strict=True):
        if cell["cell_type"] == "code":
            cell |= {key: ran[key] for key in ("outputs", "execution_count")}
    text = json.dumps(notebook, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Run all notebooks, and store what they show."""
    with TemporaryDirectory() as place, serving(Path(place)) as variables:
        for path in sorted(FOLDER.glob("*.ipynb")):
            store(path, run(path, variables, Path(place)))


if __name__ == "__main__":
    main()
