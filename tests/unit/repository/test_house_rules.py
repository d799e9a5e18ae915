"""Test the rules of the house that no other tool checks: sizes, edges, words, settings."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from tests.support.places import ROOT

from penstock.setting_sources import load
from penstock.settings import (
    PREFIX,
    Settings,
)

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
GENERATED = {"clients/typescript/src/schema.ts"}
READ = {".py", ".ts", ".R"}
"""Endings of the names of files that people read and write."""


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def sources() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".py"]


@cache
def parts(path: Path) -> tuple[dict[str, int], set[int]]:
    """Return functions of a file with their lines, and the lines that catch everything."""
    functions, wide = {}, set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            functions[f"{node.name} in line {node.lineno}"] = lines
        elif isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type is not None else "BaseException"
            if re.search(r"\b(BaseException|Exception)\b", caught):
                wide.add(node.lineno)
    return functions, wide


@pytest.fixture(scope="module", autouse=True)
def _in_a_checkout() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the rules are about what git tracks, and this is no checkout")


def test_no_file_is_too_long_to_read() -> None:
    long = {
        name: lines
        for path in tracked()
        if path.suffix in READ and (name := str(path.relative_to(ROOT))) not in GENERATED
        if (lines := path.read_text().count("\n")) > LONGEST_FILE
    }
    assert long == {}


def test_only_long_files_are_excused() -> None:
    assert all((ROOT / name).read_text().count("\n") > LONGEST_FILE for name in GENERATED)


def test_no_function_is_too_long_to_read() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{name} has {lines} lines"
        for path in sources()
        for name, lines in parts(path)[0].items()
        if lines > LONGEST_FUNCTION
    ]
    assert long == []


def test_everything_is_caught_at_the_two_edges_alone() -> None:
    wide = {
        str(path.relative_to(ROOT))
        for path in sources()
        if parts(path)[1] and "tests" not in path.relative_to(ROOT).parts
    }
    edges = {
        "server/penstock/http/edge.py",
        "server/penstock/cli/program.py",
        "clients/python/src/penstock_client/command.py",
    }
    assert wide <= edges, f"a wide except away from the edges: {sorted(wide - edges)}"


# Written in parts, so that this file does not contain what it looks for.
FORBIDDEN = [
    "/wo" + r"rk/",
    "/tm" + "p/(?:scratch|plan)",
    r"\bshared" + r"/(?:design|papers|contract)",
    r"(?i)\bdesign (?:page|document)",
    r"(?i)\bthe design\b",
    r"(?i)\bissue #?\d",
    r"(?i)\bfarm-" + "bench",
    r"(?i)pypi\.org/simple|files\.pythonhosted|/opt/" + "pypi",
    r"(?i)\b(?:claude|chatgpt|language model|co-authored-by)\b",
]


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_the_repository_speaks_of_the_project_alone(pattern: str) -> None:
    found = []
    for path in tracked():
        if path == Path(__file__) or path.suffix in {".parquet", ".png", ".xz"}:
            continue
        text = path.read_text()
        for match in re.finditer(pattern, text):
            number = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]}")
    assert found == []


# The marks of git, and of jj: those are longer where a file has such lines itself.
MERGED = re.compile(
    rb"^[ \t]*(?:<{7,}|>{7,}|[|]{7,}|%{7,}|[+]{7,}|={7}|-{7,}(?= [A-Z]))(?:[ \t].*)?\r?$",
    re.MULTILINE,
)


@pytest.mark.parametrize(
    "line",
    [
        "=" * 7,
        "=" * 7 + "\r",
        "    " + "=" * 7,
        "\t" + "<" * 7 + " HEAD",
        ">" * 7 + " a branch\r",
        "|" * 7 + " the parent",
        "<" * 7 + " Conflict 1 of 2",
        "<" * 11 + " Conflict 1 of 2",
        "%" * 7 + " Changes from base to side #1",
        "+" * 7 + " Contents of side #2",
        "-" * 7 + " Contents of base",
        ">" * 7 + " Conflict 1 of 2 ends",
    ],
)
def test_a_mark_of_a_merge_is_found(line: str) -> None:
    assert MERGED.search(f"one\n{line}\ntwo".encode())


@pytest.mark.parametrize("line", ["-" * 7, "=" * 12, "a " + "<" * 7, "<<<<", "| " * 7])
def test_a_line_of_another_kind_is_no_mark_of_a_merge(line: str) -> None:
    assert not MERGED.search(f"one\n{line}\ntwo".encode())


def test_no_merge_was_left_half_done() -> None:
    left = [path for path in tracked() if MERGED.search(path.read_bytes())]
    assert left == []


def test_every_setting_is_documented_with_its_default() -> None:
    table = (ROOT / "deploy/settings.md").read_text()
    _, provenance = load({}, None)
    for setting in provenance:
        row = next(
            (line for line in table.splitlines() if f"`{PREFIX}{setting.name.upper()}`" in line),
            None,
        )
        assert row is not None, f"{setting.name} is missing"
        assert setting.sentence in row
        shown = setting.value or "empty"
        assert f"`{shown}`" in row or shown in row, f"{setting.name}: {shown}"


def test_the_guides_name_no_setting_that_does_not_exist() -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    others = {"PENSTOCK_CONFIG", "PENSTOCK_URL", "PENSTOCK_TOKEN", "PENSTOCK_DEBUG"}
    for guide in (ROOT / "README.md", *(ROOT / "deploy").glob("*.md")):
        named = set(re.findall(r"PENSTOCK_[A-Z0-9_]+[A-Z0-9]", guide.read_text()))
        # The operator chooses the names of connections.
        named = {name for name in named if not name.startswith("PENSTOCK_CONNECTION")}
        unknown = named - others - known
        # The value of some settings may be in a file that PENSTOCK_..._FILE names.
        assert {name.removesuffix("_FILE") for name in unknown} <= known, guide


def test_every_folder_of_the_package_says_what_it_is() -> None:
    for path in (ROOT / "server/penstock").rglob("__init__.py"):
        documented = ast.get_docstring(ast.parse(path.read_text()))
        assert documented, f"{path.relative_to(ROOT)} has no docstring"
        assert len(documented) > 20
