"""Test a new configuration, or the end, with requests under way: none of them fails.

A real server of two workers; readers on connections that they keep, and on new ones.
"""

import http.client
import json
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from os import kill
from pathlib import Path

import pytest
from tests.api.served.serving import PATIENCE
from tests.api.served.under_load.readers import (
    ASK,
    FREELY,
    METRICS,
    SETTINGS,
    Reader,
    descriptors,
    go_on,
    has_home,
    load,
    serving,
    signed_in,
    wait,
)
from tests.api.world import furnish
from tests.contracts.running import Running
from tests.databases.homes import Home, Homes

HARDLY = "failed_sign_ins = 1\n"
MINUTE = 60.0
"""After which one more bad token is allowed."""

LISTENING = "0A"  # in /proc/net/tcp


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home to be copied."""
    made = Homes(None).empty(tmp_path_factory.mktemp("model") / "home")
    furnish(made)
    return made


@pytest.fixture(scope="module")
def lasting(model: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str]]:
    """Provide a server of two workers that goes on.

    Who has a good token may ask as often as they want.
    """
    place = tmp_path_factory.mktemp("lasting")
    with serving(model, place, FREELY + HARDLY + "workers = 2\n") as found:
        yield found


def workers(started: Running) -> set[int]:
    """Return the processes that answer."""
    assert started.process is not None
    parent = started.process.pid
    return {int(one) for one in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}


def replaced(started: Running, gone: set[int], count: int = 2) -> None:
    """Wait until no worker of ``gone`` is left, and ``count`` are there."""
    wait(lambda: not workers(started) & gone and len(workers(started)) == count, started)


def are_ready(started: Running) -> bool:
    """Return whether each worker has read its settings, and opened the home."""
    return all(has_home(worker) for worker in workers(started))


def asked(started: Running, token: str) -> tuple[int, str]:
    """Send one request on a connection of its own; its status and values."""
    connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=PATIENCE)
    try:
        return Reader(started.port, token, keeps=False).ask(connection)
    finally:
        connection.close()


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.nightly)])
def test_a_reload_under_load_fails_no_request(lasting: tuple[Running, str], times: int) -> None:
    started, token = lasting
    assert started.process is not None
    with load(started, token) as readers:
        for _ in range(times):
            before = workers(started)
            kill(started.process.pid, signal.SIGHUP)
            replaced(started, before)
            go_on(readers, started)
    assert [fault for reader in readers for fault in reader.faults] == []
    answers = [answer for reader in readers for answer in reader.answers]
    assert len(set(answers)) == 1, "one status, one vector, before and after"
    assert answers[0][0] == 200
    assert "traceback" not in started.log.read_text().lower()


def logged(started: Running, text: str) -> None:
    """Wait until the log says so."""
    wait(lambda: text in started.log.read_text(), started)


@pytest.mark.nightly
def test_readers_notice_when_workers_are_merely_killed(lasting: tuple[Running, str]) -> None:
    """The test above can fail."""
    started, token = lasting
    with load(started, token) as readers:
        before = workers(started)
        for one in before:
            kill(one, signal.SIGKILL)
        replaced(started, before)
        go_on(readers, started)
    assert [fault for reader in readers for fault in reader.faults]


def scrape(port: int) -> dict[str, float]:
    """Return how many releases were answered, by the class of their status."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {METRICS}"})
    text = connection.getresponse().read().decode()
    connection.close()
    marked = 'penstock_requests_total{route="/api/v1/queries/<query>/releases",status="'
    return {
        line.removeprefix(marked)[:3]: float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if line.startswith(marked)
    }


def test_workers_count_together_also_one_that_is_killed(lasting: tuple[Running, str]) -> None:
    started, token = lasting

    def ask(times: int) -> None:
        for _ in range(times):
            assert asked(started, token)[0] == 200

    ask(1)
    (first,) = {scrape(started.port)["2xx"] for _ in range(6)}
    ask(20)
    counted = {scrape(started.port)["2xx"] for _ in range(6)}
    assert counted == {first + 20}, "whichever worker is asked"
    killed = min(workers(started))
    kill(killed, signal.SIGKILL)
    replaced(started, {killed})
    ask(5)
    assert {scrape(started.port)["2xx"] for _ in range(6)} == {first + 25}
    assert [path.name for path in started.folder.iterdir()] == [SETTINGS], "nothing lies about"


