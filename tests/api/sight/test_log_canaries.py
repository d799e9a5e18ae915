"""Test that the output of a server and its command line, used and abused, holds no secret.

Distinctive values, names, tokens, arguments and bodies are sent to a real server; then its
whole log, gunicorn's lines included, is searched for them, and for everything that stands
in the keys folder, as text and as bytes.
"""

import base64
import json
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import environ
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.api.served.serving import PATIENCE
from tests.api.world import QUERY
from tests.contracts.running import Running, free_port, running
from tests.databases.homes import Home
from tests.support.places import ROOT

from penstock.cli import program
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import home
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec

pytestmark = pytest.mark.only("sqlite")

CONFIGURATION = ROOT / "deploy" / "gunicorn.conf.py"
PEOPLE = ("ann", "ian", "root", "olga")
METRICS = "canary-metrics-token-of-the-settings"
VALUES = [9182736, 6455463]  # longer than the fractions of seconds that are logged
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # made once, and of no use to plain HTTP


@dataclass
class Office:
    """Hold a home of one's own, its people's tokens, and what was heard of the server."""

    home: Home
    tokens: dict[str, str]
    secrets: dict[str, bytes] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)

    def call(self, url: str, verb: str, path: str, by: str | None, **more: Any) -> httpx.Response:
        """Send one request; its id and all that it answers are kept."""
        headers = dict(more.pop("headers", {}))
        if by is not None:
            headers["Authorization"] = f"Bearer {self.tokens.get(by, by)}"
        response = httpx.request(
            verb, url + path, headers=headers, timeout=PATIENCE, verify=NO_TLS, **more
        )
        self.ids.append(response.headers["X-Request-Id"])
        return response

    def keep(self, name: str, text: object) -> None:
        """Keep something that no log may hold."""
        self.secrets[name] = str(text).encode()


@pytest.fixture
def office(furnished: tuple[Home, dict[str, str]], tmp_path: Path) -> Office:
    shutil.copytree(furnished[0].folder, tmp_path / "home")
    made = Home(tmp_path / "home", None, {})
    server = home.open_server(made.settings())
    issued = {name: tokens.issue(server, OPERATOR, name, TokenSpec()).token for name in PEOPLE}
    server.database.close()
    found = Office(made, issued)
    for name, token in issued.items():
        found.keep(f"the token of {name}", token)
        found.keep(f"the secret in the token of {name}", token[13:56])
    found.keep("the scheme of a header", "Bearer ")
    found.keep("the metrics token", METRICS)
    for file in sorted(made.settings().keys_path.iterdir()):
        for number, key in enumerate(keys(json.loads(file.read_text()))):
            for form, written in forms(key).items():
                found.secrets[f"{file.name} {number} {form}"] = written
    return found


def keys(content: Any) -> Iterator[bytes]:
    """Yield every key in a document of the keys folder: 32 bytes in base64."""
    if isinstance(content, Mapping):
        content = list(content.values())
    if isinstance(content, list):
        for part in content:
            yield from keys(part)
    elif isinstance(content, str) and len(content) == 44 and content.endswith("="):
        yield base64.b64decode(content, validate=True)


def forms(key: bytes) -> dict[str, bytes]:
    """Return how a key might be written."""
    return {
        "raw": key,
        "hex": key.hex().encode(),
        "base64": base64.b64encode(key).rstrip(b"="),
        "base64url": base64.urlsafe_b64encode(key).rstrip(b"="),
        "repr": repr(key)[2:-1].encode(),
    }


def told(written: bytes, secrets: Mapping[str, bytes]) -> list[str]:
    """Return the secrets that were written, by name."""
    return sorted(name for name, secret in secrets.items() if secret in written)


@contextmanager
def serving(office: Office, folder: Path, *program: str) -> Iterator[Running]:
    """Yield the server, as it is started with ``program`` behind python."""
    folder.mkdir()
    port = free_port()
    settings = {
        "PENSTOCK_PORT": str(port),
        "PENSTOCK_METRICS_TOKEN": METRICS,
        "PENSTOCK_WORKERS": "1",
    }
    settings |= {**office.home.environment, "PENSTOCK_LOG_LEVEL": "DEBUG"}
    with running([sys.executable, *program], folder, {**environ, **settings}, port) as started:
        yield started


