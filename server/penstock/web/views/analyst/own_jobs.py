"""Work that takes long: how far it is, what came of it, and how to go on."""

from collections.abc import Iterator
from typing import BinaryIO

from flask import Response, request

from penstock.errors import NotFound
from penstock.services.audit import exports
from penstock.services.jobs import jobs as services
from penstock.services.jobs.jobs import WorkView
from penstock.web.forms.form_input import Form
from penstock.web.http import page_jobs
from penstock.web.http.page_jobs import Kind
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import AUDITOR, SIGNED_IN, Pages
from penstock.web.views.audit import proofs
from penstock.web.views.data import new_dataset, new_query

pages = Pages()

BLOCK = 65_536
"""Bytes of a file that are read at once."""

KINDS = {
    kind.name: kind for kind in (new_dataset.KIND, new_query.KIND, new_query.COMPARING, proofs.KIND)
}


@pages.get("/my-work", SIGNED_IN)
def my_work(visit: Visit) -> Response:
    """All work of one's own, the newest first."""
    views = services.listing(visit.server, visit.principal)
    items = [(KINDS[piece.kind], piece) for piece in views if piece.kind in KINDS]
    return visit.page("jobs/own_jobs.html", items=items, days=services.LIFE.days)


@pages.get("/my-work/<piece>", SIGNED_IN)
def piece(visit: Visit, piece: str) -> Response:
    """How far a piece of work is; whoever waits for it is led on to what comes of it."""
    kind, view = _job_of(visit, piece)
    waits = "lead" in request.args
    if view.over and visit.is_part:
        # The whole page is another one now.
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
    """The form that asked for it, as it was typed, with why it was refused."""
    kind, view = _own(visit, piece)
    if kind.form is None:
        raise NotFound("There is no form behind this work.")
    given = page_jobs.typed(view)
    if kind.shown is not None and view.result is not None:
        return kind.shown(visit, Form(given), view.result)
    response = kind.form(visit, Form(given, view.problem, given["once"]))
    response.status_code = 200
    return response


@pages.post("/my-work/<piece>/again", SIGNED_IN)
def resume_work(visit: Visit, piece: str) -> Response:
    """Start it again where it was interrupted or refused."""
    kind, view = _own(visit, piece)
    return page_jobs.begun(visit, kind, page_jobs.typed(view))


@pages.get("/my-work/<piece>/file", AUDITOR)
def work_file(visit: Visit, piece: str) -> Response:
    """The file that it has written."""
    kind, view = _job_of(visit, piece)
    if kind is not proofs.KIND:
        raise NotFound("There is no file behind this work.")
    file = exports.content(visit.server, visit.principal, view, visit.runner.host)
    response = Response(_blocks(file), mimetype="application/jsonl")
    response.call_on_close(file.close)  # also where nothing of it is read
    response.headers["Content-Disposition"] = 'attachment; filename="penstock-log.jsonl"'
    return response


def _blocks(opened: BinaryIO) -> Iterator[bytes]:
    with opened as file:
        yield from iter(lambda: file.read(BLOCK), b"")


def _own(visit: Visit, piece: str) -> tuple[Kind, WorkView]:
    """Work that the caller may still ask for.  Raises ``Forbidden`` where they may not."""
    kind, view = _job_of(visit, piece)
    visit.principal.require(kind.role)
    return kind, view


def _job_of(visit: Visit, piece: str) -> tuple[Kind, WorkView]:
    view = services.show(visit.server, visit.principal, piece)
    if view.kind not in KINDS:
        raise NotFound("This version of the server knows no such work.")
    return KINDS[view.kind], view
