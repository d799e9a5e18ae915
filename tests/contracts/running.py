"""Provide a server as people start it: a command in a folder, on a port of this machine."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from tests.support import ending

START_SECONDS = 600.0
STOP_SECONDS = 600.0
"""These only end a hang: no outcome depends on them."""


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@dataclass
class Running:
    """Run a command that serves on ``port``, with all processes that it started.

    ``log`` is what it says; it stands outside of ``folder``, which is the server's alone.
    ``patience`` is how many seconds it may take to start.
    """

    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    port: int
    log: Path
    patience: float = START_SECONDS
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return the address where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the command, and wait until its server answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=ending.with_the_parent(signal.SIGTERM),
            )
        deadline = time.monotonic() + self.patience
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                httpx.get(f"{self.url}/healthz", timeout=START_SECONDS).raise_for_status()
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError(f"it does not answer:\n{self.log.read_text()}")

    def end(self, number: int) -> int:
        """Signal all processes of the command, wait, and return the first one's exit status."""
        assert self.process is not None
        os.killpg(self.process.pid, number)
        return self.process.wait(STOP_SECONDS)


@contextmanager
def running(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    port: int,
    patience: float = START_SECONDS,
) -> Iterator[Running]:
    """Yield the started server, stopped afterwards whatever happens."""
    log = folder.with_name(f"{folder.name}.log")
    server = Running(command, folder, environment, port, log, patience)
    try:
        server.start()
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            try:
                server.end(signal.SIGTERM)
            except subprocess.TimeoutExpired:
                server.end(signal.SIGKILL)
                raise