def stands_still(process: int) -> bool:
    """Tell whether a process was stopped by a signal, or has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "TZX"
    return True


@contextmanager
def halted(worker: int, started: Running) -> Iterator[None]:
    """Let a worker do nothing, so that another one takes whatever is asked meanwhile."""
    # Where this takes minutes, the server ends the worker as one that hangs.
    with suppress(ProcessLookupError):
        kill(worker, signal.SIGSTOP)
    try:
        wait(lambda: stands_still(worker), started)
        yield
    finally:
        with suppress(ProcessLookupError):
            kill(worker, signal.SIGCONT)


def test_workers_share_what_is_allowed(lasting: tuple[Running, str]) -> None:
    """Allow one bad token a minute from one address, whichever worker hears of it.

    How long it takes only says how many more may have been allowed meanwhile.
    """
    started, token = lasting
    wait(lambda: are_ready(started), started)
    began, statuses = time.monotonic(), []
    for worker in workers(started):
        with halted(worker, started):
            statuses += [signed_in(started, token[:-1] + "!") for _ in range(2)]
    more = (time.monotonic() - began) / MINUTE
    assert set(statuses) <= {401, 429}
    assert 1 <= statuses.count(401) <= 1 + more
    assert signed_in(started, token) == 200


def test_a_reload_takes_new_settings_and_leaves_a_server_with_bad_ones_alone(
    lasting: tuple[Running, str],
) -> None:
    started, token = lasting
    assert started.process is not None
    wait(lambda: are_ready(started), started)  # one that reads bad settings as it starts ends all
    before = workers(started)
    file = started.folder / SETTINGS
    file.write_text("workers = 'many'\n")
    kill(started.process.pid, signal.SIGHUP)
    logged(started, "Not reloaded; the workers serve as before: Error: ")
    assert "workers" in started.log.read_text()
    assert asked(started, token)[0] == 200
    assert workers(started) == before
    file.write_text(FREELY + "workers = 1\n")
    kill(started.process.pid, signal.SIGHUP)
    replaced(started, before, 1)
    assert asked(started, token)[0] == 200


def read_by_the_server(connection: http.client.HTTPConnection) -> bool:
    """Return whether a worker took all that was sent: nothing of it waits on either side."""
    assert connection.sock is not None
    ends = {f"{connection.sock.getsockname()[1]:04X}", f"{connection.port:04X}"}
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, queues, _, _, _, _, number, *_ = line.split()
        if {local.partition(":")[2], remote.partition(":")[2]} == ends:
            found.append((queues, number != "0"))  # before it is taken it has no file
    return found == [("00000000:00000000", True)] * 2


def takes_nobody_more(started: Running) -> bool:
    """Return whether no worker waits for new connections, as soon as it knows of its end."""
    port, sockets = f":{started.port:04X}", set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, _, _, _, _, _, number, *_ = line.split()
        if local.endswith(port) and state == LISTENING:
            sockets.add(f"socket:[{number}]")
    for worker in workers(started):
        ends, awaited = set(), set()
        for file in descriptors(worker):
            with suppress(OSError):  # closed meanwhile, or the worker has ended
                if str(file.readlink()) in sockets:
                    ends.add(file.name)
                told = Path(f"/proc/{worker}/fdinfo/{file.name}").read_text().splitlines()
                awaited |= {line.split()[1] for line in told if line.startswith("tfd:")}
        if not ends or ends & awaited:
            return False
    return True


def test_what_is_under_way_is_answered_before_the_server_ends(lasting: tuple[Running, str]) -> None:
    """Half of a request is sent, the server is told to end, then comes the other half.

    This is the last of the tests of the server that lasts.
    """
    started, token = lasting
    assert started.process is not None
    asking = http.client.HTTPConnection("127.0.0.1", started.port, timeout=PATIENCE)
    with closing(asking) as connection:
        connection.putrequest("POST", ASK)
        connection.putheader("Authorization", f"Bearer {token}")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", "2")
        connection.endheaders(b"{")
        wait(lambda: read_by_the_server(connection), started)
        assert not takes_nobody_more(started)
        kill(started.process.pid, signal.SIGTERM)
        wait(lambda: takes_nobody_more(started), started)
        assert started.process.poll() is None
        connection.send(b"}")
        response = connection.getresponse()
        assert response.status == 200
        assert json.loads(response.read())["query"] == "visits"
    assert started.process.wait(PATIENCE) == 0
