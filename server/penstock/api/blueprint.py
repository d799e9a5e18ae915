"""Register declared operations with Flask: authenticate, check, read, call, answer.

Order matters: a caller without a valid token, or without the role, is refused before a
byte of their body is read.  If the token was good at its last request, a short body, which has
arrived already, is read first: one statement then confirms the caller and reads what they ask for
(``presumptions``).
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from flask import Blueprint, Request, Response
from flask import request as proxied
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import HTTPException

from penstock.api import bodies, idempotency, parameters
from penstock.api.docs import add_document
from penstock.api.metrics import add_page
from penstock.api.operations import Operation
from penstock.api.request_context import Call
from penstock.api.routes import OPERATIONS
from penstock.errors import NotAuthenticated, PenstockError, Unavailable
from penstock.http import bearer, edge, event_tables, pacing, problems, tabular_formats
from penstock.http.answers import json_answer, lines_answer
from penstock.http.counting.counters import Counters
from penstock.http.counting.rate_limits import Limits
from penstock.http.cursors import Cursors
from penstock.http.intake.heads import LONGEST_BODY
from penstock.http.reports.report_answers import FORMS as REPORTS
from penstock.http.reports.report_answers import report_answer
from penstock.services.access.presumptions import presumed
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.pagination import Page
from penstock.services.releases.allowed import EarlyLook
from penstock.services.reports.signed_reports import AuditReportView
from penstock.services.retry import again
from penstock.services.schemas.views import (
    ReleaseView,
)
from penstock.services.synthetic_rows.rows import SyntheticRowsView
from penstock.transparency_log.views import CheckpointView

_NO_ROOM_NEEDED: Final = nullcontext()
_NO_ARGUMENTS: Final = MultiDict[str, str]()
# Of the environment, which `request.headers` would look through in Python.
_KEY: Final = f"HTTP_{idempotency.HEADER.upper().replace('-', '_')}"


def blueprint(server: Server, rhythm: pacing.Pace, counters: Counters) -> Blueprint:
    """Return all operations over one server.

    ``rhythm`` delays answers whose duration must reveal nothing; ``counters`` count requests by
    caller, for the rate limits, and what Prometheus may read.
    """
    made = Blueprint("api", __name__)
    one_at_a_time = threading.Lock()
    for operation in OPERATIONS:
        made.add_url_rule(
            operation.rule,
            endpoint=operation.name,
            view_func=_view(server, operation, one_at_a_time, counters.limits),
            methods=[operation.verb],
            provide_automatic_options=False,
        )
    add_document(made)
    add_page(made, server, counters)
    made.app_errorhandler(PenstockError)(_refused)
    made.app_errorhandler(HTTPException)(_refused_by_flask)

    def paced(response: Response) -> Response:
        request = _present()
        if request.url_rule is not None:
            request.environ[edge.ROUTE] = request.url_rule.rule
        quanta = request.environ.get(pacing.QUANTA, 0)
        if quanta or response.status_code in pacing.REFUSALS:
            rhythm.wait(request.environ[edge.STARTED], max(quanta, 1))
        return response

    made.after_app_request(paced)
    return made


def _admit(
    operation: Operation, caller: Principal, limits: Limits, *, counted: bool = False
) -> None:
    """Count a request against its caller's limits, and require the operation's roles."""
    if not counted:
        limits.request(caller.name)
    if operation.policy.roles:
        caller.require(*operation.policy.roles)
    if operation.question:
        limits.question(caller)


def _view(
    server: Server, operation: Operation, one_at_a_time: threading.Lock, limits: Limits
) -> Callable[..., Response]:
    cursors = Cursors(server)

    def view(**path: str) -> Response:
        request = _present()
        caller = early = look = None
        if operation.policy.needs_token:
            early = _early(server, request, operation, limits, path)
            look = None if early is None else early.look
            caller = _signed_in(server, request, limits) if look is None else look.principal
            request.environ[edge.CALLER] = caller.name
            _admit(operation, caller, limits, counted=early is not None)
        call = Call(server, caller, look)
        arguments = parameters.read(
            operation,
            request.args if request.environ.get("QUERY_STRING") else _NO_ARGUMENTS,
            lambda sealed: cursors.open(request.path, sealed),
        )
        # Chosen first: if no format fits, the request is refused before its body is read.
        form = "json"
        forms = _forms(operation)
        if forms:
            form = tabular_formats.chosen(arguments.get("format"), request.accept_mimetypes, forms)
        if operation.verb == "GET":  # only reads, and may be run again
            answer = again(lambda: operation.handler(call, **path, **arguments))
        else:
            key = request.environ.get(_KEY)
            keyed = key is not None and idempotency.applies(operation)
            with _room(server, request, operation, one_at_a_time):
                sent, body = (
                    _body(server, request, operation, keyed=keyed) if early is None else early.sent
                )
                act = partial(operation.handler, call, **path, **arguments, **body)
                if key is not None and keyed:
                    return idempotency.once(server, call.principal, operation, key, sent, act)
                answer = act()
        request.environ[pacing.QUANTA] = call.quanta
        if isinstance(answer, Page) and answer.next_cursor is not None:
            answer = replace(answer, next_cursor=cursors.seal(request.path, answer.next_cursor))
        if operation.tabular and isinstance(answer, ReleaseView):
            return tabular_formats.answer(answer, form)
        if operation.tabular and isinstance(answer, SyntheticRowsView):
            return tabular_formats.rows_answer(answer, form)
        if operation.noted and isinstance(answer, CheckpointView):
            return tabular_formats.note_answer(answer, form)
        if operation.documented and isinstance(answer, AuditReportView):
            return report_answer(server, answer, form)
        if operation.lines and isinstance(answer, Iterator):
            return event_tables.csv_answer(answer) if form == "csv" else lines_answer(answer)
        return json_answer(answer, operation.status_of(answer))

    return view


def _forms(operation: Operation) -> Mapping[str, str]:
    """Return the forms in which an operation answers; none for those that have JSON alone."""
    if operation.tabular:
        return event_tables.FORMS if operation.lines else tabular_formats.FORMS
    if operation.noted:
        return tabular_formats.NOTES
    return REPORTS if operation.documented else {}


def _present() -> Request:
    """Return the request itself: its proxy looks for it anew at each use."""
    present: Request = proxied._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - as werkzeug documents
    return present


def _signed_in(server: Server, request: Request, limits: Limits) -> Principal:
    header = request.environ.get("HTTP_AUTHORIZATION")
    try:
        return again(lambda: bearer.caller(server, header))
    except NotAuthenticated:
        # Counted by address, whatever is wrong with it: a 429 must not reveal that a token exists.
        if header:
            limits.failed_sign_in(request.remote_addr or "")
        raise


@dataclass(frozen=True)
class _Early:
    """Hold what was read for a presumed caller; ``look`` is None if that did not confirm them."""

    sent: tuple[bytes, dict[str, Any]]
    look: EarlyLook | None


def _early(
    server: Server, request: Request, operation: Operation, limits: Limits, path: dict[str, str]
) -> _Early | None:
    """Read a body and what its operation begins with, in the statement that confirms its caller.

    None if nobody is presumed to send the token; the caller is then authenticated before anything
    of their body is read.  Raises what is wrong with the request once its caller is authenticated.
    """
    if operation.look is None or _KEY in request.environ or request.environ.get("QUERY_STRING"):
        return None
    length = request.content_length
    if length is None or length > LONGEST_BODY:
        return None
    caller = presumed(server, bearer.presented(request.environ.get("HTTP_AUTHORIZATION")))
    if caller is None or not caller.principal.roles.intersection(operation.policy.roles):
        return None
    look, (name,) = operation.look, path.values()
    problem: PenstockError | HTTPException
    try:
        limits.request(caller.user.name)
        sent = _body(server, request, operation, keyed=False)
        read = again(lambda: look(server, caller, name, sent[1]["request"]))
        return _Early(sent, read)
    except (PenstockError, HTTPException) as error:
        problem = error
    # Outside of the handler, so that neither error has the other as its context.
    request.environ[edge.CALLER] = _signed_in(server, request, limits).name
    raise problem


def _body(
    server: Server, request: Request, operation: Operation, *, keyed: bool
) -> tuple[bytes, dict[str, Any]]:
    """Return the request's fingerprint, empty unless ``keyed``, and its body as an argument."""
    raw = bytearray()
    arguments: dict[str, Any] = {}
    if operation.body is not None:
        bodies.require_json(request)
        settings = server.settings
        limit = settings.query_body_limit if operation.large_body else settings.body_limit
        # Flask enforces this only if it reads the body itself; here refusals quote it.
        request.max_content_length = limit
        raw = bodies.read(request, limit)
        arguments["request"] = bodies.model(
            raw,
            operation.body,
            strict_below=settings.body_limit,
            most_values=settings.dimension_limit,
        )
    if not keyed:
        return b"", arguments
    return idempotency.fingerprint(server, operation, request.path, raw), arguments


def _room(
    server: Server, request: Request, operation: Operation, one_at_a_time: threading.Lock
) -> AbstractContextManager[None]:
    """Admit one large body per process at a time, so that memory stays bounded."""
    if not operation.large_body:
        return _NO_ROOM_NEEDED
    length = request.content_length
    if length is not None and length <= server.settings.body_limit:
        return _NO_ROOM_NEEDED
    return _taken(one_at_a_time)


@contextmanager
def _taken(one_at_a_time: threading.Lock) -> Iterator[None]:
    if not one_at_a_time.acquire(timeout=bodies.LARGE_BODY_PATIENCE_SECONDS):
        raise Unavailable(
            "Another large body is still being read; send the request again in a moment."
        )
    try:
        yield
    finally:
        one_at_a_time.release()


def _refused(error: PenstockError) -> Response:
    problems.forget(error)
    return problems.of_error(error, proxied.environ[edge.REQUEST_ID])


def _refused_by_flask(error: HTTPException) -> Response:
    problems.forget(error)
    return problems.of_http(error, proxied.environ[edge.REQUEST_ID], proxied.max_content_length)
