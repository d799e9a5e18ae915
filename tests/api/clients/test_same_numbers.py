"""Test that clients in three languages get the same numbers, by the calls of ``clients/README.md``.

Each block of the page is one expression.  What it returns is written with every digit; a call
that is refused is written as the refusal's status and code.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.api.clients.conftest import Need, missing
from tests.api.world import World
from tests.support.places import ROOT

from penstock_client import ApiError, Client

pytestmark = pytest.mark.slow

PAGE = (ROOT / "clients/README.md").read_text()
TYPESCRIPT = ROOT / "clients/typescript"
CALLS = 10
STREAM: dict[str, Any] = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "length": 10,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.1}},
}
TS_START = """import { ApiError, Client, rows } from "./src/index.js";
const client = new Client();
void rows;
async function shown(call: () => Promise<unknown>): Promise<void> {
  const outcome = await call().catch((error: unknown) => {
    if (error instanceof ApiError) return { status: error.status, code: error.code };
    throw error;
  });
  console.log(JSON.stringify(outcome));
}
"""
R_START = """
library(penstock)
con <- penstock()
shown <- function(call) {
  outcome <- tryCatch(call(), penstock_api_error = function(cnd) {
    list(status = cnd$status, code = cnd$code)
  })
  cat(penstock:::json_text(if (is.list(outcome)) unname_lists(outcome) else outcome), "\\n")
}
unname_lists <- function(value) if (is.null(names(value))) lapply(value, unname) else value
"""


def blocks(language: str) -> list[str]:
    """Return the page's calls in one language."""
    calls = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(calls) == CALLS
    return calls


def run(folder: Path, *words: str | Path, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def by_python(served: dict[str, str], folder: Path) -> list[Any]:
    names = {
        "client": Client(served["url"], served["token"], checkpoints=folder / "checkpoints.json")
    }
    outcomes: list[Any] = []
    for call in blocks("python"):
        try:
            outcomes.append(eval(call, names))  # noqa: S307 - the page's own examples
        except ApiError as error:
            outcomes.append({"status": error.status, "code": error.code})
    return outcomes


def by_typescript(served: dict[str, str], folder: Path, node: str) -> list[Any]:
    """Compile the page's calls strictly, with the client, and run them."""
    calls = "".join(f"await shown(async () => {call.strip()});\n" for call in blocks("ts"))
    shutil.copytree(TYPESCRIPT / "src", folder / "src")
    (folder / "calls.ts").write_text(TS_START + calls)
    (folder / "package.json").write_text('{"type": "module"}')
    options = {"outDir": "build", "rootDir": ".", "declaration": False}
    config = {"extends": str(TYPESCRIPT / "tsconfig.json"), "compilerOptions": options}
    (folder / "tsconfig.json").write_text(json.dumps({**config, "include": ["calls.ts"]}))
    run(folder, node, TYPESCRIPT / "node_modules/typescript/bin/tsc", "-p", folder)
    printed = run(folder, node, "build/calls.js", **variables(served))
    return [json.loads(line) for line in printed.splitlines()]


def by_r(served: dict[str, str], folder: Path, r: str) -> list[Any]:
    run(
        folder, r, "CMD", "INSTALL", "--no-docs", "--no-test-load", "-l", folder, ROOT / "clients/r"
    )
    calls = "".join(f"shown(function() {call.strip()})\n" for call in blocks("r"))
    (folder / "calls.R").write_text(R_START + calls)
    printed = run(folder, "Rscript", folder / "calls.R", R_LIBS=str(folder), **variables(served))
    return [json.loads(line) for line in printed.splitlines()]


def variables(served: dict[str, str]) -> dict[str, str]:
    return {"PENSTOCK_URL": served["url"], "PENSTOCK_TOKEN": served["token"]}


def flat(value: Any) -> list[Any]:
    """Return what a call answered in one list: a number by itself is a list of one in R."""
    if isinstance(value, dict):
        return list(value.items())
    return [each for part in value for each in flat(part)] if _is_list(value) else [value]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def test_ten_calls_have_the_same_numbers_in_three_languages(
    need: Need, address: str, world: World, tmp_path: Path
) -> None:
    node, r = need("node", "apt-get install nodejs"), need("R", "apt-get install r-base-core")
    if not (TYPESCRIPT / "node_modules").is_dir():
        missing("needs npm ci in clients/typescript")
    world.answer("POST", "/api/v1/streams", STREAM, by="root")
    elements = {"from": 1, "values": [1, 0, 1]}
    world.answer("POST", "/api/v1/streams/hits/elements", elements, by="root")
    served = {"url": address, "token": world.tokens["ann"]}
    outcomes = by_python(served, tmp_path)
    expected = list(map(flat, outcomes))
    assert expected[-1] == [("status", 403), ("code", "CLEARANCE_TOO_LOW")]
    assert all(isinstance(number, float | int) for call in expected[1:-1] for number in call)
    assert list(map(len, expected[:-1])) == [1, 1, 1, 1, 6, 2, 3, 2, 2]
    assert list(map(flat, by_typescript(served, tmp_path, node))) == expected
    assert list(map(flat, by_r(served, tmp_path, r))) == expected
