"""Test clients that send or read slowly, or nothing: they keep no thread from others.

A real server of one worker, which waits for clients for a day, so that nothing here is answered
because they were given up; where that is what is tried, for a second.
"""

import contextlib
import json
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from tests.api.served.serving import ASK, PATIENCE, Serving, serve_copy
from tests.api.world import furnish
from tests.databases.homes import Home, Homes

THREADS = 8
MANY = 3 * THREADS
DAY = {"PENSTOCK_CLIENT_PATIENCE": "86400", "PENSTOCK_BUSY_TIMEOUT": "600"}
SECOND = {"PENSTOCK_CLIENT_PATIENCE": "1"}
FORM = b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
QUERY = b"POST /api/v1/queries HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
SENT = {
    "nothing": b"",
    "a part of the first line": b"GET /heal",
    "a part of the head": b"GET /healthz HTTP/1.1\r\nHost: x\r\n",
    "a part of a form": FORM + b"Content-Length: 1000\r\n\r\ntoken=",
    "a part of a form in chunks": FORM + b"Transfer-Encoding: chunked\r\n\r\n400\r\ntoken=",
    "a form that waits to be asked for": FORM
    + b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n",
    "a part of a form that is too large": FORM + b"Content-Length: 60000000\r\n\r\ntoken=",
    "a part of a head that is too large": b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: x\r\n" * 6000,
    "a part of a query by nobody": QUERY + b"Content-Length: 900000\r\n\r\n{",
    "a part of a query in chunks by nobody": QUERY + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    "a part of a body that nobody asked for": b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    b"Content-Length: 900000\r\n\r\n{",
    "a part of a body for nothing": b"POST /nothing HTTP/1.1\r\nHost: x\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home to be copied."""
    made = Homes(None).empty(tmp_path_factory.mktemp("slow") / "home")
    furnish(made)
    return made


@contextlib.contextmanager
def served(model: Home, place: Path, settings: dict[str, str]) -> Iterator[Serving]:
    """Yield a server of one worker over a copy."""
    started = serve_copy(Homes(None), model, place / "home", workers=1, **settings)
    try:
        yield started
    finally:
        assert started.process is not None
        started.process.kill()
        started.process.wait()


@pytest.fixture(scope="module")
def patient(model: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Yield a server that waits for its clients for a day."""
    with served(model, tmp_path_factory.mktemp("patient"), DAY) as found:
        yield found


@pytest.fixture(scope="module")
def hasty(model: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Yield a server that waits for them for a second."""
    with served(model, tmp_path_factory.mktemp("hasty"), SECOND) as found:
        yield found


def connected(server: Serving, buffer: int | None = None) -> socket.socket:
    """Return a connection, which takes no more than ``buffer`` bytes unless it is read from."""
    made = socket.socket()
    if buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    made.settimeout(PATIENCE)
    made.connect(("127.0.0.1", server.port))
    return made


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_clients_that_stall_keep_no_thread_from_others(patient: Serving, sent: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(MANY):
            stack.enter_context(closing(connected(patient))).sendall(sent)
        assert patient.ask("POST", ASK, {})[0] == 200
        assert patient.ask("GET", "/healthz") == (200, {"status": "up"})


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_clients_that_stall_keep_no_thread_from_large_bodies(patient: Serving, sent: bytes) -> None:
    asked = json.dumps({}).encode()
    large = (
        f"POST {ASK} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Authorization: Bearer {patient.token}\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode() + b"%x\r\n%b\r\n0\r\n\r\n" % (len(asked), asked)
    with ExitStack() as stack:
        for _ in range(MANY):
            stack.enter_context(closing(connected(patient))).sendall(sent)
        assert patient.say(large).startswith(b"HTTP/1.1 200")


def test_a_form_that_waits_is_told_to_go_on(patient: Serving) -> None:
    with closing(connected(patient)) as connection:
        connection.sendall(SENT["a form that waits to be asked for"])
        assert connection.recv(65536).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.sendall(b"token=abc")
        told = b""
        while b"\r\n\r\n<" not in told:
            told += connection.recv(65536)
        assert b"HTTP/1.1 403" in told, "it comes from no page of ours"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("a part of a form in chunks", 411),
        ("a part of a form that is too large", 403),
        ("a part of a head that is too large", 431),
        ("a part of a query by nobody", 401),
        ("a part of a body for nothing", 404),
    ],
)
def test_what_will_not_be_read_is_refused_before_it_has_come(
    patient: Serving, sent: str, status: int
) -> None:
    with closing(connected(patient)) as connection:
        connection.sendall(SENT[sent])
        head = connection.recv(65536)
        assert head.startswith(b"HTTP/1.1 %d" % status)
        assert b"Connection: close" in head


def test_clients_that_do_not_read_keep_no_thread_from_others(patient: Serving) -> None:
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    whole = len(patient.say(asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")))
    with ExitStack() as stack:
        slow = [stack.enter_context(closing(connected(patient, 4096))) for _ in range(MANY)]
        for connection in slow:
            connection.sendall(asked)
        assert patient.ask("POST", ASK, {})[0] == 200
        # Who reads in the end has all of it.
        slow[0].sendall(asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert sum(iter(lambda: len(slow[0].recv(65536)), 0)) >= 2 * whole - 100


def test_a_client_that_leaves_its_connection_open_holds_up_nobody(patient: Serving) -> None:
    """The end of an answer is waited for beside others: in turn it would take two seconds each."""
    with ExitStack() as stack:
        for _ in range(MANY):
            connection = stack.enter_context(closing(connected(patient)))
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert patient.ask("GET", "/healthz") == (200, {"status": "up"})


def test_whoever_watches_is_answered_while_every_thread_waits(patient: Serving) -> None:
    """Writers wait for the database, which somebody else has; more of them than threads."""
    answers: list[Any] = []
    database = patient.home / "database" / "penstock.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        def ask(number: int) -> None:
            answers.append(patient.ask("POST", ASK, {"epsilon": 0.2 + number / 100}))

        asking = [threading.Thread(target=ask, args=[number]) for number in range(MANY)]
        for one in asking:
            one.start()
        for _ in range(20):
            assert patient.ask("GET", "/healthz") == (200, {"status": "up"})
            assert patient.ask("GET", "/readyz") == (200, {"status": "ready"})
        assert not answers
        other.execute("ROLLBACK")
    for one in asking:
        one.join()
    assert [status for status, _ in answers] == [200] * MANY


@pytest.mark.parametrize("sent", ["a part of the head", "a part of a form"])
def test_a_request_that_trickles_in_has_one_deadline(hasty: Serving, sent: str) -> None:
    answer = trickled(hasty, SENT[sent])
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408")
    assert b"Content-Security-Policy" in head
    assert json.loads(body)["code"] == "REQUEST_TIMEOUT"


def test_a_body_that_is_too_large_to_be_kept_has_the_same_deadline(hasty: Serving) -> None:
    answer = trickled(
        hasty,
        b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer " + hasty.token.encode() + b"\r\nContent-Length: 900000\r\n\r\n{",
    )
    assert answer.startswith(b"HTTP/1.1 400")


def trickled(server: Serving, sent: bytes) -> bytes:
    """Return what comes back to a client that now and then sends a byte, and never ends."""
    with closing(connected(server)) as connection:
        connection.sendall(sent)
        connection.settimeout(0.05)
        while True:
            with contextlib.suppress(TimeoutError):
                return connection.recv(65536)
            connection.sendall(b"x")


def test_an_answer_that_is_not_read_has_a_deadline_too(hasty: Serving) -> None:
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    whole = len(hasty.say(asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")))
    with closing(connected(hasty, 4096)) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answered(connection)  # so it was accepted: before that it is open at nobody's
        connection.sendall(asked * MANY)  # more than any buffer on the way holds
        while open_at(hasty, connection):
            time.sleep(0.05)
        read = 0
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(65536):
                read += len(part)
        assert read < MANY * whole


def open_at(server: Serving, connection: socket.socket) -> bool:
    """Return whether the server still has its end of a connection."""
    port = f"{connection.getsockname()[1]:04X}"
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    own = f"0100007F:{server.port:04X}"
    return any(row[1] == own and row[2].endswith(":" + port) and row[9] != "0" for row in rows)


def test_what_was_begun_is_answered_before_the_server_ends(model: Home, tmp_path: Path) -> None:
    asked = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with ExitStack() as stack:
        server = stack.enter_context(served(model, tmp_path, DAY))
        kept, idle = (stack.enter_context(closing(connected(server))) for _ in range(2))
        kept.sendall(asked)
        assert b"keep-alive" in answered(kept)
        kept.sendall(asked[:20])
        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        assert idle.recv(1) == b""  # so it was told to end, and has ended what nobody uses
        kept.sendall(asked[20:])
        answer = answered(kept)
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"Connection: close" in answer
        kept.close()
        assert server.process.wait(PATIENCE) == 0


def answered(connection: socket.socket) -> bytes:
    """Return one answer, to the end of its body."""
    answer = b""
    while not answer.endswith(b"}"):
        answer += connection.recv(65536)
    return answer
