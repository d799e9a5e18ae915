"""Test ``penstock connection``, and that nothing that the program writes has a secret."""

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.program_runs import Run
from tests.unit.sites import SITES

from penstock.connectors import reachable
from penstock.errors import Unavailable

if TYPE_CHECKING:
    from tests.databases.cluster import Cluster

CANARY = "canary-4711"
NAME = "PENSTOCK_CONNECTION_WAREHOUSE"
VIEW = {"engine": "postgresql", "connection": "warehouse", "table": "public.visits"}
COLUMNS = {"person": {"type": "string"}}


@pytest.fixture
def secret(bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Set two connections that lead nowhere; return the address of one."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    address = f"postgresql://reader:{CANARY}@127.0.0.1:{port}/clinic"
    (tmp_path / "lake").write_text(json.dumps({"store": "s3", "secret_access_key": CANARY}))
    monkeypatch.setenv(NAME, address)
    monkeypatch.setenv("PENSTOCK_CONNECTION_LAKE_FILE", str(tmp_path / "lake"))
    return address


@pytest.mark.usefixtures("secret")
def test_the_list_has_names_engines_and_where_they_are_set(run: Run) -> None:
    done = run("connection", "list", "--format", "json")
    assert done.code == 0
    assert done.json == [
        {"connection": "lake", "engine": "duckdb", "source": "PENSTOCK_CONNECTION_LAKE_FILE"},
        {"connection": "warehouse", "engine": "postgresql", "source": NAME},
    ]
    assert run("connection", "list", "--format", "csv").out.startswith("connection,engine,source")


def test_without_connections_the_list_says_how_one_is_set(run: Run) -> None:
    done = run("connection", "list")
    assert (done.code, "PENSTOCK_CONNECTION_NAME" in done.err) == (0, True)


def test_a_connection_is_tried(
    run: Run, cluster: "Cluster", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NAME, cluster.address("postgres"))
    done = run("connection", "check", "warehouse", "--format", "json")
    assert done.code == 0, done.err
    assert (done.json["connection"], done.json["engine"]) == ("warehouse", "postgresql")
    monkeypatch.setenv(NAME, cluster.address("postgres", password=CANARY))
    refused = run("connection", "check", "warehouse")
    assert (refused.code, CANARY in refused.out + refused.err) == (1, False)


@pytest.mark.usefixtures("secret")
def test_an_engine_that_computes_otherwise_is_a_failure(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(reachable.PROBES, "postgresql", lambda _: ("1", "failed: mean"))
    done = run("connection", "check", "warehouse")
    assert (done.code, "failed: mean" in done.out) == (1, True)


@pytest.mark.usefixtures("secret")
def test_the_exit_code_tells_a_name_from_an_engine_that_is_away(run: Run) -> None:
    assert run("connection", "check", "warehouse").code == 4
    unknown = run("connection", "check", "other")
    assert (unknown.code, "PENSTOCK_CONNECTION_OTHER" in unknown.err) == (1, True)
    assert run("connection", "check").code == 2


def test_nothing_that_is_written_has_a_secret(run: Run, bare: Path, secret: str) -> None:
    assert _leaks(run, bare) == []


def test_a_message_that_has_the_secret_would_be_noticed(
    run: Run, bare: Path, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaking(given: str) -> tuple[str, str]:
        raise Unavailable(f"{given} cannot be reached")

    monkeypatch.setitem(reachable.PROBES, "postgresql", leaking)
    assert _leaks(run, bare) == ["--debug connection check warehouse"]


def test_a_setting_that_is_shown_would_be_noticed(
    run: Run, bare: Path, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.setting_sources.MASKED", secret)
    assert "config show" in _leaks(run, bare)


def _leaks(run: Run, home: Path) -> list[str]:
    """Return the commands that print the secret, and the files of the home that have it."""
    spec = home.parent / "clinic.json"
    spec.write_text(json.dumps({**SITES, "name": "clinic", "source": VIEW, "columns": COLUMNS}))
    commands = [
        "init",
        "tier create internal",
        *(f"config show --format {form}" for form in ("json", "csv")),
        *("config show", "status", "status --format json", "connection list"),
        *("--debug connection check warehouse", "--debug connection check lake"),
        f"--debug dataset register {spec}",
        *("dataset list", "audit events --format json"),
    ]
    leaking = [command for command in commands if CANARY in _output(run, command)]
    files = [path for path in home.rglob("*") if path.is_file()]
    return leaking + [path.name for path in files if CANARY.encode() in path.read_bytes()]


def _output(run: Run, command: str) -> str:
    done = run(*command.split())
    return done.out + done.err
