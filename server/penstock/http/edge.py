"""Guard the WSGI edge: request ids, headers on every answer, the log, the one wide except.

An error that reaches it unhandled is a bug.  The caller gets a 500 with the request's id; the log
gets the error's class and where it was raised, never its text, which may repeat what was sent or
stored.
"""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from flask import request

from penstock.http import access_log, problems
from penstock.http.counting.refusal_counts import cause_of
from penstock.http.counting.request_counts import Requests

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

STARTED = "penstock.started"
REQUEST_ID = "penstock.request_id"
CALLER = "penstock.caller"
ROUTE = "penstock.route"

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self';"
        " frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer, unless it sets its own."""


_BY_NAME = {name.lower(): (name, value) for name, value in HEADERS.items()}


def name_caller(name: str) -> None:
    """Name the caller of this request to the access log."""
    request.environ[CALLER] = name


class Edge:
    """Hold the outermost layer around ``app``; ``clock`` in seconds, never going back.

    ``answered`` receives the processor seconds of an answer and its caller's name; ``refused``
    receives the cause for which an answer refused its request, or ``None``.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        requests: Requests,
        answered: Callable[[str, float], None],
        clock: Callable[[], float] = time.perf_counter,
        *,
        refused: Callable[[str | None], None] | None = None,
    ) -> None:
        self._app = app
        self._requests = requests
        self._answered = answered
        self._clock = clock
        self._refused = refused

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer one request."""
        request_id = uuid.uuid4().hex
        environ[REQUEST_ID] = request_id
        environ[STARTED] = started = self._clock()
        before = time.thread_time()
        statuses: list[int] = []

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            statuses.append(int(status.split()[0]))
            return start_response(status, _completed(headers, request_id), *more)

        try:
            body = self._app(environ, start)
        except Exception as error:  # noqa: BLE001  # the edge: nothing may get past it
            access_log.failed(request_id, error)
            problems.forget(error)
            body = problems.of_status(500, request_id)(environ, start)
        verb, route = str(environ.get("REQUEST_METHOD", "GET")).upper(), environ.get(ROUTE)
        status, seconds = statuses[-1] if statuses else 0, self._clock() - started
        self._requests.count(verb, route, status, seconds)
        if self._refused is not None:
            token = "HTTP_AUTHORIZATION" in environ
            self._refused(cause_of(status, verb, route, token=token))
        access_log.answered(
            request_id,
            verb=verb,
            route=route,
            status=status,
            seconds=seconds,
            caller=environ.get(CALLER),
        )
        caller = environ.get(CALLER)
        if caller is None:
            return body
        self._answered(caller, time.thread_time() - before)
        return _Metered(body, lambda seconds: self._answered(caller, seconds))


class _Metered:
    """Hold a body that reports, once it is sent, the processor time that writing it took."""

    def __init__(self, body: Iterable[bytes], took: Callable[[float], None]) -> None:
        self._body = body
        self._took = took
        self._seconds = 0.0

    def __iter__(self) -> Iterator[bytes]:
        parts = iter(self._body)
        while True:
            before = time.thread_time()
            part = next(parts, None)
            self._seconds += time.thread_time() - before
            if part is None:
                return
            yield part

    def close(self) -> None:
        """Close the body, as servers do when it is sent or its reader is gone."""
        self._took(self._seconds)
        close = getattr(self._body, "close", None)
        if close is not None:
            close()


def _completed(headers: list[tuple[str, str]], request_id: str) -> list[tuple[str, str]]:
    present = {name.lower() for name, _ in headers}
    added = [header for name, header in _BY_NAME.items() if name not in present]
    return [*headers, *added, ("X-Request-Id", request_id)]
