"""A stream: its levels, and its running totals over a range of steps."""

from flask import Response, request

from penstock.errors import ClearanceTooLow, Conflict, InvalidInput
from penstock.services import stream_releases, streams
from penstock.web import totals
from penstock.web.pages import ANALYST, SIGNED_IN, Pages
from penstock.web.visit import Visit

pages = Pages()


@pages.get("/streams/<stream>", SIGNED_IN)
def stream(visit: Visit, stream: str) -> Response:
    """What a stream counts, at which levels, and the form to read it by."""
    shown = streams.show(visit.server, visit.principal, stream)
    return visit.page("stream.html", stream=shown, given={})


@pages.get("/streams/<stream>/totals", ANALYST)
def stream_totals(visit: Visit, stream: str) -> Response:
    """Running totals of a range, which the log records as given."""
    shown = streams.show(visit.server, visit.principal, stream)
    try:
        found = stream_releases.read(
            visit.server, visit.principal, shown.name, **totals.wanted(request.args)
        )
    except (InvalidInput, ClearanceTooLow, Conflict) as problem:
        return visit.page(
            "stream.html", 422, stream=shown, given=request.args, refusal=problem.detail
        )
    visit.lent.hide_duration(len(found.items) * found.items[0].values.size)
    return visit.page(
        "stream.html",
        stream=shown,
        given=request.args,
        totals=found,
        pictures=totals.pictures(found),
    )
