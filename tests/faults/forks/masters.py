"""Provide gunicorn masters as an operator starts them, and readers who ask them over HTTP."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.processes import HANG
from tests.faults.reports import Reported
from tests.faults.stage import HANG as LONGEST
from tests.faults.stage import Ask, analyst, opened, settings_of
from tests.support import ending
from tests.support.places import ROOT

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec

CONFIGURATION = ROOT / "deploy" / "gunicorn.conf.py"
IMPATIENT = 5.0
"""Seconds that a server waits for a lock where its database is to go away."""


@dataclass
class Reader:
    """Query as an analyst with a token, over connections that are kept."""

    name: str
    token: str
    connections: dict[int, http.client.HTTPConnection] = field(default_factory=dict)

    def post(self, port: int, path: str, body: object) -> tuple[int, dict[str, Any]]:
        """Send one request, and return the status and the document of the answer."""
        if port not in self.connections:
            self.connections[port] = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG)
        connection = self.connections[port]
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", path, body=json.dumps(body), headers=headers)
        response = connection.getresponse()
        found: dict[str, Any] = json.loads(response.read())
        if response.will_close:
            self.connections.pop(port).close()
        return response.status, found

    def ask(self, port: int, ask: Ask) -> tuple[int, dict[str, Any]]:
        """Ask for a release."""
        return self.post(port, f"/api/v1/queries/{ask.query}/releases", {"level": ask.level})

    def told(self, ask: Ask, answer: dict[str, Any]) -> Reported:
        """Return an answer, as the other readers of the tests write theirs down."""
        return Reported(
            self.name, ask, answer["id"], answer["receipt"]["leaf_hash"], tuple(answer["values"])
        )

    def close(self) -> None:
        """End the connections."""
        for connection in self.connections.values():
            connection.close()


def readers(home: Path, count: int) -> list[Reader]:
    """Return the analysts of a home, each with a token."""
    with opened(home) as server:
        return [
            Reader(analyst(n), tokens.issue(server, OPERATOR, analyst(n), TokenSpec()).token)
            for n in range(count)
        ]


@contextmanager
def masters(
    home: Path, count: int, *, workers: int = 2, busy_timeout: float = LONGEST
) -> Iterator[Sequence[int]]:
    """Start masters with workers over one home, and yield the ports that they answer on."""
    ports = [_free_port() for _ in range(count)]
    running = [_started(home, port, workers, busy_timeout) for port in ports]
    try:
        for port, process in zip(ports, running, strict=True):
            _wait_for(home, port, process)
        yield ports
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait(HANG)


def log_of(home: Path) -> str:
    """Return what the masters of a home said."""
    return home.with_name("masters").read_text()


def _started(home: Path, port: int, workers: int, busy_timeout: float) -> "subprocess.Popen[bytes]":
    settings = settings_of(home)
    environment = {
        "PENSTOCK_CONFIG": os.devnull,
        "PENSTOCK_HOME": str(home),
        "PENSTOCK_DATA_ANYWHERE": "on",
        "PENSTOCK_DATABASE_URL": settings.database_url,
        "PENSTOCK_PORT": str(port),
        "PENSTOCK_WORKERS": str(workers),
        "PENSTOCK_TIME_QUANTUM": "0",
        "PENSTOCK_BUSY_TIMEOUT": str(busy_timeout),
        # A machine that is busy with other tests fails none of them.
        "PENSTOCK_LOG_PATIENCE": str(LONGEST),
    }
    with home.with_name("masters").open("ab") as log:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "-c", str(CONFIGURATION)),
                # Nobody is given up for being slow, neither a reader nor a worker.
                *("--keep-alive", str(int(LONGEST)), "--timeout", str(int(LONGEST))),
            ],
            env={**os.environ, **environment},
            cwd=home.parent,
            stdout=log,
            stderr=log,
            preexec_fn=ending.with_the_parent(),
        )


def _wait_for(home: Path, port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + HANG
    while True:
        assert process.poll() is None, log_of(home)
        assert time.monotonic() < until, log_of(home)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG)
        try:
            connection.request("GET", "/healthz")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.05)
        else:
            return
        finally:
            connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
