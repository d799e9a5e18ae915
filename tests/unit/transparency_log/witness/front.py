"""Put a server of the tests' own before the S3 server, which refuses, holds or cuts requests.

It also adds the one header without which the S3 server of the tests takes no object that is to be
locked; Amazon's takes the checksum, which is sent, for it.
"""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import httpx
from tests.databases.object_store import ACCESS_KEY, REGION, SECRET_KEY, ObjectStore

LOCKING = (
    "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>"
    "<Mode>{mode}</Mode><Days>30</Days></DefaultRetention></Rule></ObjectLockConfiguration>"
)


@dataclass
class Front:
    """Represent the server; what is set here changes what it does with the next request."""

    url: str = ""
    refused: frozenset[str] = frozenset()
    """The methods that are answered by 403."""
    cut: set[str] = field(default_factory=set)
    """The methods whose next request is passed on, and its answer lost."""
    let_go: dict[str, threading.Event] = field(default_factory=dict)
    """By method, what its requests wait for before they are passed on."""
    came: list[str] = field(default_factory=list)
    """The methods of the requests so far."""

    def options(self) -> dict[str, object]:
        """Return a store's options, by which it is reached through this server."""
        return {
            "region": REGION,
            "endpoint": self.url,
            "access_key_id": ACCESS_KEY,
            "secret_access_key": SECRET_KEY,
            "allow_http": True,
        }


def locked_bucket(store: ObjectStore, mode: str = "COMPLIANCE") -> str:
    """Make a bucket that locks what is stored in it for thirty days; return its name."""
    name = store.bucket(locked=True)
    httpx.put(
        f"{store.url}/{name}?object-lock",
        content=LOCKING.format(mode=mode),
        trust_env=False,
        timeout=300,
    ).raise_for_status()
    return name


@contextmanager
def launched(store: ObjectStore) -> Iterator[Front]:
    """Yield a server before ``store``, on a free port of the loopback."""
    front = Front()
    handler = type("Handler", (_Handler,), {"front": front, "behind": urlsplit(store.url).netloc})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    front.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield front
    finally:
        for event in front.let_go.values():
            event.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    front: Front
    behind: str

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.front.came.append(self.command)
        if self.command in self.front.refused:
            self._answer(403, [], b"")
            return
        if self.command in self.front.let_go:
            self.front.let_go[self.command].wait()
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        if self.command == "PUT":
            headers["x-amz-sdk-checksum-algorithm"] = "SHA256"
        connection = http.client.HTTPConnection(self.behind)
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if self.command in self.front.cut:
            self.front.cut.discard(self.command)
            self.close_connection = True
            return
        self._answer(answer.status, answer.getheaders(), content)

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        left_out = {"content-length", "connection", "transfer-encoding", "date", "server"}
        try:
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in left_out:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
        except OSError:
            self.close_connection = True  # who asked has given up

    do_GET: Callable[..., None] = _pass_on  # noqa: N815 - the library's name
    do_PUT: Callable[..., None] = _pass_on  # noqa: N815 - the library's name
    do_HEAD: Callable[..., None] = _pass_on  # noqa: N815 - the library's name

    def log_message(self, *_: object) -> None:
        """Say nothing."""
