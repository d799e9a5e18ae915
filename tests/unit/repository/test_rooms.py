"""Test the rooms of the house.

How many modules a folder has, what its map names, what reaches it, and what it imports.
"""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from tests.support.places import ROOT

from penstock.cli.program import COMMANDS

MOST = 12
"""Modules in one folder."""

CROWDED = {"migrations/versions": 25}
"""Folders with more, whose README says why."""

PRELOADED = Path("tests/faults/forks/preload.py")
"""Imports tests, because processes that are forked from it run functions of theirs."""

PACKAGES = {"penstock": ROOT / "server", "penstock_client": ROOT / "clients/python/src"}

ENTRANCES = {
    "penstock": ("penstock.__main__", "penstock.api.__main__", "penstock.application"),
    "penstock_client": ("penstock_client", "penstock_client.command", "penstock_client.offline"),
}
"""What programs, gunicorn and embedders import first."""

BY_NAME = (
    *sorted({place.partition(":")[0] for place in COMMANDS.values()}),
    "penstock.cli.home.launch",
    "penstock.computing.child",
    "penstock.services.computations.job_kinds",
    "penstock.http.intake",
    "penstock.http.intake.malformed",
)
"""What is started by its name, in a process of its own or by gunicorn's configuration."""


@pytest.fixture(scope="module", autouse=True)
def _in_a_checkout() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the rooms are about what git tracks, and this is no checkout")


def modules() -> Iterator[Path]:
    """Yield every Python file that git tracks, relative to the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            yield Path(name)


def test_no_folder_has_more_modules_than_a_room() -> None:
    counts = Counter(
        str(path.parent) for path in modules() if path.stem not in {"__init__", "conftest"}
    )
    too_many = {folder: count for folder, count in counts.items() if count > MOST}
    assert {name for name in too_many if too_many[name] > CROWDED.get(name, MOST)} == set()
    assert set(CROWDED) - set(too_many) == set(), "take them from the list"
    for folder in CROWDED:
        readme = (ROOT / folder).parent / "README.md"
        assert f"more than {MOST} modules" in readme.read_text(), readme


def missing_from_map(package: Path) -> list[str]:
    """Return the modules and packages of a folder that its docstring does not name."""
    text = (package / "__init__.py").read_text()
    docstring = ast.get_docstring(ast.parse(text)) or ""
    named = set(re.findall(r"\w+", " ".join(re.findall(r"``([^`]+)``", docstring))))
    inside = {path.stem for path in package.glob("*.py") if not path.stem.startswith("__")}
    inside |= {path.parent.name for path in package.glob("*/__init__.py")}
    return sorted(inside - named)


def test_every_module_is_named_in_its_packages_map() -> None:
    missing = {
        str(path.parent): found
        for path in modules()
        if path.name == "__init__.py" and path.parts[0] in {"server", "clients"}
        if (found := missing_from_map(ROOT / path.parent))
    }
    assert missing == {}


def test_a_module_that_a_map_does_not_name_is_found(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text('"""Do it.\n\n* ``one``, ``two``  what is known\n"""\n')
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.py").touch()
    assert missing_from_map(tmp_path) == ["three"]


def imported_tests(path: Path) -> list[str]:
    """Return the test modules that a test file imports."""
    names: list[str] = []
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if re.fullmatch(r"tests\.(\w+\.)*test_\w+", name)]


def test_no_test_imports_a_test() -> None:
    """What tests share is in a module of its own, which says what it is."""
    importing = {
        str(path): names
        for path in modules()
        if path.parts[0] == "tests" and path != PRELOADED and (names := imported_tests(path))
    }
    assert importing == {}


def test_a_test_that_is_imported_is_found(tmp_path: Path) -> None:
    file = tmp_path / "test_more.py"
    file.write_text(
        "from tests.unit.repository import test_rooms\n"
        "from tests.unit.repository.test_rooms import MOST\n"
    )
    assert imported_tests(file) == [
        "tests.unit.repository.test_rooms",
        "tests.unit.repository.test_rooms",
    ]


def unreached(package: str) -> set[str]:
    """Return the modules of a package that nothing imports, from where programs begin."""
    graph = grimp.build_graph(package)
    begun = {name for name in (*ENTRANCES[package], *BY_NAME) if name in graph.modules}
    reached = set(begun)
    while begun:
        found = set().union(*(graph.find_modules_directly_imported_by(name) for name in begun))
        parents = {name.rpartition(".")[0] for name in found} - {""}
        begun = (found | parents) - reached
        reached |= begun
    return {name for name in graph.modules if name not in reached and not is_package(name)}


def is_package(name: str) -> bool:
    """Return whether a module is a folder's ``__init__``."""
    top = name.partition(".")[0]
    return (PACKAGES[top] / name.replace(".", "/")).is_dir()


@pytest.mark.parametrize("package", PACKAGES)
def test_something_reaches_every_module(package: str) -> None:
    assert unreached(package) == set()


def cycle(package: str) -> list[str]:
    """Return modules of a package that import each other in a circle; none if there is no circle.

    Imports inside functions and for annotations alone count as well.
    """
    graph = grimp.build_graph(package, cache_dir=None)
    order = TopologicalSorter(
        {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    )
    try:
        order.prepare()
    except CycleError as found:
        return [str(name) for name in found.args[1]]
    return []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_import_each_other(package: str) -> None:
    assert cycle(package) == []


def test_modules_that_import_each_other_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "circular"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "inner" / "__init__.py").touch()
    (folder / "inner" / "one.py").write_text("def f():\n    from circular.two import y\n")
    (folder / "two.py").write_text("from circular.inner.one import f\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert set(cycle("circular")) == {"circular.inner.one", "circular.two"}
