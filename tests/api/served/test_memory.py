"""Test what a worker's memory grows by while somebody sends it far more than it takes."""

import gzip
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.api.bad_input import raw
from tests.api.bad_input.stage import furnished_home
from tests.api.served.serving import ASK, PATIENCE, Serving, serve_copy
from tests.api.world import QUERY
from tests.databases.homes import Homes

from penstock.settings import Settings

MIB = 2**20
SENT = 1024
"""How many MiB are sent."""

LIMIT = Settings().query_body_limit // MIB
"""The most that anybody may send in one body, of which a process holds one at a time."""

SPARE = 96
"""MiB that a worker may grow by beside what it was sent, and by for whatever is not read."""

QUERIES = "/api/v1/queries"
PIECE = b"0," * (MIB // 2)


class Flood(NamedTuple):
    """Hold a request that is far too much, its refusal, and the MiB the worker may grow by."""

    name: str
    path: str
    headers: tuple[str, ...]
    status: int
    bound: int
    signed_in: bool = True


CHUNKED, LENGTH = "Transfer-Encoding: chunked", f"Content-Length: {SENT * MIB}"
FLOODS = [
    Flood("declared", QUERIES, (LENGTH,), 413, SPARE),
    Flood("in chunks", QUERIES, (CHUNKED,), 413, LIMIT + SPARE),
    Flood("in chunks, where little is taken", ASK, (CHUNKED,), 403, SPARE),
    Flood("in chunks, for a tier", "/api/v1/tiers", (CHUNKED,), 413, SPARE),
    Flood("by nobody", QUERIES, (CHUNKED,), 401, SPARE, signed_in=False),
    Flood("declared by nobody", QUERIES, (LENGTH,), 401, SPARE, signed_in=False),
    Flood("under no name", "/api/v1/nothing", (CHUNKED,), 404, SPARE),
    Flood("compressed", QUERIES, (CHUNKED, "Content-Encoding: gzip"), 415, SPARE),
]


def dealt() -> Iterator[Any]:
    """Yield each flood.

    Those in chunks are sent whole, and one of them is enough at every change.
    """
    for place, flood_ in enumerate(FLOODS):
        again = flood_.name.startswith("in chunks") and place > 1
        yield pytest.param(flood_, marks=[pytest.mark.nightly] if again else [])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Provide gunicorn with one worker, which gets all that is sent, and an admin's token."""
    folder = tmp_path_factory.mktemp("flooded")
    made, _ = furnished_home(folder / "home")
    serving = serve_copy(Homes(None), made, folder / "running", "root", workers=1)
    for _ in range(3):  # so that it has imported what a refusal needs
        assert serving.ask("POST", QUERIES, QUERY)[0] == 409
    yield serving
    serving.stop(signal.SIGTERM)


def workers(serving: Serving) -> list[int]:
    """Return the processes that answer."""
    assert serving.process is not None
    master = serving.process.pid
    children = Path(f"/proc/{master}/task/{master}/children").read_text()
    return [int(child) for child in children.split()]


def mebibytes(process: int, field: str) -> float:
    """Return what ``/proc`` says of a process's memory: resident now (VmRSS), at most (VmHWM)."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(rf"{field}:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


class Watch:
    """Measure how much workers grow from now on."""

    def __init__(self, serving: Serving) -> None:
        self._before = {}
        for process in workers(serving):
            Path(f"/proc/{process}/clear_refs").write_text("5")  # the peak is what it is now
            self._before[process] = mebibytes(process, "VmRSS")

    def growth(self) -> float:
        """Return the MiB of the one that grew most.  All must still be there."""
        return max(mebibytes(one, "VmHWM") - before for one, before in self._before.items())


def flood(serving: Serving, sent: Flood) -> bytes:
    """Send until nobody listens any more; the answer."""
    token = (f"Authorization: Bearer {serving.token}",) if sent.signed_in else ()
    given = (*token, "Content-Type: application/json", "Connection: close", *sent.headers)
    piece = f"{MIB:x}\r\n".encode() + PIECE + b"\r\n" if CHUNKED in sent.headers else PIECE
    with socket.create_connection(("127.0.0.1", serving.port), timeout=PATIENCE) as connection:

        def send() -> None:
            with suppress(OSError):
                connection.sendall(raw.request(f"POST {sent.path} HTTP/1.1", *given))
                for _ in range(SENT):
                    connection.sendall(piece)

        sender = threading.Thread(target=send)
        sender.start()
        answer = b""
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                answer += part
        connection.close()
        sender.join()
    return answer


def test_what_a_worker_holds_is_seen(served: Serving) -> None:
    watch = Watch(served)
    body = b'{"name": "' + b"x" * (LIMIT - 1) * MIB + b'"}'
    answer = raw.exchange(
        served.port,
        raw.request(
            f"POST {QUERIES} HTTP/1.1",
            f"Authorization: Bearer {served.token}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            body=body,
        ),
    )
    raw.judge_answer(answer, 422)
    assert watch.growth() > 0.9 * LIMIT


@pytest.mark.parametrize("sent", list(dealt()), ids=lambda sent: sent.name)
def test_a_gigabyte_makes_no_worker_grow_beyond_what_it_takes(served: Serving, sent: Flood) -> None:
    watch = Watch(served)
    raw.judge_answer(flood(served, sent), sent.status)
    assert watch.growth() < sent.bound
    assert served.ask("GET", "/api/v1/me")[0] == 200


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.nightly)])
def test_gigabytes_at_once_are_held_one_at_a_time(served: Serving, count: int) -> None:
    watch = Watch(served)
    answers: list[bytes] = []
    senders = [
        threading.Thread(target=lambda: answers.append(flood(served, FLOODS[1])))
        for _ in range(count)
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    for answer in answers:
        raw.judge_answer(answer, 413)
    assert watch.growth() < LIMIT + SPARE
    assert served.ask("GET", "/api/v1/me")[0] == 200


def test_a_bomb_is_not_inflated(served: Serving) -> None:
    """A gibibyte of zeros in one mebibyte, whole and well-formed."""
    bomb = gzip.compress(bytes(16 * MIB)) * (SENT // 16)
    assert len(bomb) < 2 * MIB
    watch = Watch(served)
    answer = raw.exchange(
        served.port,
        raw.request(
            f"POST {QUERIES} HTTP/1.1",
            f"Authorization: Bearer {served.token}",
            "Content-Type: application/json",
            "Content-Encoding: gzip",
            f"Content-Length: {len(bomb)}",
            body=bomb,
        ),
    )
    raw.judge_answer(answer, 415)
    assert watch.growth() < SPARE
    assert served.ask("GET", "/api/v1/me")[0] == 200
