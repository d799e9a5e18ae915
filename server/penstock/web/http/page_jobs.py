"""Start background jobs from forms, and find their results again.

The form waits a moment for the result, then redirects to a page that the user may leave and visit
again later.  A kind of job defines how the form becomes an action, and where its result is shown.
Forms with the same key lead to the same job, whether it runs, is done, or was interrupted.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from flask import Response
from werkzeug.datastructures import MultiDict

from penstock.errors import PenstockError
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import idempotency, jobs
from penstock.services.jobs.jobs import JobRequest, WorkView
from penstock.services.jobs.runner import JobFunction, Run
from penstock.services.jobs.worker import Preparation
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import FIELD, SHOWN, UNSAID, once
from penstock.web.http.request_context import Visit
from penstock.web.presenters.preview_choices import Comparison

PREFIX = "form-"

Typed = MultiDict[str, str]
"""The fields of a form, as typed."""


@dataclass(frozen=True)
class JobKind:
    """Represent a kind of job.

    * ``doing`` describes the action in words; ``role`` is the role that may start it.
    * ``subject`` is the field with the name of the affected object.
    * ``act`` reads the form, and raises its errors before the job starts.
    * ``result`` redirects to the page of the result, if it has one.
    * ``form`` shows the form again; ``shown`` shows it with a result that has no page.
    * ``parts`` returns the parts of the result that are ready; ``stage`` the current stage.
    * ``exact`` are the fields of exact values: a form that has any is handled in the request,
      and its content is not stored.
    """

    name: str
    doing: str
    role: str
    act: Callable[[Server, Principal, Typed], JobFunction]
    subject: str = ""
    result: Callable[[Visit, str], Response] | None = None
    form: Callable[[Visit, Form], Response] | None = None
    shown: Callable[[Visit, Form, str], Response] | None = None
    parts: Callable[[WorkView], Comparison] | None = None
    stage: Callable[[WorkView], str] = lambda piece: piece.stage
    exact: tuple[str, ...] = ()


def begun(visit: Visit, kind: JobKind, given: Typed) -> Response:
    """Start the job of a form; redirect to its result, or to the page that waits for it.

    Raises the errors that the form shows; the job is then deleted, so that the form may be sent
    again under the same key.
    """
    act = kind.act(visit.server, visit.principal, given)
    if any(given.get(name, "").strip() for name in kind.exact):
        return once(visit, lambda: _at_once(visit, kind, act))
    fields = urlencode([field for field in given.items(multi=True) if field[0] not in UNSAID])
    piece = visit.runner.start(
        visit.principal,
        JobRequest(
            kind=kind.name,
            key=PREFIX + given.get(FIELD, ""),
            request=idempotency.fingerprint(visit.server, kind.name.encode(), fields.encode()),
            fields=fields,
            subject=given.get(kind.subject, "").strip(),
        ),
        act,
    )
    if isinstance(piece.problem, SHOWN) and kind.form:
        jobs.forget(visit.server, visit.principal, piece.id)
        raise piece.problem
    return onward(visit, kind, piece) or visit.go("piece", piece=piece.id, lead="1")


def _at_once(visit: Visit, kind: JobKind, act: JobFunction) -> tuple[Response, str]:
    made = act(Run("", 1))
    response = visit.go("my_work") if kind.result is None else kind.result(visit, made)
    return response, response.location or ""


def onward(visit: Visit, kind: JobKind, piece: WorkView) -> Response | None:
    """Redirect to the page of the result, if there is a result by now."""
    if piece.result is None:
        return None
    if kind.shown is not None:
        return visit.go("sent_form", piece=piece.id)
    return None if kind.result is None else kind.result(visit, piece.result)


def for_worker(kind: JobKind) -> Preparation:
    """Return how a worker prepares a job of this kind from its row."""

    def prepared(server: Server, principal: Principal, fields: str) -> JobFunction:
        principal.require(kind.role)
        only = replace(principal, roles=frozenset({kind.role}))
        return kind.act(server, only, MultiDict(parse_qsl(fields, keep_blank_values=True)))

    return prepared


def typed(piece: WorkView) -> Typed:
    """Return the fields of the form that started a job, under the same key."""
    fields = parse_qsl(piece.fields, keep_blank_values=True)
    return MultiDict([*fields, (FIELD, piece.key.removeprefix(PREFIX))])


def has_any(visit: Visit) -> bool:
    """Return True if the user has any jobs; False if that cannot be checked now."""
    if not visit.may("admin", "auditor"):
        return False
    try:
        return jobs.has_any(visit.server, visit.principal)
    except PenstockError:
        return False
