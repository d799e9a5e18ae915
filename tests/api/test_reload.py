"""A new configuration, or the end, with requests under way: none of them fails.

A real server of two workers; readers on connections that they keep, and on new ones.
"""

import http.client
import json
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import environ, kill
from pathlib import Path

import pytest
from tests.contracts.running import Running, free_port, running
from tests.databases.homes import Home

from penstock.services import home, tokens
from penstock.services.principals import OPERATOR
from penstock.services.specs import TokenSpec

pytestmark = pytest.mark.only("sqlite")

ASK = "/api/v1/queries/visits/releases"
READERS = 6
SETTINGS = "penstock.toml"
METRICS = "a-token-for-monitoring"


@dataclass
class Reader:
    """Asks again and again, on one connection while it lasts or on a new one each time."""

    port: int
    token: str
    keeps: bool
    answers: list[tuple[int, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def read(self, stop: threading.Event) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not stop.is_set():
            try:
                self.answers.append(self.ask(connection))
            except (OSError, http.client.HTTPException) as error:
                self.faults.append(repr(error))
                connection.close()
            if not self.keeps:
                connection.close()
            time.sleep(0.002)
        connection.close()

    def ask(self, connection: http.client.HTTPConnection) -> tuple[int, str]:
        """One request; its status and values."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", ASK, body="{}", headers=headers)
        response = connection.getresponse()
        return response.status, str(json.loads(response.read()).get("values"))


@pytest.fixture
def server(
    furnished: tuple[Home, dict[str, str]], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[Running, str]]:
    """The server as its users start it, over a copy of the furnished home; a token.

    It has two workers, or as many as the test asks for.
    """
    shutil.copytree(furnished[0].folder, tmp_path / "home")
    settings = Home(tmp_path / "home", None, {}).settings()
    opened = home.open_server(settings)
    token = tokens.issue(opened, OPERATOR, "ian", TokenSpec()).token
    opened.database.close()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / SETTINGS).write_text(f"workers = {getattr(request, 'param', 2)}\n")
    port = free_port()
    command = [sys.executable, "-P", "-m", "penstock", "serve", "--port", str(port)]
    more = {"PENSTOCK_HOME": str(settings.home), "PENSTOCK_METRICS_TOKEN": METRICS}
    with running(command, folder, {**environ, **more}, port) as started:
        yield started, token


def workers(started: Running) -> set[int]:
    """The processes that answer."""
    assert started.process is not None
    parent = started.process.pid
    return {int(one) for one in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}


def replaced(started: Running, before: set[int]) -> None:
    """Wait until no worker of ``before`` is left, and as many others are there."""
    until = time.monotonic() + 40
    while time.monotonic() < until:
        now = workers(started)
        if not now & before and len(now) == len(before):
            return
        time.sleep(0.05)
    raise AssertionError(started.log.read_text())


def go_on(readers: list[Reader]) -> None:
    """Wait until every reader has had many answers more."""
    wanted = [len(reader.answers) + 40 for reader in readers]
    until = time.monotonic() + 40
    while any(len(one.answers) < goal for one, goal in zip(readers, wanted, strict=True)):
        assert time.monotonic() < until, [reader.faults for reader in readers]
        time.sleep(0.05)


@contextmanager
def load(started: Running, token: str) -> Iterator[list[Reader]]:
    """Readers who have had answers already, and go on meanwhile."""
    readers = [Reader(started.port, token, keeps=number % 2 == 0) for number in range(READERS)]
    stop = threading.Event()
    threads = [threading.Thread(target=reader.read, args=(stop,)) for reader in readers]
    for thread in threads:
        thread.start()
    try:
        go_on(readers)
        yield readers
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_reload_under_load_fails_no_request(server: tuple[Running, str]) -> None:
    started, token = server
    assert started.process is not None
    with load(started, token) as readers:
        for _ in range(2):
            before = workers(started)
            kill(started.process.pid, signal.SIGHUP)
            replaced(started, before)
            go_on(readers)
    assert [fault for reader in readers for fault in reader.faults] == []
    answers = [answer for reader in readers for answer in reader.answers]
    assert len(set(answers)) == 1, "one status, one vector, before and after"
    assert answers[0][0] == 200
    assert "Traceback" not in started.log.read_text()


def logged(started: Running, text: str) -> None:
    """Wait until the log says so."""
    until = time.monotonic() + 40
    while text not in started.log.read_text():
        assert time.monotonic() < until, started.log.read_text()
        time.sleep(0.05)


@pytest.mark.parametrize("server", [1], indirect=True)  # which is ready when it answers
def test_a_reload_takes_new_settings_and_leaves_a_server_with_bad_ones_alone(
    server: tuple[Running, str],
) -> None:
    started, token = server
    assert started.process is not None
    before = workers(started)
    file = started.folder / SETTINGS
    file.write_text("workers = 'many'\n")
    kill(started.process.pid, signal.SIGHUP)
    logged(started, "Not reloaded, and serving as before: Error: ")
    assert "workers" in started.log.read_text()
    time.sleep(0.3)
    assert workers(started) == before
    file.write_text("workers = 2\n")
    kill(started.process.pid, signal.SIGHUP)
    until = time.monotonic() + 40
    while (now := workers(started)) & before or len(now) != 2:
        assert time.monotonic() < until, started.log.read_text()
        time.sleep(0.05)
    connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=30)
    assert Reader(started.port, token, keeps=False).ask(connection)[0] == 200
    connection.close()


def test_readers_notice_when_workers_are_merely_killed(server: tuple[Running, str]) -> None:
    """The test above can fail."""
    started, token = server
    with load(started, token) as readers:
        before = workers(started)
        for one in before:
            kill(one, signal.SIGKILL)
        replaced(started, before)
        go_on(readers)
    assert [fault for reader in readers for fault in reader.faults]


def test_what_is_under_way_is_answered_before_the_server_ends(server: tuple[Running, str]) -> None:
    """Half of a request is sent, the server is told to end, then comes the other half."""
    started, token = server
    assert started.process is not None
    connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=30)
    connection.putrequest("POST", ASK)
    connection.putheader("Authorization", f"Bearer {token}")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "2")
    connection.endheaders(b"{")
    time.sleep(0.3)  # until a worker has it
    kill(started.process.pid, signal.SIGTERM)
    time.sleep(0.7)
    assert started.process.poll() is None
    connection.send(b"}")
    response = connection.getresponse()
    assert response.status == 200
    assert json.loads(response.read())["query"] == "visits"
    connection.close()
    assert started.process.wait(40) == 0


def scrape(port: int) -> dict[str, float]:
    """Releases that were answered, by the class of their status."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {METRICS}"})
    text = connection.getresponse().read().decode()
    connection.close()
    marked = 'penstock_requests_total{route="/api/v1/queries/<query>/releases",status="'
    return {
        line.removeprefix(marked)[:3]: float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if line.startswith(marked)
    }


def test_workers_count_together_also_those_that_are_killed(server: tuple[Running, str]) -> None:
    started, token = server
    reader = Reader(started.port, token, keeps=False)

    def ask(times: int) -> None:
        for _ in range(times):
            connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=30)
            assert reader.ask(connection)[0] == 200
            connection.close()

    ask(20)
    assert {scrape(started.port)["2xx"] for _ in range(6)} == {20}, "whichever worker is asked"
    before = workers(started)
    for one in before:
        kill(one, signal.SIGKILL)
    replaced(started, before)
    ask(5)
    assert {scrape(started.port)["2xx"] for _ in range(6)} == {25}
    assert [path.name for path in started.folder.iterdir()] == [SETTINGS], "nothing lies about"


def test_workers_share_what_is_allowed(server: tuple[Running, str]) -> None:
    """Ten bad tokens a minute from one address, whichever worker hears of them."""
    started, token = server
    statuses = []
    for bad in [True] * 13 + [False]:
        connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=30)
        sent = token[:-1] + "!" if bad else token
        connection.request("GET", "/api/v1/me", headers={"Authorization": f"Bearer {sent}"})
        statuses.append(connection.getresponse().status)
        connection.close()
    assert statuses == [401] * 10 + [429] * 3 + [200]
