"""Provide ``penstock serve`` as its users start it, or another server, in its own process."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support import ending

HOST = "127.0.0.1"
START_SECONDS = 600.0
STOP_SECONDS = 600.0


@dataclass(frozen=True)
class Running:
    """Hold where a server answers, and the number of its first process."""

    port: int
    process: int


@contextmanager
def served(home: Path, workers: int, quantum: float) -> Iterator[int]:
    """Yield the port of a server of ``home`` that is ready; stopped at the end."""
    command = [sys.executable, "-m", "penstock", "serve"]
    environment = {
        "PENSTOCK_HOME": str(home),
        "PENSTOCK_TIME_QUANTUM": str(quantum),
        "PENSTOCK_LOG_PATIENCE": "120",
        "PENSTOCK_LEVELS_PER_DAY": "1000000",  # one reader draws more than people may
        "PENSTOCK_WORKERS": str(workers),
    }
    with started(command, environment, home.parent) as server:
        yield server.port


@contextmanager
def started(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    ready: str = "/readyz",
    within: Path | None = None,
) -> Iterator[Running]:
    """Yield a server that answers at the address ``ready``; stopped at the end.

    The variables that Penstock reads name host and port, beside those of ``environment``.  Its log
    is in ``folder``, where it is started too, unless ``within`` names another folder.
    """
    port = _free_port()
    log = folder / "server.log"
    with log.open("ab") as written:
        server = subprocess.Popen(
            command,
            env=without_settings()
            | {"PENSTOCK_HOST": HOST, "PENSTOCK_PORT": str(port)}
            | dict(environment),
            cwd=within or folder,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            preexec_fn=ending.with_the_parent(),
        )
    try:
        _wait_until_ready(server, port, ready)
        yield Running(port, server.pid)
    except Exception as error:
        error.add_note(f"The server's log, without its answers:\n{_events(log)}")
        raise
    finally:
        _stop(server)


def without_settings() -> dict[str, str]:
    """Return the environment of this process, without Penstock's settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(server: subprocess.Popen[bytes], port: int, ready: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        if _answers(port, ready):
            return
        time.sleep(0.05)
    raise RuntimeError(f"The server did not start within {START_SECONDS:g} s.")


def _events(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join(line for line in lines if '"answered"' not in line)[-4000:]


def _answers(port: int, ready: str) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    try:
        connection.request("GET", ready)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
