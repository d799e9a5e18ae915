"""Open one span for each request, at the edge, named by its verb and its route's template."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from penstock.http.edge import ROUTE
from penstock.tracing.spans import Attributes, Tracing, finish_request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

VERBS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
UNTRACED: Final = frozenset({"/healthz", "/metrics", "/readyz"})
"""What machines poll, every few seconds."""

OTHER: Final = "other"
"""The name of a request that matched no route; its path and verb may be anything."""


class TracedRequests:
    """Hold the layer around ``app``; ``tracing`` receives a span for each answer.

    The addresses that machines poll, with ``prefix`` before them or without, have none.
    """

    def __init__(self, app: "WSGIApplication", tracing: Tracing, prefix: str = "") -> None:
        self._app = app
        self._tracing = tracing
        self._untraced = UNTRACED | {f"{prefix}{path}" for path in UNTRACED}

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer one request; the span ends when the body begins to be sent."""
        if environ.get("PATH_INFO") in self._untraced:
            return self._app(environ, start_response)
        statuses: list[int] = []

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            statuses.append(int(status.split()[0]))
            return start_response(status, headers, *more)

        with self._tracing.request(environ.get("HTTP_TRACEPARENT")) as span:
            body = self._app(environ, start)
            status = statuses[-1] if statuses else 0
            name, attributes = _described(environ, status)
            finish_request(span, name, attributes, status)
        return body


def _described(environ: "WSGIEnvironment", status: int) -> tuple[str, Attributes]:
    """Return a span's name and attributes; only a request of a known route has a verb."""
    verb, route = str(environ.get("REQUEST_METHOD", "GET")).upper(), environ.get(ROUTE)
    attributes: dict[str, str | int] = {"http.response.status_code": status}
    if route is None or verb not in VERBS:
        return OTHER, attributes
    return f"{verb} {route}", {**attributes, "http.request.method": verb, "http.route": route}
