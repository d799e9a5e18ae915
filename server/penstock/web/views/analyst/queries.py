"""Show a query and the caller's releases of it, and request more."""

from flask import Response, request

from penstock.errors import ClearanceTooLow, Conflict, InvalidInput, NotFound
from penstock.http.pacing import hide_duration
from penstock.services.jobs import long_draws
from penstock.services.queries import queries
from penstock.services.releases import history, releases
from penstock.services.schemas.previews import ReleasePreviewView
from penstock.services.schemas.views import QueryView
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANALYST, SIGNED_IN, Pages
from penstock.web.presenters import release_charts
from penstock.web.presenters.chart_files import MEDIA_TYPES, chart_file
from penstock.web.presenters.spec_text import question

pages = Pages()


@pages.get("/queries/<query>", SIGNED_IN)
def query(visit: Visit, query: str) -> Response:
    """Show the definition of a query, and the caller's releases of it."""
    shown = queries.show(visit.server, visit.principal, query)
    return visit.page(
        "analyst/query.html",
        query=shown,
        releases=_shown_releases(visit, shown) if "analyst" in visit.principal.roles else None,
        asks=question(shown.spec),
        preview=_own_level(visit, shown),
        given=request.args.get("given"),
        first="first" in request.args,
        added="added" in request.args,
        requested="requested" in request.args,
    )


@pages.get("/queries/<query>/request", ANALYST)
def consequences(visit: Visit, query: str) -> Response:
    """Preview a request for another level; nothing is done."""
    shown = queries.show(visit.server, visit.principal, query)
    preview, refusal = None, None
    try:
        level = release_charts.level_request(request.args)
        preview = releases.preview(visit.server, visit.principal, shown.name, level)
    except (InvalidInput, ClearanceTooLow, Conflict) as problem:
        refusal = problem.detail
    return visit.page(
        "shared/consequences.html" if visit.is_part else "analyst/request.html",
        422 if refusal else 200,
        query=shown,
        preview=preview,
        refusal=refusal,
        given=request.args,
    )


@pages.post("/queries/<query>/releases", ANALYST)
def request_release(visit: Visit, query: str) -> Response:
    """Release the query at a level; a repeated request returns the same numbers."""
    given = request.form
    level = release_charts.level_request(given)
    preview = releases.preview(visit.server, visit.principal, query, level)
    now = str(preview.level.value)
    if given.get("shown", now) != now:
        return _changed_preview(visit, preview)
    answer = long_draws.release(visit.server, visit.principal, query, level)
    if answer.first:
        hide_duration(answer.drawn)
    view = answer.view
    first = "1" if answer.first else None
    return visit.go("query", query=view.query, given=view.id, first=first)


@pages.get("/queries/<query>/chart/<image>", ANALYST)
def query_chart(visit: Visit, query: str, image: str) -> Response:
    """Send the chart of the caller's own releases of a query as a file."""
    shown = queries.show(visit.server, visit.principal, query)
    own = _shown_releases(visit, shown)
    if own is None:
        raise NotFound(f"You have no release of {shown.name} yet, so there is no chart of it.")
    return visit.file(chart_file(own.picture, image), MEDIA_TYPES[image], f"{shown.name}.{image}")


def _changed_preview(visit: Visit, preview: ReleasePreviewView) -> Response:
    """Show the current preview of a request whose form was shown for another level."""
    return visit.page(
        "analyst/request.html",
        409,
        query=queries.show(visit.server, visit.principal, preview.query),
        preview=preview,
        changed=True,
        given=request.form,
    )


def _shown_releases(visit: Visit, shown: QueryView) -> release_charts.ShownReleases | None:
    """Return every level that the caller has; those that the address names are drawn."""
    server, caller = visit.server, visit.principal
    items = history.levels(server, caller, shown.name)
    ids, chosen = [item.id for item in items], request.args.getlist("level")
    drawn, listed = release_charts.selected(ids, chosen, shown.dimension)
    views = history.of_query(server, caller, shown.name, most=len(listed), chosen=listed)
    look = release_charts.look_in(request.args.get("show", ""))
    title = f"{shown.name}: your results"
    return release_charts.shown_releases(items, views, drawn, title, shown, look)


def _own_level(visit: Visit, shown: QueryView) -> ReleasePreviewView | None:
    """Preview a request at the caller's clearance; None if they may not request it."""
    if "analyst" not in visit.principal.roles or shown.status != "active":
        return None
    return releases.preview(
        visit.server, visit.principal, shown.name, release_charts.level_request({})
    )
