"""Test what others wrote: named, licensed, and byte for byte what they published."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.web.http.static_files import FOLDER, SERVED

VENDOR = FOLDER / "vendor"
MANIFEST: dict[str, Any] = json.loads((VENDOR / "manifest.json").read_text())
NPM = Path(__file__).parent / "npm"


def test_every_vendored_file_is_in_the_manifest() -> None:
    listed = {name for entry in MANIFEST.values() for name in entry["files"]}
    assert listed | {"manifest.json"} == {path.name for path in VENDOR.iterdir()}


@pytest.mark.parametrize("name", sorted(MANIFEST))
def test_every_vendored_file_has_its_hash(name: str) -> None:
    entry = MANIFEST[name]
    assert entry["licence"] == "0BSD"
    assert any("LICENSE" in file for file in entry["files"])
    for file, listed in entry["files"].items():
        assert hashlib.sha256((VENDOR / file).read_bytes()).hexdigest() == listed["sha256"], file


@pytest.mark.parametrize("name", sorted(MANIFEST))
def test_what_is_vendored_is_the_package_that_npm_has_under_that_version(name: str) -> None:
    entry = MANIFEST[name]
    locked = json.loads((NPM / "package-lock.json").read_text())["packages"]
    assert locked[f"node_modules/{entry['package']}"]["version"] == entry["version"]
    package = NPM / "node_modules" / entry["package"]
    if not package.is_dir():
        pytest.skip("needs npm ci in tests/web/npm")
    for file, listed in entry["files"].items():
        assert (package / listed["from"]).read_bytes() == (VENDOR / file).read_bytes(), file


def test_whatever_is_served_is_used() -> None:
    """Pages stay small by not carrying along what nothing asks for."""
    templates = "".join(path.read_text() for path in FOLDER.parents[1].rglob("templates/**/*.html"))
    for path in FOLDER.rglob("*"):
        if path.suffix in SERVED:
            assert path.name in templates, path.name
