"""Provide clients in processes of their own, each with one connection that is kept alive.

Answers are kept as bytes while the clock runs and are read afterwards.
"""

import http.client
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle

from tests.benchmarks.served.serving import HOST

LEAD_SECONDS = 0.3
"""How long everybody has to connect before all begin together."""

TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Ask:
    """Hold one request."""

    verb: str
    path: str
    body: str | None = None


@dataclass(frozen=True)
class Heard:
    """Hold one answer, and how long it took."""

    status: int
    body: bytes
    seconds: float


@dataclass(frozen=True)
class Visit:
    """Hold what one reader heard, in the order of their asks, and when (a monotonic clock)."""

    heard: list[Heard]
    begun: float
    ended: float


class Readers:
    """Hold readers by token; the first of them read where fewer than all are asked.

    Where there are several ports, the readers take turns at them.
    """

    def __init__(self, pool: Executor, ports: Sequence[int], tokens: Sequence[str]) -> None:
        self._pool = pool
        self._ports = ports
        self._tokens = tokens

    def ask(
        self, asks: Sequence[Sequence[Ask]], limit_seconds: float, lead: float = LEAD_SECONDS
    ) -> list[Visit]:
        """Begin all clients at once; each stops after its own asks, or when the time is over."""
        start = time.monotonic() + lead
        futures = [
            self._pool.submit(visit, port, token, list(own), start, limit_seconds)
            for port, token, own in zip(cycle(self._ports), self._tokens, asks, strict=False)
        ]
        return [future.result() for future in futures]


@contextmanager
def clients(count: int) -> Iterator[Executor]:
    """Provide ``count`` processes for readers, of one server or in turns of several."""
    # Spawned, since a fork would copy this process with its database and threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        yield pool


@contextmanager
def readers(port: int, tokens: Sequence[str]) -> Iterator[Readers]:
    """Provide as many client processes as there are tokens."""
    with clients(len(tokens)) as pool:
        yield Readers(pool, [port], tokens)


def visit(port: int, token: str, asks: Sequence[Ask], start: float, limit_seconds: float) -> Visit:
    """Ask one after the other over one connection; runs in the client's process."""
    connection = http.client.HTTPConnection(HOST, port, timeout=TIMEOUT_SECONDS)
    connection.connect()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    heard = []
    time.sleep(max(0.0, start - time.monotonic()))
    begun = time.monotonic()
    for ask in asks:
        asked = time.monotonic()
        connection.request(ask.verb, ask.path, ask.body, headers)
        response = connection.getresponse()
        body = response.read()
        now = time.monotonic()
        heard.append(Heard(response.status, body, now - asked))
        if now - begun > limit_seconds:
            break
    ended = time.monotonic()
    connection.close()
    return Visit(heard, begun, ended)
