"""Test that a worker sends a long answer in chunks, and lives on if its reader leaves."""

import csv
import io
import json
import signal
import socket
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from tests.api.bad_input.stage import furnished_home
from tests.api.served.serving import PATIENCE, Serving, serve_copy
from tests.api.world import QUERY
from tests.databases.homes import Homes

from penstock.http.answers import STREAMED

SIZE = 200_000
LONG: dict[str, Any] = {
    **{name: value for name, value in QUERY.items() if name not in ("keys", "values")},
    "name": "long",
    "values": [7] * SIZE,
    "levels": {"internal": {"epsilon": 0.5}},
}
PATH = "/api/v1/queries/long/releases"

Ask = Callable[[str], tuple[HTTPResponse, bytes]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Provide gunicorn with one worker and a query of many values, as its analyst."""
    folder = tmp_path_factory.mktemp("long")
    made, tokens = furnished_home(folder / "home")
    serving = serve_copy(Homes(None), made, folder / "running", "ian", workers=1)
    analyst, serving.token = serving.token, tokens["root"]
    assert serving.ask("POST", "/api/v1/queries", LONG)[0] == 201
    serving.token = analyst
    yield serving
    serving.stop(signal.SIGTERM)


@pytest.fixture
def ask(served: Serving) -> Ask:
    """Provide ``ask(query)``: the response to a request for its release, and its body."""

    def send(query: str) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {served.token}", "Content-Type": "application/json"}
        connection.request("POST", f"/api/v1/queries/{query}/releases", b"{}", headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response, body

    return send


def test_a_long_answer_comes_in_chunks_and_a_short_one_at_once(ask: Ask) -> None:
    response, body = ask("long")
    assert response.getheader("Transfer-Encoding") == "chunked"
    assert response.getheader("Content-Length") is None
    assert len(body) > 2 * STREAMED
    assert len(json.loads(body)["values"]) == SIZE
    assert ask("long")[1] == body
    response, body = ask("visits")
    assert response.getheader("Transfer-Encoding") is None
    assert response.getheader("Content-Length") == str(len(body))


def test_a_long_table_comes_in_chunks_with_all_rows(served: Serving, ask: Ask) -> None:
    release = json.loads(ask("long")[1])
    connection = HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {served.token}", "Accept": "text/csv"}
    connection.request("GET", f"/api/v1/releases/{release['id']}/values", headers=headers)
    response = connection.getresponse()
    assert response.getheader("Transfer-Encoding") == "chunked"
    rows = list(csv.DictReader(io.StringIO(response.read().decode())))
    connection.close()
    assert [float(row["value"]) for row in rows] == release["values"]


def test_an_old_client_gets_the_same_bytes_until_the_connection_ends(
    served: Serving, ask: Ask
) -> None:
    """HTTP/1.0 has no chunks."""
    head = f"POST {PATH} HTTP/1.0\r\nAuthorization: Bearer {served.token}\r\n"
    sent = f"{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    _, _, body = served.say(sent.encode()).partition(b"\r\n\r\n")
    assert body == ask("long")[1]


def test_a_reader_who_leaves_takes_neither_the_thread_nor_the_writer(
    served: Serving, ask: Ask
) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\n"
    sent = f"{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    for _ in range(40):  # more than there are threads
        with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as reader:
            reader.sendall(sent.encode())
            assert reader.recv(1000).startswith(b"HTTP/1.1 200")
    # A new level takes the write lock.
    assert served.ask("POST", PATH, {"epsilon": 0.2})[0] == 200
    assert ask("long")[0].status == 200
    assert "traceback" not in Path(served.home / "log").read_text().lower()
