"""Show the audit log in words: releases and changes, each with its proof."""

from typing import Any

from flask import Response, request

from penstock.errors import InvalidInput
from penstock.http.event_tables import csv_answer, flat
from penstock.services.audit import events
from penstock.transparency_log.leaves import KINDS
from penstock.web.forms import log_filters
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import AUDITOR, Pages

pages = Pages()


@pages.get("/timeline", AUDITOR, menu="Timeline")
def timeline(visit: Visit) -> Response:
    """Show releases and changes, newest first, by the filters in the address; all as CSV."""
    typed = log_filters.given(request.args)
    shown: dict[str, Any] = {
        "given": typed,
        "kinds": KINDS,
        "narrowed": any(map(typed.get, log_filters.FILTERS)),
    }
    try:
        filters = log_filters.filters_of(typed)
    except InvalidInput as problem:
        return visit.page("audit/log.html", 422, refusal=problem.detail, **shown)
    if request.args.get("format") == "csv":
        return csv_answer(map(flat, events.every(visit.server, visit.principal, **filters)))
    page = events.listing(visit.server, visit.principal, visit.window(), **filters)
    return visit.page("audit/log.html", events=page.items, onward=visit.onward(page), **shown)
