"""Show the caller's jobs: progress, results, and how to resume them."""

from collections.abc import Iterator
from typing import BinaryIO

from flask import Response, request

from penstock.errors import NotFound
from penstock.services.audit import exports
from penstock.services.jobs import jobs as services
from penstock.services.jobs.jobs import WorkView
from penstock.web.forms.form_input import Form
from penstock.web.http import page_jobs
from penstock.web.http.page_jobs import JobKind
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import AUDITOR, SIGNED_IN, Pages
from penstock.web.views.audit import proofs
from penstock.web.views.data import new_dataset, new_query
from penstock.web.views.people import request_decisions

pages = Pages()

BLOCK = 65_536
"""Bytes read from a file at once."""

_STARTED = (
    new_dataset.KIND,
    new_query.KIND,
    new_query.COMPARING,
    request_decisions.KIND,
    proofs.KIND,
)
KINDS = {kind.name: kind for kind in _STARTED}

FOR_WORKERS = {name: page_jobs.for_worker(kind) for name, kind in KINDS.items()}
"""How a worker runs each kind of job."""


@pages.get("/my-work", SIGNED_IN)
def my_work(visit: Visit) -> Response:
    """Show all jobs of the caller, newest first."""
    views = services.listing(visit.server, visit.principal)
    items = [(KINDS[piece.kind], piece) for piece in views if piece.kind in KINDS]
    return visit.page("jobs/own_jobs.html", items=items, days=services.LIFE.days)


@pages.get("/my-work/<piece>", SIGNED_IN)
def piece(visit: Visit, piece: str) -> Response:
    """Show the progress of a job; redirect to its result if the caller waits for it."""
    kind, view = _job_of(visit, piece)
    waits = "lead" in request.args
    if view.over and visit.is_part:
        # The page around this part has changed, too.
        return Response(status=204, headers={"HX-Refresh": "true"})
    led = page_jobs.onward(visit, kind, view) if waits else None
    return led or visit.page(
        "jobs/job_part.html" if visit.is_part else "jobs/job.html",
        kind=kind,
        piece=view,
        waits=waits,
        kept_until=exports.gone_after(view),
    )


@pages.get("/my-work/<piece>/form", SIGNED_IN)
def sent_form(visit: Visit, piece: str) -> Response:
    """Show the form that started a job, as it was filled in, with the reason of a refusal."""
    kind, view = _own(visit, piece)
    if kind.form is None:
        raise NotFound("This work was not started from a form.")
    given = page_jobs.typed(view)
    if kind.shown is not None and view.result is not None:
        return kind.shown(visit, Form(given), view.result)
    response = kind.form(visit, Form(given, view.problem, given["once"]))
    response.status_code = 200
    return response


@pages.post("/my-work/<piece>/again", SIGNED_IN)
def resume_work(visit: Visit, piece: str) -> Response:
    """Resume a job that was interrupted or refused."""
    kind, view = _own(visit, piece)
    return page_jobs.begun(visit, kind, page_jobs.typed(view))


@pages.get("/my-work/<piece>/file", AUDITOR)
def work_file(visit: Visit, piece: str) -> Response:
    """Send the file that a job wrote."""
    kind, view = _job_of(visit, piece)
    if kind is not proofs.KIND:
        raise NotFound("This work has no file.")
    file = exports.content(visit.server, visit.principal, view, visit.runner.host)
    response = Response(_blocks(file), mimetype="application/jsonl")
    response.call_on_close(file.close)  # also if nothing of it is read
    response.headers["Content-Disposition"] = 'attachment; filename="penstock-log.jsonl"'
    return response


def _blocks(opened: BinaryIO) -> Iterator[bytes]:
    with opened as file:
        yield from iter(lambda: file.read(BLOCK), b"")


def _own(visit: Visit, piece: str) -> tuple[JobKind, WorkView]:
    """Return a job whose role the caller still has.  Raises ``Forbidden`` otherwise."""
    kind, view = _job_of(visit, piece)
    visit.principal.require(kind.role)
    return kind, view


def _job_of(visit: Visit, piece: str) -> tuple[JobKind, WorkView]:
    view = services.show(visit.server, visit.principal, piece)
    if view.kind not in KINDS:
        raise NotFound("This version of the server has no such kind of work.")
    return KINDS[view.kind], view
