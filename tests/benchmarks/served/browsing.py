"""Provide one client at the pages over HTTP.

One connection, one session, one address after another.
"""

import gzip
import http.client
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from tests.benchmarks.served.serving import HOST

SECONDS = 300.0
LOADED = re.compile(r'(?:href|src)="(/static/[^"]+)"')


@dataclass
class Browser:
    """Represent a signed-in browser.

    ``kept`` are the bytes of each file beside the pages, as compressed.
    """

    connection: http.client.HTTPConnection
    port: int
    cookie: str = ""
    kept: dict[str, int] = field(default_factory=dict)

    def sign_in(self, token: str) -> None:
        """Begin a session by the form."""
        headers = {
            "Origin": f"http://{HOST}:{self.port}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        body = urlencode({"token": token})
        self.connection.request("POST", "/sign-in", body, headers)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 303:
            raise RuntimeError(f"signing in was answered with {answer.status}")
        self.cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]

    def get(self, address: str) -> tuple[int, bytes, float]:
        """Return status, body, and the seconds until all of it was there."""
        begun = time.perf_counter()
        self.connection.request("GET", address, headers=self._headers())
        answer = self.connection.getresponse()
        body = answer.read()
        return answer.status, body, time.perf_counter() - begun

    def weight(self, page: bytes) -> int:
        """Return the bytes of a page and of all files that it loads, these compressed."""
        addresses = set(LOADED.findall(page.decode()))
        for address in addresses - self.kept.keys():
            self.kept[address] = len(gzip.compress(self.get(address)[1]))
        return len(page) + sum(self.kept[address] for address in addresses)

    def _headers(self) -> dict[str, str]:
        return {"Accept": "text/html", "Cookie": self.cookie}


@contextmanager
def browsing(port: int, token: str) -> Iterator[Browser]:
    """Yield a browser of somebody who is signed in."""
    connection = http.client.HTTPConnection(HOST, port, timeout=SECONDS)
    browser = Browser(connection, port)
    browser.sign_in(token)
    yield browser
    connection.close()


def rounds(browser: Browser, addresses: Sequence[str], count: int) -> dict[str, list[float]]:
    """Return the seconds of every address in each round, in turns; a first round does not count."""
    taken: dict[str, list[float]] = {address: [] for address in addresses}
    for turn in range(count + 1):
        for address in addresses:
            status, _, lasted = browser.get(address)
            if status not in (200, 303):
                raise RuntimeError(f"{address} was answered with {status}")
            if turn:
                taken[address].append(lasted)
    return taken