def use(office: Office, url: str) -> None:
    """Do all that people do, and keep what they get."""
    pushed = {**QUERY, "name": "canary-query", "keys": ["canary-key-1", "canary-key-2"]}
    pushed |= {"values": VALUES}
    assert office.call(url, "POST", "/api/v1/queries", "root", json=pushed).status_code == 201
    ask = "/api/v1/queries/canary-query/releases"
    for by, body in (("ann", {}), ("ian", {}), ("ian", {"epsilon": 0.2}), ("ian", {})):
        release = office.call(url, "POST", ask, by, json=body).json()
        for value in release["values"]:
            office.keep(f"the value {value}", value)
        office.keep(f"the release {release['id']}", release["id"])
        read = f"/api/v1/releases/{release['id']}/values?format=csv"
        assert office.call(url, "GET", read, by).status_code == 200
    issued = office.call(url, "POST", "/api/v1/users/ann/tokens", "root", json={}).json()
    office.keep("a new token", issued["token"])
    key = {"Idempotency-Key": "canary-idempotency"}
    for _ in range(2):
        office.call(url, "POST", "/api/v1/tiers", "root", json={"name": "canary-t"}, headers=key)
    assert office.call(url, "GET", "/metrics", METRICS).status_code == 200
    office.call(url, "GET", "/api/v1/audit/events?user=canary-user", "olga")
    office.call(url, "GET", "/api/v1/audit/exposure?users=ann&dataset=sites", "olga")


def abuse(office: Office, url: str) -> None:
    """Send all that is refused: whatever is sent comes with a canary."""
    ask = "/api/v1/queries/canary-missing/releases"
    json_type = {"Content-Type": "application/json"}
    statuses = [
        office.call(url, verb, path, by, **more).status_code
        for verb, path, by, more in (
            ("POST", ask, "ann", {"json": {}}),
            ("GET", "/api/v1/users/canary-missing", "root", {}),
            ("GET", "/api/v1/releases/canary-missing/values", "ann", {}),
            ("GET", "/canary-path?canary=argument", "ann", {}),
            ("GET", "/api/v1/me?canary=argument", "ann", {}),
            ("GET", "/api/v1/me", "canary-token", {}),
            ("GET", "/api/v1/me", office.tokens["ann"][:-1] + "!", {}),
            ("GET", "/metrics", "canary-guess", {}),
            ("GET", "/api/v1/users", "ann", {}),
            ("POST", "/api/v1/tiers", "root", {"json": {"name": "canary", "rank": "canary"}}),
            ("POST", "/api/v1/tiers", "root", {"content": b'{"canary', "headers": json_type}),
            ("POST", "/api/v1/tiers", "root", {"content": b"\xffcanary", "headers": json_type}),
            ("POST", "/api/v1/tiers", "root", {"content": b"canary=form"}),
            ("POST", "/api/v1/tiers", "root", {"json": {"name": "canary" * 400_000}}),
            ("POST", "/api/v1/queries", "root", {"json": {**QUERY, "values": [VALUES[0], None]}}),
            ("PATCH", "/api/v1/tiers/public", "root", {"json": {"canary": VALUES}}),
            ("GET", "/" + "canary" * 2000, "ann", {}),
        )
    ]
    assert set(statuses) >= {400, 401, 403, 404, 413, 415, 422}
    assert max(statuses) < 500
    # The key ring is gone: a 503 for everything that needs it.
    ring = office.home.settings().keys_path / "keyring.json"
    ring.rename(ring.with_suffix(".away"))
    assert office.call(url, "GET", "/readyz", None).status_code == 503
    ring.with_suffix(".away").rename(ring)


def raw(port: int, said: bytes) -> None:
    """Send bytes that are no request."""
    import socket

    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(said)
        while connection.recv(65536):
            pass


