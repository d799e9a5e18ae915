"""Provide web servers of a test's own: what a handler answers, on the loopback."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Request(BaseHTTPRequestHandler):
    """Represent one request, with a short way to answer it."""

    protocol_version = "HTTP/1.1"

    def reply(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def span(self) -> tuple[int, int]:
        """Return the range that is asked for, its end excluded."""
        begin, _, end = self.headers["Range"].removeprefix("bytes=").partition("-")
        return int(begin), int(end) + 1

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name
        """Write nothing."""


@contextmanager
def answering(answer: Callable[[Request], None]) -> Iterator[str]:
    """Yield the host and port of a server that answers all requests so."""

    class Handler(Request):
        def do_GET(self) -> None:
            answer(self)

        do_HEAD = do_GET  # noqa: N815  its name

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
