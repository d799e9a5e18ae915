"""Start gunicorn over a copy of a home, as an operator would."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.databases.homes import Home, Homes
from tests.support import ending
from tests.support.places import ROOT

from penstock.services.access.principals import OPERATOR
from penstock.services.operations import home
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec

CONFIGURATION = ROOT / "deploy" / "gunicorn.conf.py"


ASK = "/api/v1/queries/visits/releases"


PATIENCE = 300.0
"""Seconds after which a server that says nothing hangs."""


@dataclass
class Serving:
    """Represent gunicorn over a home, on a port of this machine."""

    home: Path
    environment: dict[str, str]
    port: int
    token: str
    process: subprocess.Popen[bytes] | None = None
    workers: int = 2

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = {**self.environment, "PENSTOCK_PORT": str(self.port)}
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "-c", str(CONFIGURATION)],
                env={**os.environ, **settings, "PENSTOCK_WORKERS": str(self.workers)},
                cwd=self.home.parent,
                stdout=log,
                stderr=log,
                preexec_fn=ending.with_the_parent(),
            )
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < until:
            try:
                self.ask("GET", "/healthz")
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError((self.home / "log").read_text())

    def stop(self, number: int) -> int:
        """Send a signal and wait for the end; the exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        # Beyond gunicorn's own bound: a worker that is told to stop while it starts may
        # not hear it, and is ended when graceful_timeout (30 seconds) is over.
        return self.process.wait(PATIENCE)

    def ask(self, verb: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            data = None if body is None else json.dumps(body)
            connection.request(verb, path, body=data, headers=headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def say(self, data: bytes) -> bytes:
        """Send bytes as they are; what comes back until the connection ends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            answer = b""
            while part := connection.recv(65536):
                answer += part
        return answer


def serve_copy(
    homes: Homes,
    furnished: Home,
    folder: Path,
    user: str = "ian",
    workers: int = 2,
    **settings: str,
) -> Serving:
    """Serve a copy of a home, with a user's token that is valid by this machine's clock.

    ``settings`` are variables of the environment.
    """
    copy = homes.copy(furnished, folder)
    server = home.open_server(copy.settings())
    token = tokens.issue(server, OPERATOR, user, TokenSpec()).token
    server.database.close()
    return serve(copy, token, workers, **settings)


def serve(served: Home, token: str, workers: int = 2, **settings: str) -> Serving:
    """Serve a home itself; ``token`` is that of its user who asks."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**served.environment, **settings}
    started = Serving(served.folder, environment, port, token, workers=workers)
    started.start()
    return started