def test_the_log_of_a_server_holds_no_secret(office: Office, tmp_path: Path) -> None:
    office.keep("a canary", "canary")
    office.keep("an exact value", VALUES[0])
    with serving(office, tmp_path / "folder", "-P", "-m", "penstock", "serve") as started:
        use(office, started.url)
        abuse(office, started.url)
        raw(started.port, b"GET / HTTP/1.1\r\nAuthorization canary\r\n\r\n")
        raw(started.port, b"canary canary canary\r\n\r\n")
        raw(started.port, b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"canary" * 20_000 + b"\r\n\r\n")
    written = started.log.read_bytes()
    assert told(written, office.secrets) == []
    assert len(office.secrets) > 40
    lines = [json.loads(line) for line in written.decode().splitlines() if line.startswith("{")]
    answered = [line["request_id"] for line in lines if line["logger"] == "penstock.access"]
    assert set(office.ids) <= set(answered), "what an answer is called, the log can tell"
    assert len(set(answered)) == len(answered)
    assert all("request_id" in line for line in lines if line["logger"] != "gunicorn.error")


def test_a_server_that_logs_a_header_is_caught(office: Office, tmp_path: Path) -> None:
    """The search above finds what it looks for."""
    program = ("-m", "gunicorn", "-c", str(CONFIGURATION), "--chdir", str(ROOT))
    with serving(
        office, tmp_path / "folder", *program, "tests.api.served.talkative:create_app()"
    ) as started:
        assert office.call(started.url, "GET", "/api/v1/me", "ann").status_code == 200
    found = told(started.log.read_bytes(), office.secrets)
    assert "the token of ann" in found
    assert "the scheme of a header" in found
    assert "the token of ian" not in found


def test_every_form_of_a_key_is_found() -> None:
    key = bytes(range(200, 232))
    written = {f"k {form}": text for form, text in forms(key).items()}
    for form, text in written.items():
        assert form in told(b"before " + text + b" after", written)


Run = Callable[..., tuple[bytes, bytes]]


@pytest.fixture
def run(
    office: Office,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Run:
    """Return the operator's program with tracebacks, in a folder of its own: both streams."""
    monkeypatch.chdir(tmp_path)
    for name, value in office.home.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PENSTOCK_METRICS_TOKEN", METRICS)

    def run(*words: str) -> tuple[bytes, bytes]:
        capfdbinary.readouterr()
        program.run(["--debug", *words])
        return capfdbinary.readouterr()

    return run


def test_what_the_command_line_says_holds_no_secret(
    office: Office, run: Run, tmp_path: Path
) -> None:
    """On standard error, where messages go; also of commands that fail, with tracebacks."""
    query = {**QUERY, "name": "pushed", "values": VALUES}
    (tmp_path / "good.json").write_text(json.dumps(query))
    (tmp_path / "bad.json").write_text(json.dumps({**query, "values": [*VALUES, "x"]}))
    (tmp_path / "torn.json").write_text(json.dumps(query)[:-20])
    said = b""
    for words in (
        ("token", "create", "ann"),
        ("query", "register", "bad.json"),
        ("query", "register", "torn.json"),
        ("query", "register", "good.json"),
        ("release", "pushed", "--as", "ann", "--format", "json"),
        ("release", "absent", "--as", "ann"),
        ("status",),
        ("config", "show"),
        ("backup", str(tmp_path / "copy")),
        ("backup", str(tmp_path / "copy")),
    ):
        out, error = run(*words)
        said += error
        if words[0] == "token":
            office.keep("a new token", out.decode().strip())
        elif words[:2] == ("release", "pushed"):
            for value in json.loads(out)["values"]:
                office.keep(f"the value {value}", value)
        else:
            assert told(out, office.secrets) == [], words
    office.keep("an exact value", VALUES[0])
    assert b"Traceback" in said
    assert told(said, office.secrets) == []


def test_what_a_command_of_its_own_process_says_holds_no_secret(
    office: Office, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "penstock", "--debug", "query", "register", "bad.json"],
        input=b"",
        cwd=_with_a_bad_query(tmp_path),
        env={**environ, **office.home.environment, "PENSTOCK_METRICS_TOKEN": METRICS},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    office.keep("an exact value", VALUES[0])
    assert b"Traceback" in done.stderr
    assert told(done.stdout + done.stderr, office.secrets) == []


def _with_a_bad_query(folder: Path) -> Path:
    query = {**QUERY, "name": "pushed", "values": [*VALUES, "x"]}
    (folder / "bad.json").write_text(json.dumps(query))
    return folder
