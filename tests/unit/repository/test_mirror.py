"""Test that nine of ten modules have a test file of their name in the mirrored folder."""

import ast
import subprocess
from collections.abc import Collection
from pathlib import PurePosixPath

import pytest
from tests.support.places import ROOT

SERVER = PurePosixPath("server/penstock")
CLIENT = PurePosixPath("clients/python/src/penstock_client")

PLACES = {
    "api": "tests/api",
    "http": "tests/api/http",
    "openid": "tests/api/openid",
    "tracing": "tests/api/tracing",
    "web": "tests/web",
}
"""Where those packages of the server are tested that answer HTTP; others are in ``tests/unit``."""


@pytest.fixture(scope="module")
def files() -> set[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("the mirror is about what git tracks, and this is no checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    return {name for name in names if not is_empty_test(name, (ROOT / name).read_text())}


def is_empty_test(name: str, text: str) -> bool:
    """Return whether a file has the name of a test, but not one test function."""
    return PurePosixPath(name).name.startswith("test_") and not any(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for node in ast.walk(ast.parse(text))
    )


def place_of(module: PurePosixPath) -> str:
    """Return the path of the test file that mirrors a module."""
    name = f"test_{module.name}"
    if module.is_relative_to(CLIENT):
        return str(PurePosixPath("tests/client", module.relative_to(CLIENT).parent, name))
    inside = module.relative_to(SERVER)
    if len(inside.parts) == 1:
        return f"tests/unit/{name}"
    package, *folders = inside.parts[:-1]
    return str(PurePosixPath(PLACES.get(package, f"tests/unit/{package}"), *folders, name))


def modules_in(files: Collection[str]) -> list[PurePosixPath]:
    """Return the modules of server and client, without ``__init__`` and ``__main__``."""
    paths = map(PurePosixPath, sorted(files))
    return [
        path
        for path in paths
        if (path.is_relative_to(SERVER) or path.is_relative_to(CLIENT))
        and not path.name.startswith("__")
    ]


def without_a_test(files: Collection[str]) -> list[str]:
    return [str(module) for module in modules_in(files) if place_of(module) not in files]


def test_nine_of_ten_modules_have_a_test_of_their_name(files: set[str]) -> None:
    """The others declare types or data, or are tested where they are used."""
    missing = without_a_test(files)
    assert 10 * len(missing) <= len(modules_in(files)), missing


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("server/penstock/figures.py", "tests/unit/test_figures.py"),
        ("server/penstock/privacy/target.py", "tests/unit/privacy/test_target.py"),
        ("server/penstock/api/routes/tiers.py", "tests/api/routes/test_tiers.py"),
        ("server/penstock/http/counting/counters.py", "tests/api/http/counting/test_counters.py"),
        ("server/penstock/web/forms/choices.py", "tests/web/forms/test_choices.py"),
        ("clients/python/src/penstock_client/client.py", "tests/client/test_client.py"),
        ("clients/python/src/penstock_client/_log/tree.py", "tests/client/_log/test_tree.py"),
    ],
)
def test_a_test_lies_where_its_module_would(module: str, place: str) -> None:
    assert place_of(PurePosixPath(module)) == place


def test_a_module_without_a_test_is_found() -> None:
    files = {
        "server/penstock/figures.py",
        "server/penstock/web/__init__.py",
        "tests/unit/worlds.py",
    }
    assert without_a_test(files) == ["server/penstock/figures.py"]
    assert without_a_test({*files, "tests/unit/test_figures.py"}) == []


@pytest.mark.parametrize(
    ("text", "is_empty"),
    [
        ("", True),
        ('"""Test it."""\n\nfrom penstock import figures\n', True),
        ("def figures() -> None: ...\n", True),
        ("def test_a_figure() -> None: ...\n", False),
        ("class TestFigures:\n    def test_one(self) -> None: ...\n", False),
    ],
)
def test_a_test_file_without_a_test_is_found(text: str, is_empty: bool) -> None:
    assert is_empty_test("tests/unit/test_figures.py", text) == is_empty
    assert not is_empty_test("tests/unit/worlds.py", text)
