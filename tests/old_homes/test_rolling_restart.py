"""Test that servers of two neighboring versions serve one database during a rolling restart.

The earlier version is that before the newest migration, as git has it, under the libraries that are
installed now.  It makes the home and serves; the database is upgraded under it while readers go on;
a server of this version joins; both serve what the other draws and registers; then the first ends.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts.running import Running, free_port
from tests.contracts.running import running as started
from tests.databases.homes import Home, Homes
from tests.old_homes.earlier_code import EarlierCode, before_the_newest_migration

from penstock.persistence import migrate

RUN = """
import json, sys
from penstock.cli.program import run
for words in json.loads(sys.argv[1]):
    assert run(words) == 0, words
"""
HANG = 600.0
LEVELS = {"public": {"epsilon": 0.05}, "internal": {"epsilon": 0.2}}
DATASET = {
    "name": "sites",
    "source": {"engine": "vector"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "budgets": {"public": {"epsilon": 1.0}, "internal": {"epsilon": 4.0}},
}


def query(name: str) -> dict[str, Any]:
    """Return a query over pushed values."""
    return {
        "name": name,
        "dataset": "sites",
        "keys": ["a", "b"],
        "values": [10, 20],
        "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
        "mechanism": "gaussian",
        "levels": LEVELS,
    }


@dataclass
class Place:
    """Hold the home, and run programs of either version in it."""

    home: Home
    folder: Path

    def environment(self, code: Mapping[str, str], **more: str) -> dict[str, str]:
        """Return the variables of a program: nobody gives up on a busy machine."""
        patient = {"PENSTOCK_DATABASE_PATIENCE": "300", "PENSTOCK_BUSY_TIMEOUT": "300"}
        few = {"PENSTOCK_WORKERS": "1", "PENSTOCK_COMPUTING_PROCESSES": "0"}
        own = {**self.home.environment, **patient, **few}
        return {**os.environ, **own, **code, **more}

    def run(self, code: Mapping[str, str], *commands: Sequence[str]) -> list[Any]:
        """Run commands, and return what those with ``--format json`` printed."""
        done = subprocess.run(
            [sys.executable, "-c", RUN, json.dumps(commands)],
            cwd=self.folder,
            env=self.environment(code),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        decoder, text = json.JSONDecoder(), done.stdout
        return [decoder.raw_decode(text, at.start())[0] for at in re.finditer(r"(?m)^\{", text)]

    @contextmanager
    def serving(self, code: Mapping[str, str], name: str) -> "Iterator[Running]":
        """Yield a server of either version."""
        port = free_port()
        command = [sys.executable, "-m", "penstock", "serve"]
        folder = self.folder / name
        folder.mkdir()
        environment = self.environment(code, PENSTOCK_PORT=str(port))
        with started(command, folder, environment, port) as server:
            yield server


def call(
    server: Running, token: str, verb: str, path: str, body: object = None, expected: int = 200
) -> Any:
    """Send a request to a server; fails unless it has the expected status."""
    headers = {"Authorization": f"Bearer {token}"}
    url = f"{server.url}/api/v1{path}"
    answer = httpx.request(verb, url, json=body, headers=headers, timeout=HANG)
    assert answer.status_code == expected, answer.text
    return answer.json()


def release(server: Running, token: str, name: str, **target: object) -> list[float]:
    """Return the values of a release."""
    answer = call(server, token, "POST", f"/queries/{name}/releases", target)
    values: list[float] = answer["values"]
    return values


@dataclass
class Readers:
    """Repeat a release on every server that a balancer would name, until they are stopped."""

    token: str
    expected: list[float]
    live: list[Running] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[BaseException] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def read(self) -> None:
        """Read until it is over, or something fails."""
        while not self.over.is_set() and not self.failures:
            for server in tuple(self.live):
                try:
                    assert release(server, self.token, "first", tier="public") == self.expected
                except (AssertionError, httpx.HTTPError) as failure:
                    self.failures.append(failure)
                self.counts[server.url] = self.counts.get(server.url, 0) + 1
            self.over.wait(0.1)

    def until_read(self, server: Running) -> None:
        """Wait until a server has answered two further times."""
        before = self.counts.get(server.url, 0)
        while self.counts.get(server.url, 0) < before + 2:
            assert not self.failures, self.failures
            self.over.wait(0.02)


@contextmanager
def reading(readers: Readers) -> Iterator[Readers]:
    """Let a thread read while the block runs; fails if any request failed."""
    thread = threading.Thread(target=readers.read)
    thread.start()
    try:
        yield readers
    finally:
        readers.over.set()
        thread.join()
    assert readers.failures == []


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> EarlierCode:
    """Return the code of the version before the newest migration."""
    return before_the_newest_migration(tmp_path_factory.mktemp("earlier"))


@pytest.mark.mainly_postgresql
@pytest.mark.slow
def test_two_versions_serve_one_database_during_a_rolling_restart(
    backend: str, homes: Homes, earlier: EarlierCode, tmp_path: Path
) -> None:
    place = Place(homes.bare(tmp_path / backend), tmp_path)
    former, present = earlier.environment, dict[str, str]()
    ada, ann = place.run(
        former,
        ["init"],
        ["tier", "create", "public"],
        ["tier", "create", "internal", "--above", "public"],
        ["user", "create", "ada", "--role", "admin"],
        ["user", "create", "ann", "--role", "analyst", "--clearance", "internal"],
        ["token", "create", "ada", "--format", "json"],
        ["token", "create", "ann", "--format", "json"],
    )
    admin, analyst = ada["token"], ann["token"]
    with place.serving(former, "former") as old:
        call(old, admin, "POST", "/datasets", DATASET, 201)
        call(old, admin, "POST", "/queries", query("first"), 201)
        first = release(old, analyst, "first", tier="public")
        with ExitStack() as until_the_end:
            readers = Readers(analyst, first, [old])
            with reading(readers):
                readers.until_read(old)
                (schema,) = place.run(present, ["db", "upgrade", "--format", "json"])
                assert schema["schema"] == migrate.NEWEST != earlier.schema
                readers.until_read(old)
                new = until_the_end.enter_context(place.serving(present, "present"))
                readers.live.append(new)
                readers.until_read(new)
                each_serves_what_the_other_does(old, new, admin, analyst, epsilon=0.1)
                each_serves_what_the_other_does(new, old, admin, analyst, epsilon=0.15)
                readers.live.remove(old)
                readers.until_read(new)
                assert old.end(signal.SIGTERM) == 0
                readers.until_read(new)
            assert release(new, analyst, "registered_by_old", tier="public")
    verified, status = place.run(
        present, ["audit", "verify", "--format", "json"], ["status", "--format", "json"]
    )
    assert verified["problems"] == []
    assert status["good"]
    for name in ("former", "present"):
        assert "Traceback" not in (tmp_path / f"{name}.log").read_text()


def each_serves_what_the_other_does(
    one: Running, other: Running, admin: str, analyst: str, epsilon: float
) -> None:
    """Let one server draw, register and admit, and the other one serve all of it."""
    name = f"registered_by_{'old' if 'former' in str(one.folder) else 'new'}"
    drawn = release(one, analyst, "first", epsilon=epsilon)
    assert release(other, analyst, "first", epsilon=epsilon) == drawn
    call(one, admin, "POST", "/queries", query(name), 201)
    mine = release(one, analyst, name)
    assert release(other, analyst, name) == mine
    between = release(other, analyst, name, epsilon=epsilon)
    assert release(one, analyst, name, epsilon=epsilon) == between
    user = {"name": f"user_{name}", "roles": ["analyst"], "clearance": "public"}
    call(one, admin, "POST", "/users", user, 201)
    token = call(other, admin, "POST", f"/users/user_{name}/tokens", {}, 201)["token"]
    assert call(one, token, "GET", "/me")["name"] == f"user_{name}"
    spent = [
        [
            (tier["tier"], tier["spent"])
            for tier in call(server, admin, "GET", "/datasets/sites/budget")["tiers"]
        ]
        for server in (one, other)
    ]
    assert spent[0] == spent[1]
