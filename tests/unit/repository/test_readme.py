"""Test that READMEs name files that exist, and that the examples of two guides run."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
from tests.support.places import ROOT

from penstock import examples
from penstock.services.schemas.queries import PushedVectorRequest

GUIDES = ROOT / "server/docs/pages/guides"
PACKAGE = "server/penstock/"


def blocks(guide: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (GUIDES / guide).read_text(), re.DOTALL)


def unknown_modules(folder: Path, text: str, tracked: list[str]) -> list[str]:
    """Return the Python files that ``text`` names and that are nowhere around its folder.

    A path may also begin in the repository's root or in the package.
    """
    around = [f"/{path}" for path in tracked if Path(path).is_relative_to(folder.parent)]
    named = set(re.findall(r"`(?:\.\./)*([\w/]+\.py)`", text)) - set(tracked)
    named -= {path.removeprefix(PACKAGE) for path in tracked if path.startswith(PACKAGE)}
    return sorted(name for name in named if not any(path.endswith(f"/{name}") for path in around))


def test_every_module_that_a_guide_names_exists() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = listed.stdout.splitlines()
    unknown = {
        path: unknown_modules(Path(path).parent, (ROOT / path).read_text(), tracked)
        for path in tracked
        # The other two name files of the past, and of another project.
        if path.endswith(".md") and Path(path).name not in {"CHANGELOG.md", "ORIGIN.md"}
    }
    assert {path: names for path, names in unknown.items() if names} == {}


def test_a_module_that_moved_is_missed() -> None:
    tracked = ["tests/faults/kills/test_keys.py", "tests/faults/README.md"]
    text = "`kills/test_keys.py`, `test_keys.py` and `test_kill_keys.py`"
    assert unknown_modules(Path("tests/faults"), text, tracked) == ["test_kill_keys.py"]


def test_the_library_example_runs_and_keeps_what_it_says() -> None:
    (example,) = blocks("library.md", "python")
    names: dict[str, object] = {}
    exec(compile(example, "library.md", "exec"), names)  # noqa: S102 - the guide's own example
    for name, deviation in (("public", 200), ("team", 10), ("partners", 50)):
        values = names[name]
        assert isinstance(values, np.ndarray)
        # Twelve standard deviations: once in 1e32.
        assert np.abs(values - [812, 455, 1290]).max() < 12 * deviation


def test_the_files_that_it_shows_are_the_ones_that_run() -> None:
    assert blocks("run-a-server.md", "csv") == [examples.CSV]
    dataset, query, pushed = blocks("run-a-server.md", "json")
    assert (dataset, query) == (examples.DATASET, examples.QUERY)
    assert PushedVectorRequest.model_validate(json.loads(pushed)).name == "beds"
