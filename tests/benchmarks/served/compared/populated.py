"""Provide a home of any checkout, filled through its command line and its API alone.

So a checkout in which modules lie elsewhere can be served and measured beside this one.
"""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.benchmarks.database.world import DATASET, LARGEST_VALUE, PATIENCE, TIERS, exact_values
from tests.benchmarks.served.serving import HOST, Running, started, without_settings

LIMITS = {
    "PENSTOCK_LEVELS_PER_DAY": "1000000",
    "PENSTOCK_LEVEL_BYTES_PER_DAY": "1000000000000",
    "PENSTOCK_REQUEST_BURST": "1000000",
    "PENSTOCK_REQUEST_RATE": "1000000",
    "PENSTOCK_PROCESSOR_BURST": "1000000",
    "PENSTOCK_PROCESSOR_RATE": "1000000",
}
"""Limits that a benchmark would exceed.  With 0 they would not be counted at all."""


Variables = Mapping[str, str]
NONE: Variables = MappingProxyType({})


@dataclass(frozen=True)
class Tree:
    """Hold what a checkout is called, and its Python."""

    name: str
    python: str = sys.executable


@dataclass
class Home:
    """Hold a home, what its servers are told, and the tokens of its readers."""

    tree: Tree
    folder: Path
    environment: dict[str, str]
    tokens: list[str] = field(default_factory=list)

    def run(self, *arguments: str) -> str:
        """Run the tree's ``penstock``, and return what it printed."""
        done = subprocess.run(
            [self.tree.python, "-m", "penstock", *arguments],
            env=without_settings() | self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"penstock {' '.join(arguments)} failed:\n{done.stderr}")
        return done.stdout

    @contextmanager
    def served(
        self, workers: int, quantum: float, variables: Variables = NONE
    ) -> Iterator[Running]:
        """Yield a server with ``workers`` processes that answer."""
        command = [self.tree.python, "-m", "penstock", "serve"]
        environment = {
            **self.environment,
            "PENSTOCK_WORKERS": str(workers),
            "PENSTOCK_TIME_QUANTUM": str(quantum),
            **variables,
        }
        with started(command, environment, self.folder) as server:
            yield server

    def fill(self, server: Running, readers: int, queries: int, values: int) -> None:
        """Add analysts of the highest tier, and Gaussian queries of pushed vectors."""
        self.run("user", "create", "root", "--role", "admin")
        admin = _Admin(server.port, self.run("token", "create", "root").strip())
        for tier in TIERS:
            admin.post("tiers", {"name": tier})
        for number in range(readers):
            name = f"reader-{number}"
            user = {"name": name, "roles": ["analyst"], "clearance": list(TIERS)[-1]}
            admin.post("users", user)
            self.tokens.append(admin.post(f"users/{name}/tokens", {})["token"])
        dataset = {
            "name": DATASET,
            "source": {"engine": "vector"},
            "neighboring": "add_remove",
            "delta": 1e-6,
            "budgets": {tier: {"epsilon": 20.0} for tier in TIERS},
        }
        admin.post("datasets", dataset)
        for number in range(queries):
            query = {
                "name": f"query-{number}",
                "dataset": DATASET,
                "values": exact_values(values).tolist(),
                "bound": LARGEST_VALUE,
                "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
                "mechanism": "gaussian",
                "levels": {tier: {"level": variance} for tier, variance in TIERS.items()},
            }
            admin.post("queries", query)


def tree_at(path: Path) -> Tree:
    """Return a checkout, called by its commit, with the Python of its own environment.

    A plus sign shows that files differ from the commit.
    """
    python = path.resolve() / ".venv" / "bin" / "python"
    if not python.exists():
        raise RuntimeError(f"{path} has no .venv: make one with `make .venv/.installed`.")
    commit = _git(path, "rev-parse", "--short=8", "HEAD")
    changed = "+" if _git(path, "status", "--porcelain") else ""
    return Tree(commit + changed if commit else path.resolve().name, str(python))


def _git(path: Path, *arguments: str) -> str:
    command = ["git", "-C", str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def created(tree: Tree, folder: Path, urls: Variables) -> Home:
    """Return an empty home in a new folder; ``urls`` name another database than SQLite's."""
    folder.mkdir()
    environment = {
        **LIMITS,
        "PENSTOCK_HOME": str(folder / "home"),
        "PENSTOCK_LOG_PATIENCE": str(PATIENCE),
        **{f"PENSTOCK_{name.upper()}": url for name, url in urls.items()},
    }
    home = Home(tree, folder, environment)
    home.run("init")
    return home


@dataclass(frozen=True)
class _Admin:
    port: int
    token: str

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", f"/api/v1/{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status in (200, 201), f"{path}: status {answer.status}: {text[:500]!r}"
        return json.loads(text)
