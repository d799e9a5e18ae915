"""The API's document as the tools of others read it: a linter, and a maker of types."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.distributions import ROOT

pytestmark = pytest.mark.slow

DOCUMENT = ROOT / "clients/openapi.json"
FOLDER = ROOT / "tests/contracts/npm"
VARIABLES = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}

Tool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def tool() -> Tool:
    """Runs a program of one of the packages."""
    node = shutil.which("node")
    modules = FOLDER / "node_modules"
    if node is None or not modules.is_dir():
        reason = "needs node, and npm ci in tests/contracts/npm"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)

    def run(program: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [node, modules / program, *words],
            env={**os.environ, **VARIABLES},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def document() -> Any:
    """The committed document, to be changed."""
    return json.loads(DOCUMENT.read_text())


def rules(tool: Tool, document: Path) -> set[str]:
    """The rules that Redocly finds broken."""
    config = ("--config", FOLDER / "redocly.yaml", "--format", "json")
    done = tool("@redocly/cli/bin/cli.js", "lint", document, *config)
    found = json.loads(done.stdout)
    assert found["totals"]["ignored"] == 0
    broken = {problem["ruleId"] for problem in found["problems"]}
    assert (done.returncode != 0) == bool(broken), done.stderr
    return broken


def compiled(tool: Tool, document: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The program of this folder, compiled over the types that are made of a document."""
    for name in ("program.ts", "tsconfig.json"):
        shutil.copy(FOLDER / name, folder / name)
    # What has a default may be left out of a request.
    wanted = ("-o", folder / "schema.d.ts", "--default-non-nullable=false")
    made = tool("openapi-typescript/bin/cli.js", document, *wanted)
    assert made.returncode == 0, made.stderr
    return tool("typescript/bin/tsc", "-p", folder)


def nameless(document: Any) -> None:
    del document["paths"]["/api/v1/me"]["get"]["operationId"]


def unresolved(document: Any) -> None:
    del document["components"]["schemas"]["Problem"]


def undeclared(document: Any) -> None:
    paths = document["paths"]
    paths["/api/v1/users/{person}"] = paths.pop("/api/v1/users/{user}")


def unguarded(document: Any) -> None:
    del document["security"]


def test_redocly_finds_nothing_to_say(tool: Tool) -> None:
    assert rules(tool, DOCUMENT) == set()


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (nameless, "operation-operationId"),
        (unresolved, "no-unresolved-refs"),
        (undeclared, "path-parameters-defined"),
        (unguarded, "security-defined"),
    ],
)
def test_redocly_finds_what_is_wrong(
    tool: Tool, document: Any, tmp_path: Path, spoil: Callable[[Any], None], rule: str
) -> None:
    spoil(document)
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(document))
    assert rule in rules(tool, wrong)


def test_a_typed_program_compiles(tool: Tool, tmp_path: Path) -> None:
    done = compiled(tool, DOCUMENT, tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_typed_program_notices_what_changed(tool: Tool, document: Any, tmp_path: Path) -> None:
    schemas = document["components"]["schemas"]
    del schemas["Error"]["properties"]["half_width"]
    schemas["TierSpec"]["properties"]["rank"] = {"type": "string"}
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document))
    done = compiled(tool, changed, tmp_path)
    assert done.returncode != 0
    assert "'half_width' does not exist" in done.stdout
    assert "Unused '@ts-expect-error'" in done.stdout


def test_the_lock_pins_every_package_and_names_no_host() -> None:
    wanted = json.loads((FOLDER / "package.json").read_text())
    text = (FOLDER / "package-lock.json").read_text()
    assert re.findall(r"\w+://[^\"]+", text) == []
    locked = json.loads(text)["packages"]
    assert locked.pop("")["devDependencies"] == wanted["devDependencies"]
    assert all(package["integrity"].startswith("sha512-") for package in locked.values())
    for name, version in wanted["devDependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert locked[f"node_modules/{name}"]["version"] == version
