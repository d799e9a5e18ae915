"""What was handed out: the list, one release, and its download."""

from flask import Response, request

from penstock.errors import InvalidInput
from penstock.services import history as services
from penstock.web import releases as held
from penstock.web.pages import ANALYST, READER, Pages
from penstock.web.visit import Visit

pages = Pages()


@pages.get("/history", READER, menu="History")
def history(visit: Visit) -> Response:
    """Hand-outs, the oldest first: one's own, or for auditors everybody's."""
    filters = {name: request.args.get(name, "").strip() for name in ("query", "user")}
    found = services.listing(
        visit.server,
        visit.principal,
        visit.window(),
        query=filters["query"] or None,
        user=filters["user"] or None,
    )
    return visit.page(
        "history.html",
        items=found.items,
        filters=filters,
        onward=visit.onward(found),
        everybody="auditor" in visit.principal.roles,
    )


@pages.get("/releases/<release>", ANALYST)
def release(visit: Visit, release: str) -> Response:
    """One release that the caller was handed, with its values."""
    found = services.values(visit.server, visit.principal, release)
    return visit.page(
        "release.html",
        release=found,
        picture=held.held_picture([found], f"{found.query} at {found.tier}"),
        forms=visit.lent.forms,
    )


@pages.get("/releases/<release>/<form>", ANALYST)
def download(visit: Visit, release: str, form: str) -> Response:
    """The same as a file."""
    if form not in visit.lent.forms:
        raise InvalidInput(f"A release is written as {', '.join(visit.lent.forms)}.")
    found = services.values(visit.server, visit.principal, release)
    answer = visit.lent.download(found, form)
    answer.headers["Content-Disposition"] = f'attachment; filename="{found.id}.{form}"'
    return answer
