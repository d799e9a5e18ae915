"""Provide ``penstock serve`` as its users start it, in a process and a folder of its own."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOST = "127.0.0.1"
START_SECONDS = 600.0
STOP_SECONDS = 600.0


@contextmanager
def served(home: Path, workers: int, quantum: float) -> Iterator[int]:
    """Yield the port of a server of ``home`` that is ready; stopped at the end."""
    port = _free_port()
    log = home.parent / "server.log"
    with log.open("ab") as written:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "penstock", "serve"),
                *("--host", HOST, "--port", str(port), "--workers", str(workers)),
            ],
            env=_environment(home, quantum),
            cwd=home.parent,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
        )
    try:
        _wait_until_ready(server, port)
        yield port
    except Exception as error:
        error.add_note(f"The server's log, without its answers:\n{_events(log)}")
        raise
    finally:
        _stop(server)


def _environment(home: Path, quantum: float) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
    return {
        **inherited,
        "PENSTOCK_HOME": str(home),
        "PENSTOCK_TIME_QUANTUM": str(quantum),
        "PENSTOCK_LOG_PATIENCE": "120",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        if _ready(port):
            return
        time.sleep(0.05)
    raise RuntimeError(f"The server did not start within {START_SECONDS:g} s.")


def _events(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join(line for line in lines if '"answered"' not in line)[-4000:]


def _ready(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    try:
        connection.request("GET", "/readyz")
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
