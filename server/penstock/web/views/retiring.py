"""Ending a query or a stream: nothing more of it is released."""

from flask import Response, request

from penstock.services import proposals, queries, streams
from penstock.services.proposal_views import ProposalView
from penstock.services.proposed import QueryRetirement, StreamRetirement
from penstock.web import forms
from penstock.web.forms import Form
from penstock.web.meant import require_named
from penstock.web.once import tried
from penstock.web.pages import ADMIN, Pages
from penstock.web.visit import Visit

pages = Pages()


@pages.get("/queries/<query>/retirement", ADMIN)
def query_retirement(visit: Visit, query: str) -> Response:
    """What retiring a query would mean, and the form that does it."""
    return _query(visit, query, Form())


@pages.post("/queries/<query>/retirement", ADMIN)
def retire_query(visit: Visit, query: str) -> Response:
    """Retire a query, or propose it."""

    def act() -> Response:
        require_named(request.form, query)
        done = proposals.asked(visit.server, visit.principal, QueryRetirement(query=query))
        if isinstance(done, ProposalView):
            return visit.go("proposal", proposal=done.id)
        return visit.go("query_retirement", query=done.name)

    return tried(act, lambda problem: _query(visit, query, forms.refused(request.form, problem)))


@pages.get("/streams/<stream>/retirement", ADMIN)
def stream_retirement(visit: Visit, stream: str) -> Response:
    """What retiring a stream would mean, and the form that does it."""
    return _stream(visit, stream, Form())


@pages.post("/streams/<stream>/retirement", ADMIN)
def retire_stream(visit: Visit, stream: str) -> Response:
    """Retire a stream, or propose it."""

    def act() -> Response:
        require_named(request.form, stream)
        done = proposals.asked(visit.server, visit.principal, StreamRetirement(stream=stream))
        if isinstance(done, ProposalView):
            return visit.go("proposal", proposal=done.id)
        return visit.go("stream_retirement", stream=done.name)

    return tried(act, lambda problem: _stream(visit, stream, forms.refused(request.form, problem)))


def _query(visit: Visit, name: str, form: Form) -> Response:
    shown = queries.show(visit.server, visit.principal, name)
    return visit.page("retiring.html", form.status, kind="query", one=shown, form=form)


def _stream(visit: Visit, name: str, form: Form) -> Response:
    shown = streams.show(visit.server, visit.principal, name)
    return visit.page("retiring.html", form.status, kind="stream", one=shown, form=form)
