"""Provide readers who ask a server without pause while it is reloaded."""

import http.client
import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from os import environ
from pathlib import Path

from tests.api.served.serving import PATIENCE
from tests.contracts.running import Running, free_port, running
from tests.databases.homes import Home

from penstock.services.access.principals import OPERATOR
from penstock.services.operations import home
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec

ASK = "/api/v1/queries/visits/releases"


READERS = 4


PAUSE_SECONDS = 0.05
"""Between two requests of a reader: more only keeps new workers from starting."""


ANSWERS = 20
"""How many each of them has before something happens, and after it."""


SETTINGS = "penstock.toml"


FREELY = "request_rate = 0\n"


METRICS = "a-token-for-monitoring"


@dataclass
class Reader:
    """Ask again and again, on one connection while it lasts or on a new one each time."""

    port: int
    token: str
    keeps: bool
    answers: list[tuple[int, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def read(self, stop: threading.Event) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        while not stop.is_set():
            try:
                self.answers.append(self.ask(connection))
            except (OSError, http.client.HTTPException) as error:
                self.faults.append(repr(error))
                connection.close()
            if not self.keeps:
                connection.close()
            time.sleep(PAUSE_SECONDS)
        connection.close()

    def ask(self, connection: http.client.HTTPConnection) -> tuple[int, str]:
        """Send one request; its status and values."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", ASK, body="{}", headers=headers)
        response = connection.getresponse()
        return response.status, str(json.loads(response.read()).get("values"))


@contextmanager
def serving(model: Home, place: Path, settings: str) -> Iterator[tuple[Running, str]]:
    """Yield the server as its users start it, over a copy of a furnished home; a token."""
    shutil.copytree(model.folder, place / "home")
    chosen = Home(place / "home", None, {}).settings()
    opened = home.open_server(chosen)
    token = tokens.issue(opened, OPERATOR, "ian", TokenSpec()).token
    opened.database.close()
    folder = place / "folder"
    folder.mkdir()
    (folder / SETTINGS).write_text(settings)
    port = free_port()
    command = [sys.executable, "-P", "-m", "penstock", "serve", "--port", str(port)]
    more = {"PENSTOCK_HOME": str(chosen.home), "PENSTOCK_METRICS_TOKEN": METRICS}
    more["PENSTOCK_LOG_PATIENCE"] = str(PATIENCE)
    with running(command, folder, {**environ, **more}, port) as started:
        yield started, token


def wait(condition: Callable[[], bool], started: Running) -> None:
    """Wait until it is so; for long it is not only where a server hangs."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, started.log.read_text()
        time.sleep(0.05)


def descriptors(worker: int) -> list[Path]:
    """Return what a process has open; nothing where it has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return list(Path(f"/proc/{worker}/fd").iterdir())
    return []


def has_home(worker: int) -> bool:
    """Tell whether a worker has read its settings, and opened the home."""
    opened = set()
    for file in descriptors(worker):
        with suppress(OSError):  # closed meanwhile, or the worker has ended
            opened.add(file.readlink().name)
    return "penstock.db" in opened


def go_on(readers: list[Reader], started: Running) -> None:
    """Wait until every reader has had many answers more."""
    wanted = [len(reader.answers) + ANSWERS for reader in readers]
    pairs = list(zip(readers, wanted, strict=True))
    wait(lambda: all(len(one.answers) >= goal for one, goal in pairs), started)


@contextmanager
def load(started: Running, token: str) -> Iterator[list[Reader]]:
    """Provide readers who have had answers already, and go on meanwhile."""
    readers = [Reader(started.port, token, keeps=number % 2 == 0) for number in range(READERS)]
    stop = threading.Event()
    threads = [threading.Thread(target=reader.read, args=(stop,)) for reader in readers]
    for thread in threads:
        thread.start()
    try:
        go_on(readers, started)
        yield readers
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def signed_in(started: Running, token: str) -> int:
    """Return the status that a token is answered with."""
    connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", "/api/v1/me", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status
