"""Test ``penstock serve``: what is checked first, what gunicorn is given, and a real server."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from tests.support import ending
from tests.unit.cli.program_runs import HANG_SECONDS, Run

from penstock.cli.home import serving
from penstock.setting_sources import load


class Replaced(Exception):
    """Stand for becoming another program; thrown in the place of it."""


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """Return the programs that this process would have become, with their environments."""
    programs: list[tuple[list[str], dict[str, str]]] = []

    def execve(path: str, command: list[str], environment: dict[str, str]) -> NoReturn:
        assert path == sys.executable
        programs.append((command, environment))
        raise Replaced

    monkeypatch.setattr(os, "execve", execve)
    return programs


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_gunicorn_is_given_the_settings_through_the_environment(
    here: Run,
    became: list[tuple[list[str], dict[str, str]]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    port = free_port()
    (tmp_path / "penstock.toml").write_text("workers = 3\nport = 1\n")
    monkeypatch.setenv("PENSTOCK_HOST", "127.0.0.1")
    monkeypatch.setenv("PENSTOCK_TOKEN_DAYS", "7")
    monkeypatch.setenv("PENSTOCK_TWO_PERSON_RUL", "on")
    assert "Was PENSTOCK_TWO_PERSON_RULE meant?" in here("serve", "--port", str(port)).err
    command, environment = became[0]
    assert command[:4] == [sys.executable, "-P", "-m", "penstock.cli.home.launch"]
    assert command[-1] == "penstock.application:create_app()"
    assert Path(command[command.index("-c") + 1]).name == "gunicorn.conf.py"
    settings, _ = load(environment)
    assert (settings.host, settings.port, settings.workers) == ("127.0.0.1", port, 3)
    assert settings.token_days == 7


def test_the_packaged_configuration_goes_before_the_checkouts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert serving.configuration().is_file()
    (tmp_path / "site" / "penstock" / "deploy").mkdir(parents=True)
    packaged = tmp_path / "site" / "penstock" / "deploy" / "gunicorn.conf.py"
    packaged.touch()
    monkeypatch.setattr("penstock.__file__", str(tmp_path / "site" / "penstock" / "__init__.py"))
    assert serving.configuration() == packaged


def share_keys(home: Path) -> None:
    (home / "keys" / "keyring.json").chmod(0o640)


def lose_secrets(home: Path) -> None:
    (home / "keys" / "secrets.json").unlink()


def lose_database(home: Path) -> None:
    (home / "database" / "penstock.db").unlink()


@pytest.mark.parametrize(
    ("harm", "says"),
    [(share_keys, "chmod 600"), (lose_secrets, "secrets.json"), (lose_database, "penstock.db")],
)
def test_nothing_is_started_over_a_broken_home(
    here: Run,
    furnished: Path,
    became: list[tuple[list[str], dict[str, str]]],
    harm: Callable[[Path], None],
    says: str,
) -> None:
    harm(furnished)
    refused = here("serve", "--port", "0")
    assert (refused.code, refused.out, became) == (1, "", [])
    assert says in refused.err


def test_a_port_that_is_taken_is_named(
    here: Run, became: list[tuple[list[str], dict[str, str]]]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = here("serve", "--port", port)
    assert refused.code == 1
    assert port in refused.err
    assert "--port" in refused.err
    assert became == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--port", "70000"], 2),
        (["--port", "web"], 2),
        (["--workers", "0"], 2),
        (["--host", "no.such.host.invalid", "--port", "0"], 1),
    ],
)
def test_settings_that_cannot_be_served_are_refused(
    here: Run, became: list[tuple[list[str], dict[str, str]]], arguments: list[str], code: int
) -> None:
    refused = here("serve", *arguments)
    assert (refused.code, became) == (code, [])
    assert arguments[1] in refused.err


@contextlib.contextmanager
def serving_from(folder: Path, home: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start the real server and wait until it answers."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "penstock", "serve", "--port", str(port)],
            cwd=folder,
            env={**os.environ, "PENSTOCK_HOME": str(home), "PENSTOCK_WORKERS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
            preexec_fn=ending.with_the_parent(),
        )
    try:
        deadline = time.monotonic() + HANG_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):
                get(port, "/healthz")
                break
            time.sleep(0.05)
        else:
            pytest.fail((folder / "log").read_text())
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def get(port: int, path: str) -> object:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=HANG_SECONDS) as answer:
        assert answer.status == 200
        content: object = json.load(answer)
        return content


@pytest.mark.slow
def test_a_server_runs_from_any_folder_imports_nothing_there_and_leaves_nothing(
    furnished: Path, tmp_path: Path
) -> None:
    """Kill one server, which leaves nothing to clean up; the next one ends by SIGTERM."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    hostile = [
        f"{name}.py" for name in ("flask", "sqlmodel", "tomllib", "penstock", "setproctitle")
    ]
    for name in hostile:
        (folder / name).write_text("raise SystemExit('imported from the folder')\n")
    port = free_port()
    with serving_from(folder, furnished, port) as process:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with serving_from(folder, furnished, port) as process:
        assert get(port, "/openapi.json")
        process.send_signal(signal.SIGTERM)
        assert process.wait(HANG_SECONDS) == 0
    assert "imported from the folder" not in (folder / "log").read_text()
    assert sorted(path.name for path in folder.iterdir()) == sorted([*hostile, "log"])
