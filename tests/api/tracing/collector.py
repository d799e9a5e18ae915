"""Listen as a collector of traces does, and keep what is sent, as OTLP says it."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_RANDOM_OR_TIME: Final[Sequence[Any]] = (
    *("trace_id", "span_id", "parent_span_id"),
    *("start_time_unix_nano", "end_time_unix_nano"),
)


class Collector(ThreadingHTTPServer):
    """Represent a collector on this machine; it answers once ``open`` is set, with ``status``."""

    daemon_threads = True

    def __init__(self, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Keeping)
        self.status = status
        self.open = threading.Event()
        self.open.set()
        self.begun = threading.Event()
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        """Return the address for ``PENSTOCK_TRACES_URL``."""
        return f"http://127.0.0.1:{self.server_port}/v1/traces"

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        """Return what was sent."""
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    @property
    def spans(self) -> list[Span]:
        """Return all spans that were sent."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def text(self) -> str:
        """Return all that was sent, but for random numbers and times."""
        requests = self.requests
        for resource in (each for request in requests for each in request.resource_spans):
            for span in (each for scope in resource.scope_spans for each in scope.spans):
                for field in _RANDOM_OR_TIME:
                    span.ClearField(field)
        return "\n".join(map(str, requests))

    @property
    def names(self) -> list[str]:
        """Return the names of all spans that were sent."""
        return [span.name for span in self.spans]


class _Keeping(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.headers.append({"path": self.path, **dict(self.headers)})
        self.server.bodies.append(body)
        self.server.begun.set()
        self.server.open.wait()
        self.send_response(self.server.status, "canary in a reason")
        self.end_headers()
        self.wfile.write(b"canary in an answer")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def listening(status: int = 200) -> Iterator[Collector]:
    """Yield a collector; it answers everything that waits before it ends."""
    with Collector(status) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield server
        finally:
            server.open.set()
            server.shutdown()
            thread.join()
