"""Test the API's document as the tools of others read it: a linter, and a maker of types."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

DOCUMENT = ROOT / "clients/openapi.json"
FOLDER = ROOT / "tests/contracts/npm"
VARIABLES = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}

Tool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def tool() -> Tool:
    """Run a program of one of the npm packages."""
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
            timeout=1800,
            check=False,
        )

    return run


@pytest.fixture
def document() -> Any:
    """Return the committed document, to be changed."""
    return json.loads(DOCUMENT.read_text())


def reports(printed: str) -> Iterator[Any]:
    """Yield what Redocly says of each document, one JSON after the other."""
    decoder, text = json.JSONDecoder(), printed.strip()
    while text:
        found, end = decoder.raw_decode(text)
        yield found
        text = text[end:].lstrip()


def rules(tool: Tool, *documents: Path) -> dict[str, set[str]]:
    """Return the rules that Redocly finds broken, by the name of the document."""
    config = ("--config", FOLDER / "redocly.yaml", "--format", "json")
    done = tool("@redocly/cli/bin/cli.js", "lint", *documents, *config)
    broken: dict[str, set[str]] = {document.name: set() for document in documents}
    said = list(reports(done.stdout))
    assert len(said) == len(documents)
    for found in said:
        assert found["totals"]["ignored"] == 0
        for problem in found["problems"]:
            place = problem["location"][0]["source"]["ref"]
            broken[Path(place).name].add(problem["ruleId"])
    assert (done.returncode != 0) == any(broken.values()), done.stderr
    return broken


def make_types(tool: Tool, document: Path, folder: Path) -> None:
    """Put the program of this folder beside the types that are made from a document."""
    folder.mkdir()
    shutil.copy(FOLDER / "program.ts", folder / "program.ts")
    # What has a default may be left out of a request.
    wanted = ("-o", folder / "schema.d.ts", "--default-non-nullable=false")
    made = tool("openapi-typescript/bin/cli.js", document, *wanted)
    assert made.returncode == 0, made.stderr


def nameless(document: Any) -> None:
    del document["paths"]["/api/v1/me"]["get"]["operationId"]


def unresolved(document: Any) -> None:
    del document["components"]["schemas"]["Problem"]


def undeclared(document: Any) -> None:
    paths = document["paths"]
    paths["/api/v1/users/{person}"] = paths.pop("/api/v1/users/{user}")


def unguarded(document: Any) -> None:
    del document["security"]


SPOILT = {
    "operation-operationId": nameless,
    "no-unresolved-refs": unresolved,
    "path-parameters-defined": undeclared,
    "security-defined": unguarded,
}


def test_redocly_finds_what_is_wrong_and_nothing_else_to_say(tool: Tool, tmp_path: Path) -> None:
    """Check all documents in one run, each named after the rule that it breaks."""
    for rule, spoil in SPOILT.items():
        document = json.loads(DOCUMENT.read_text())
        spoil(document)
        (tmp_path / f"{rule}.json").write_text(json.dumps(document))
    found = rules(tool, DOCUMENT, *(tmp_path / f"{rule}.json" for rule in SPOILT))
    assert found.pop(DOCUMENT.name) == set()
    assert all(rule in found[f"{rule}.json"] for rule in SPOILT), found


def test_a_typed_program_compiles_and_notices_what_changed(
    tool: Tool, document: Any, tmp_path: Path
) -> None:
    """The compiler reads both programs in one run; it takes longest to read its own library."""
    schemas = document["components"]["schemas"]
    del schemas["Error"]["properties"]["half_width"]
    schemas["TierSpec"]["properties"]["rank"] = {"type": "string"}
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document))
    make_types(tool, DOCUMENT, tmp_path / "same")
    make_types(tool, changed, tmp_path / "other")
    config = json.loads((FOLDER / "tsconfig.json").read_text())
    wanted = {**config, "include": ["same/*.ts", "other/*.ts"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(wanted))
    done = tool("typescript/bin/tsc", "-p", tmp_path)
    assert done.returncode != 0
    assert "'half_width' does not exist" in done.stdout
    assert "Unused '@ts-expect-error'" in done.stdout
    complaints = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    places = {line.partition("(")[0] for line in complaints}
    assert {Path(place).parts[-2:] for place in places} == {("other", "program.ts")}


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
