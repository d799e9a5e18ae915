"""Test that server and client import each name from the module that defines it.

What a package's ``__init__`` hands on is for those who embed it as a library.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.places import ROOT

SOURCES = (ROOT / "server", ROOT / "clients/python/src")
PACKAGES = ("penstock", "penstock_client")


def file_of(source: Path, module: str) -> Path | None:
    """Return the file of a module or of a package's ``__init__``; None if there is none."""
    place = source / module.replace(".", "/")
    files = (place / "__init__.py", place.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def handed_on(file: Path) -> set[str]:
    """Return the names that a file has from an import, of another module of its package."""
    return {
        alias.asname or alias.name
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGES)
        for alias in node.names
    }


def borrowed(source: Path, path: Path) -> Iterator[str]:
    """Yield the names that a module imports from an ``__init__`` that does not define them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        file = file_of(source, node.module)
        if file is None or file.name != "__init__.py":
            continue
        names = handed_on(file)
        for alias in node.names:
            if file_of(source, f"{node.module}.{alias.name}") is None and alias.name in names:
                yield f"{node.module}.{alias.name}"


def test_every_name_is_imported_from_where_it_is_defined() -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for source in SOURCES
        for path in sorted(source.rglob("*.py"))
        if path.name != "__init__.py" and (names := list(borrowed(source, path)))
    }
    assert found == {}


def test_a_name_that_an_init_hands_on_is_found(tmp_path: Path) -> None:
    package = tmp_path / "penstock"
    package.mkdir()
    (package / "laws.py").write_text("class Gaussian: ...\n")
    (package / "__init__.py").write_text("from penstock.laws import Gaussian\nVERSION = 1\n")
    user = package / "user.py"
    user.write_text("def f():\n    from penstock import VERSION, Gaussian, laws\n")
    assert list(borrowed(tmp_path, user)) == ["penstock.Gaussian"]
