"""Test the TypeScript client: its types, its package, and its own tests against this server."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.api.clients.conftest import Need, missing
from tests.api.world import World
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

FOLDER = ROOT / "clients/typescript"
SCHEMA = FOLDER / "src/schema.ts"
AGAIN = "npm run --prefix clients/typescript types"


@pytest.fixture(scope="module")
def node(need: Need) -> str:
    found = need("node", "apt-get install nodejs")
    if not (FOLDER / "node_modules").is_dir():
        missing("needs npm ci in clients/typescript")
    return found


def run(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=FOLDER,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


def test_the_types_are_those_of_the_contract(node: str, tmp_path: Path) -> None:
    made = tmp_path / "schema.ts"
    program = "node_modules/openapi-typescript/bin/cli.js"
    options = ("--output", made, "--default-non-nullable=false")
    done = run(node, program, "../openapi.json", *options)
    assert done.returncode == 0, done.stderr
    is_same = made.read_text() == SCHEMA.read_text()
    assert is_same, f"the contract has changed: run `{AGAIN}` and commit src/schema.ts"


def test_its_own_tests_pass_against_this_server(
    node: str, address: str, world: World, tmp_path: Path
) -> None:
    """They are compiled strictly first, with the client."""
    built = tmp_path / "build"
    options = ("-p", "tests/tsconfig.json", "--outDir", built)
    compiled = run(node, "node_modules/typescript/bin/tsc", *options)
    assert compiled.returncode == 0, compiled.stdout
    (built / "package.json").write_text('{"type": "module"}')
    tokens = json.dumps(world.tokens)
    tests = sorted(built.glob("tests/*.test.js"))
    assert len(tests) == len(list(FOLDER.glob("tests/*.test.ts")))
    done = run(node, "--test", *tests, PENSTOCK_URL=address, PENSTOCK_TEST_TOKENS=tokens)
    assert done.returncode == 0, done.stdout
    assert "# skipped 0" in done.stdout


def test_the_package_says_what_it_offers_and_needs_nothing_to_run() -> None:
    package = json.loads((FOLDER / "package.json").read_text())
    assert "dependencies" not in package
    config = json.loads((FOLDER / "tsconfig.json").read_text())["compilerOptions"]
    assert config["strict"] is True
    for place in package["exports"].values():
        for path in place.values():
            source = Path(path).name.replace(".d.ts", ".js").replace(".js", ".ts")
            assert (FOLDER / "src" / source).is_file()
    assert (FOLDER / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    names = json.loads((ROOT / "clients/openapi.json").read_text())["info"]
    assert package["version"] == names["version"]


def test_the_lock_pins_every_package_and_names_no_host() -> None:
    package = json.loads((FOLDER / "package.json").read_text())
    text = (FOLDER / "package-lock.json").read_text()
    assert re.findall(r"\w+://[^\"]+", text) == []
    locked = json.loads(text)["packages"]
    assert locked.pop("")["devDependencies"] == package["devDependencies"]
    assert all(each["integrity"].startswith("sha512-") for each in locked.values())
    for name, version in package["devDependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert locked[f"node_modules/{name}"]["version"] == version
