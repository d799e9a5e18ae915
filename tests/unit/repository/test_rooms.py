"""Test the rooms of the house.

How many modules a folder has, what its map names, and what modules import.
"""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from tests.support.places import ROOT

MOST = 12
"""Modules in one folder; one of revisions alone, each of which stays for good, has no bound."""

PACKAGES = {"penstock": ROOT / "server", "penstock_client": ROOT / "clients/python/src"}

LOADERS = {"__import__", "import_module", "run_module", "run_path", "spec_from_file_location"}
"""Functions that import what a text names."""


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


def is_revision(path: Path) -> bool:
    """Return whether a module is a step of the schema, which Alembic finds in one folder."""
    declared = {
        target.id
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {"revision", "down_revision"} <= declared


def crowded(paths: Iterable[Path]) -> dict[str, int]:
    """Return the folders with too many modules, which are not all revisions, and how many."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        if path.stem not in {"__init__", "conftest"}:
            folders.setdefault(path.parent, []).append(path)
    return {
        str(folder): len(inside)
        for folder, inside in folders.items()
        if len(inside) > MOST and not all(is_revision(path) for path in inside)
    }


def test_no_folder_has_more_modules_than_a_room() -> None:
    assert crowded(ROOT / path for path in modules()) == {}
    rules = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    assert f"No folder has more than {MOST} modules" in rules
    readme = (ROOT / "migrations" / "README.md").read_text()
    assert f"`versions` has more than {MOST} modules" in readme


def test_a_crowded_folder_is_found_unless_all_of_it_are_revisions(tmp_path: Path) -> None:
    paths = [tmp_path / f"room_{number}.py" for number in range(MOST + 1)]
    for path in paths:
        path.write_text('revision = "1"\ndown_revision = None\n')
    assert crowded(paths) == {}
    paths[0].write_text("revision = 1\n")
    assert crowded(paths) == {str(tmp_path): MOST + 1}
    assert crowded(paths[1:]) == {}


def content(package: Path) -> dict[str, bool]:
    """Return what lies in a folder, and whether a map must name it."""
    return {
        (path.stem if path.suffix == ".py" else path.name): path.suffix == ".py"
        or any(path.rglob("*.py"))
        for path in package.iterdir()
        if not path.name.startswith("__")
    }


def map_of(package: Path) -> str:
    """Return the docstring of a folder; empty where there is none."""
    file = package / "__init__.py"
    return (ast.get_docstring(ast.parse(file.read_text())) if file.exists() else None) or ""


def missing_from_map(package: Path) -> list[str]:
    """Return the modules and packages of a folder that its docstring does not name."""
    named = set(re.findall(r"\w+", " ".join(re.findall(r"``([^`]+)``", map_of(package)))))
    return sorted({name for name, is_due in content(package).items() if is_due} - named)


def mapped_in_vain(package: Path) -> list[str]:
    """Return the names at the head of a map's lines that nothing in the folder has."""
    named = []
    for line in map_of(package).splitlines():
        if head := re.match(r"\* ((?:``[^`]+``(?:, )?)+)", line):
            named += re.findall(r"[\w.]+", head[1])
    return sorted(set(named) - set(content(package)))


def folders() -> list[Path]:
    """Return the folders of server and client that have modules, or a folder that has."""
    tops = [ROOT / "server/penstock", ROOT / "clients/python/src/penstock_client"]
    found = {
        parent
        for path in modules()
        for parent in (ROOT / path).parents
        if any(parent.is_relative_to(top) for top in tops)
    }
    return sorted(found)


def test_every_module_is_named_in_its_packages_map() -> None:
    assert {str(path): found for path in folders() if (found := missing_from_map(path))} == {}


def test_every_map_names_modules_that_exist() -> None:
    assert {str(path): found for path in folders() if (found := mapped_in_vain(path))} == {}


def test_every_folder_of_modules_is_a_package() -> None:
    """Tools that look for packages do not see other folders."""
    assert [str(path) for path in folders() if not (path / "__init__.py").exists()] == []


def test_what_a_map_does_not_name_and_what_it_names_in_vain_is_found(tmp_path: Path) -> None:
    lines = ("* ``one``, ``two``  what is known", "* ``gone, four.json``  more", "  as ``five``")
    (tmp_path / "__init__.py").write_text('"""Do it.\n\n' + "\n".join(lines) + '\n"""\n')
    (tmp_path / "inner" / "deep").mkdir(parents=True)
    for name in ("one.py", "two.py", "three.py", "four.json", "inner/deep/six.py"):
        (tmp_path / name).touch()
    assert missing_from_map(tmp_path) == ["inner", "three"]
    assert mapped_in_vain(tmp_path) == ["gone"]
    assert missing_from_map(tmp_path / "inner") == ["deep"]


def imported_tests(path: Path) -> list[str]:
    """Return the test modules that a test file imports, also by a text that names or is code."""
    names: list[str] = []
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.ImportFrom):
            names += [f"{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and called(node) in LOADERS:
            names += texts(node)
        elif isinstance(node, ast.Assign) and "pytest_plugins" in ast.unparse(node.targets[0]):
            names += texts(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names += re.findall(r"(?m)^\s*(?:from|import)\s.*\btest_\w+", node.value)
    return [name for name in names if re.search(r"\btest_\w+", name)]


def called(call: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    return ast.unparse(call.func).rpartition(".")[2]


def texts(node: ast.AST) -> list[str]:
    """Return the texts in a part of a program."""
    return [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def test_no_test_imports_a_test() -> None:
    """What tests share is in a module of its own, which says what it is."""
    importing = {
        str(path): names
        for path in modules()
        if path.parts[0] == "tests" and (names := imported_tests(path))
    }
    assert importing == {}


@pytest.mark.parametrize(
    "line",
    [
        "from tests.unit import {name}",
        "from tests.unit.{name} import MOST",
        "from unit.repository.{name} import MOST",
        "from . import {name}",
        "import tests.unit.{name} as other",
        "import {name}",
        "def late():\n    from tests.unit import {name}",
        "importlib.import_module('tests.unit.{name}')",
        "import_module(name='tests.unit.{name}')",
        "__import__('{name}')",
        "runpy.run_module('tests.unit.{name}')",
        "runpy.run_path(str(ROOT / 'tests/unit/{name}.py'))",
        "util.spec_from_file_location('other', 'tests/unit/{name}.py')",
        "pytest_plugins = ['tests.unit.{name}']",
        "CHILD = 'import sys\\nfrom tests.unit import {name}'",
    ],
)
def test_a_test_that_is_imported_is_found(tmp_path: Path, line: str) -> None:
    file = tmp_path / "more.py"
    file.write_text(line.format(name="test_" + "rooms"))
    assert len(imported_tests(file)) == 1
    file.write_text(line.format(name="rooms"))
    assert imported_tests(file) == []


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
