"""Test the server as it runs: gunicorn with several workers over one home."""

import json
import logging
import runpy
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gunicorn.config import KNOWN_SETTINGS
from tests.api.served.serving import ASK, CONFIGURATION, Serving, serve_copy
from tests.databases.homes import Home, Homes

from penstock.http.access_log import Lines


@pytest.fixture
def serving(
    furnished: tuple[Home, dict[str, str]], homes: Homes, tmp_path: Path
) -> Iterator[Serving]:
    """Yield a server of one worker, to be stopped."""
    started = serve_copy(homes, furnished[0], tmp_path / "home", workers=1)
    yield started
    if started.process is not None and started.process.poll() is None:
        started.stop(signal.SIGTERM)


@pytest.fixture(scope="module")
def started() -> Iterator[dict[str, Serving]]:
    """Yield the servers that go on, by the kind of their database."""
    servers: dict[str, Serving] = {}
    yield servers
    for server in servers.values():
        server.stop(signal.SIGTERM)


@pytest.fixture
def running(
    backend: str,
    started: dict[str, Serving],
    prototype: Callable[..., Home],
    furnished: tuple[Home, dict[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Serving:
    """Return a server that goes on."""

    def make(homes: Homes, folder: Path) -> Home:
        started[backend] = serve_copy(homes, furnished[0], folder)
        return furnished[0]

    prototype(backend, "running", make)
    return started[backend]


@pytest.mark.nightly
def test_it_starts_again_after_being_killed_and_stops_gracefully(serving: Serving) -> None:
    """With nothing to clean up; in the end it leaves nothing but the home."""
    before = {path.name for path in serving.home.parent.iterdir()}
    status, first = serving.ask("POST", ASK, {})
    assert status == 200
    assert serving.stop(signal.SIGKILL) == -signal.SIGKILL
    serving.start()
    assert serving.ask("POST", ASK, {}) == (200, first)
    assert serving.stop(signal.SIGTERM) == 0
    assert {path.name for path in serving.home.parent.iterdir()} == before == {"home"}
    log = (serving.home / "log").read_text()
    assert "traceback" not in log.lower()
    assert serving.token not in log


def test_workers_agree_on_every_value(running: Serving) -> None:
    answers = [running.ask("POST", ASK, {"epsilon": 0.3})[1]["values"] for _ in range(12)]
    assert all(values == answers[0] for values in answers)


def test_malformed_chunks_are_a_400(running: Serving) -> None:
    answer = running.say(
        b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        b"Authorization: Bearer " + running.token.encode() + b"\r\n"
        b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in answer


def test_a_refusal_reaches_a_client_that_is_still_sending(running: Serving) -> None:
    answer = running.say(
        b"POST /api/v1/tiers HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        b"Content-Type: application/json\r\nContent-Length: 20000000\r\n\r\n" + bytes(20_000_000)
    )
    assert answer.startswith(b"HTTP/1.1 401")


def test_a_malformed_request_line_is_not_quoted_in_the_log(running: Serving) -> None:
    assert running.say(b"GET / HTTP/1.1\r\nAuthorization canary\r\n\r\n").startswith(
        b"HTTP/1.1 400"
    )
    log = (running.home / "log").read_text()
    assert "Invalid request from" in log
    assert "canary" not in log


@pytest.mark.only("sqlite")
def test_every_line_that_a_server_writes_is_json(serving: Serving) -> None:
    """From its first line to its last, gunicorn's own among them."""
    serving.ask("GET", "/api/v1/me")
    serving.say(b"GET / HTTP/1.1\r\nAuthorization canary\r\n\r\n")
    assert serving.stop(signal.SIGTERM) == 0
    lines = [json.loads(line) for line in (serving.home / "log").read_text().splitlines()]
    assert all({"at", "level", "logger", "message"} <= line.keys() for line in lines)
    messages = {(line["logger"], line["message"].partition(" ")[0]) for line in lines}
    own = {("gunicorn.error", word) for word in ("Starting", "Listening", "Booting", "Invalid")}
    assert own | {("penstock.access", "answered")} <= messages


def test_a_line_names_the_place_of_an_error_and_not_its_text() -> None:
    try:
        raise ValueError("canary")
    except ValueError:
        record = logging.LogRecord("gunicorn.error", 40, "", 0, "said", (), sys.exc_info())
    line = Lines().format(record)
    assert "canary" not in line
    (cause,) = json.loads(line)["traceback"]
    assert cause["error"] == "builtins.ValueError"
    assert cause["raised"][0].startswith(f"{__name__}:")


def test_forwarded_headers_are_not_believed(running: Serving) -> None:
    answer = running.say(
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nScript-Name: /healthz\r\n"
        b"X-Forwarded-Proto: https\r\nX-Forwarded-Ssl: off\r\nSCRIPT_NAME: /healthz\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 200")


def configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Return what the file sets, read where no settings file lies."""
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(CONFIGURATION))


def test_every_setting_is_one_that_gunicorn_knows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """gunicorn ignores a name that it does not know, also a safety measure's."""
    known = {setting.name for setting in KNOWN_SETTINGS}
    read = configuration(monkeypatch, tmp_path)
    imported = {"ctypes", "gc", "importlib", "load", "logging", "os", "settings", "signal"}
    imported |= {"Any", "Lines", "Logger", "Path", "sys", "tempfile"}
    chosen = {name for name in read if not name.startswith("_")} - imported
    assert chosen <= known


def test_gunicorn_itself_is_never_told_to_debug(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would log the address of every request, and names stand in addresses."""
    for given, used in (("DEBUG", "info"), ("INFO", "info"), ("ERROR", "error")):
        monkeypatch.setenv("PENSTOCK_LOG_LEVEL", given)
        assert configuration(monkeypatch, tmp_path)["loglevel"] == used


def test_nothing_listens_beside_the_port_and_nothing_is_shared_by_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PENSTOCK_HOST", "::1")
    monkeypatch.setenv("PENSTOCK_PORT", "8123")
    read = configuration(monkeypatch, tmp_path)
    assert read["control_socket_disable"] is True
    assert read["preload_app"] is False
    assert read["forwarded_allow_ips"] == ""
    assert read["bind"] == "[::1]:8123"
    assert read["wsgi_app"] == "penstock.application:create_app()"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Invalid request from ip=1: Invalid HTTP Header: 'canary'", "Invalid HTTP Header:"),
        ('Invalid request from ip=1: Invalid HTTP Header: "canary"', "Invalid HTTP Header:"),
        ("Error handling request /canary", "Error handling request"),
        ("Booting worker with pid: 'canary'", "canary"),
    ],
)
def test_what_a_malformed_request_said_is_cut_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, kept: str
) -> None:
    record = logging.LogRecord("gunicorn.error", logging.WARNING, "", 0, said, (), None)
    read = configuration(monkeypatch, tmp_path)
    assert read["_WithoutQuotations"]().filter(record)
    assert kept in record.getMessage()
    assert ("canary" in record.getMessage()) == said.startswith("Booting")
