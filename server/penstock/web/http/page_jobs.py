"""Long work that a form asks for: begun once, waited for a moment, then left and come back to.

A kind of work says how what was typed becomes an act, and where its result is.  Forms of one
key lead to one piece of work, whether it is under way, done, or was interrupted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from flask import Response
from werkzeug.datastructures import MultiDict

from penstock.errors import PenstockError
from penstock.services.jobs import idempotency, jobs
from penstock.services.jobs.jobs import Wanted, WorkView
from penstock.services.jobs.runner import Act, Run
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import FIELD, SHOWN, UNSAID, once
from penstock.web.http.request_context import Visit
from penstock.web.presenters.preview_choices import Comparison

PREFIX = "form-"

Typed = MultiDict[str, str]
"""What was typed into a form."""


@dataclass(frozen=True)
class Kind:
    """One kind of work.

    ``doing`` says what is done, ``role`` who may ask for it, ``subject`` is the field that
    says to what.  ``act`` reads what was typed, and raises what is wrong with it before
    anything is begun.  ``result`` leads to what came of it, where that has a page; ``form``
    shows the form again, and ``shown`` with what came of it, where that has no page of its
    own.  ``parts`` are those of the result that are there already, ``stage`` says what is done
    now.  ``exact`` are fields that hold exact values: what comes with them is done at once,
    and not kept.
    """

    name: str
    doing: str
    role: str
    act: Callable[[Visit, Typed], Act]
    subject: str = ""
    result: Callable[[Visit, str], Response] | None = None
    form: Callable[[Visit, Form], Response] | None = None
    shown: Callable[[Visit, Form, str], Response] | None = None
    parts: Callable[[WorkView], Comparison] | None = None
    stage: Callable[[WorkView], str] = lambda piece: piece.stage
    exact: tuple[str, ...] = ()


def begun(visit: Visit, kind: Kind, given: Typed) -> Response:
    """Do what a form asks for, and lead to its result, or to where one may wait for it.

    Raises what the form itself shows, which is then forgotten: it may be sent again.
    """
    act = kind.act(visit, given)
    if any(given.get(name, "").strip() for name in kind.exact):
        return once(visit, lambda: _at_once(visit, kind, act))
    fields = urlencode([field for field in given.items(multi=True) if field[0] not in UNSAID])
    piece = visit.runner.start(
        visit.principal,
        Wanted(
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


def _at_once(visit: Visit, kind: Kind, act: Act) -> tuple[Response, str]:
    made = act(Run("", 1))
    response = visit.go("my_work") if kind.result is None else kind.result(visit, made)
    return response, response.location or ""


def onward(visit: Visit, kind: Kind, piece: WorkView) -> Response | None:
    """To the page of what came of it, if there is one by now."""
    if piece.result is None:
        return None
    if kind.shown is not None:
        return visit.go("sent_form", piece=piece.id)
    return None if kind.result is None else kind.result(visit, piece.result)


def typed(piece: WorkView) -> Typed:
    """What was typed into the form that asked for it, under the same key."""
    fields = parse_qsl(piece.fields, keep_blank_values=True)
    return MultiDict([*fields, (FIELD, piece.key.removeprefix(PREFIX))])


def has_any(visit: Visit) -> bool:
    """Whether somebody has any work to come back to; not where that cannot be told now."""
    if not visit.may("admin", "auditor"):
        return False
    try:
        return jobs.has_any(visit.server, visit.principal)
    except PenstockError:
        return False
