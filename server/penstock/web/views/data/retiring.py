"""Preview retiring a query or a stream, and do it: it has no new releases afterwards."""

from typing import Any

from flask import Response, request

from penstock.services.approvals.actions import Action, QueryRetirement, StreamRetirement
from penstock.services.queries import queries
from penstock.services.streams import streams
from penstock.web.forms import form_input
from penstock.web.forms.confirmation import require_named
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.proposals import do_or_propose
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/queries/<query>/retirement", ADMIN)
def query_retirement(visit: Visit, query: str) -> Response:
    """Preview retiring a query, with the form that does it."""
    return _page(visit, "query", query, Form())


@pages.post("/queries/<query>/retirement", ADMIN)
def retire_query(visit: Visit, query: str) -> Response:
    """Retire a query, or propose it."""
    return _retire(visit, "query", query, QueryRetirement(query=query))


@pages.get("/streams/<stream>/retirement", ADMIN)
def stream_retirement(visit: Visit, stream: str) -> Response:
    """Preview retiring a stream, with the form that does it."""
    return _page(visit, "stream", stream, Form())


@pages.post("/streams/<stream>/retirement", ADMIN)
def retire_stream(visit: Visit, stream: str) -> Response:
    """Retire a stream, or propose it."""
    return _retire(visit, "stream", stream, StreamRetirement(stream=stream))


def _retire(visit: Visit, kind: str, name: str, retirement: Action[Any]) -> Response:
    given = request.form

    def act() -> Response:
        require_named(given, name)
        return do_or_propose(
            visit, retirement, lambda done: visit.go(f"{kind}_retirement", **{kind: done.name})
        )

    return tried(act, lambda problem: _page(visit, kind, name, form_input.refused(given, problem)))


def _page(visit: Visit, kind: str, name: str, form: Form) -> Response:
    show = streams.show if kind == "stream" else queries.show
    shown = show(visit.server, visit.principal, name)
    return visit.page("data/retiring.html", form.status, kind=kind, subject=shown, form=form)
