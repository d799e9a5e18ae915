"""Show the releases that users received: the list, one release, and its downloads."""

from functools import partial
from typing import Any

from flask import Response, request

from penstock.connectors.binned.quantiles import probabilities_in
from penstock.errors import InvalidInput, NotFound
from penstock.http import tabular_formats
from penstock.services.noise.derived.quantities import has_parts
from penstock.services.noise.estimates.marginals import with_report
from penstock.services.noise.estimates.reading import EstimateChoice, names_in
from penstock.services.queries import queries
from penstock.services.releases import history as services
from penstock.services.schemas.views import QueryView, ReleaseView
from penstock.services.synthetic_rows import rows
from penstock.structures.marginals.reports import Form
from penstock.web.forms import log_filters
from penstock.web.forms.derived_form import QUANTITIES, derived
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANALYST, READER, Pages
from penstock.web.presenters import release_charts
from penstock.web.presenters.chart_files import MEDIA_TYPES, chart_file
from penstock.web.presenters.figure import Picture
from penstock.web.presenters.release_charts import PLAIN

pages = Pages()


FILTERS = ("query", "dataset", "tier", "user", *log_filters.TIMES)


@pages.get("/history", READER, menu="History")
def history(visit: Visit) -> Response:
    """Show releases, oldest first: the caller's own, or all users' for auditors."""
    typed = {name: request.args.get(name, "").strip() for name in FILTERS}
    shown: dict[str, Any] = {
        "filters": typed,
        "narrowed": any(typed.values()),
        "everybody": "auditor" in visit.principal.roles,
    }
    try:
        since, until = log_filters.times(typed)
        page = services.listing(
            visit.server,
            visit.principal,
            visit.window(),
            query=log_filters.name_in(typed, "query"),
            dataset=log_filters.name_in(typed, "dataset"),
            tier=log_filters.name_in(typed, "tier"),
            user=log_filters.name_in(typed, "user"),
            since=since,
            until=until,
        )
    except InvalidInput as problem:
        return visit.page("analyst/history.html", 422, refusal=problem.detail, **shown)
    return visit.page("analyst/history.html", items=page.items, onward=visit.onward(page), **shown)


@pages.get("/releases/<release>", ANALYST)
def release(visit: Visit, release: str) -> Response:
    """Show one release that the caller received, with its values."""
    choice = EstimateChoice(
        probabilities=probabilities_in(request.args.get("probabilities", "")),
        outcome=request.args.get("outcome") or None,
        predictors=names_in(request.args.get("predictors", "")),
    )
    size = request.args.get("size_release", "").strip() or None
    view = services.values(visit.server, visit.principal, release, choice=choice, size_release=size)
    view = with_report(view, list(Form))
    group = release_charts.group_in(request.args.get("group", ""), view)
    computed = derived(view, request.args, partial(services.values, visit.server, visit.principal))
    query = _in_sight(visit, view.query)
    return visit.page(
        "analyst/release.html",
        computed.form.status,
        release=view,
        derived=computed,
        has_parts=has_parts(view),
        quantities=QUANTITIES.items(),
        outcome=choice.outcome or (view.moments and view.moments.outcome),
        groups=release_charts.groups_of(view, query or PLAIN)[: release_charts.MOST_GROUPS],
        group=group,
        picture=_picture(view, group, query),
        forms=tabular_formats.FORMS,
        synthetic=rows.can_be_drawn(visit.server, view),
        query=query,
    )


def _picture(view: ReleaseView, group: int, query: QueryView | None) -> Picture:
    """Return the chart of a release, with the texts of its query if the caller may see it."""
    title = f"{view.query} at {view.tier}"
    look = release_charts.look_in(request.args.get("show", ""))
    return release_charts.release_picture(view, title, group, query or PLAIN, look)


def _in_sight(visit: Visit, query: str) -> QueryView | None:
    """Return the query if the caller may still see it; releases outlast a clearance."""
    try:
        return queries.show(visit.server, visit.principal, query)
    except NotFound:
        return None


@pages.get("/releases/<release>/<form>", ANALYST)
def download(visit: Visit, release: str, form: str) -> Response:
    """Send a release as a file: as a table with the labels of keys in columns of their own."""
    if form not in tabular_formats.FORMS:
        raise InvalidInput(f"Choose a format: {', '.join(tabular_formats.FORMS)}.")
    view = services.values(visit.server, visit.principal, release)
    query = _in_sight(visit, view.query)
    answer = tabular_formats.answer(view, form, (query or PLAIN).shown_labels)
    answer.headers["Content-Disposition"] = f'attachment; filename="{view.id}.{form}"'
    return answer


@pages.get("/releases/<release>/chart/<image>", ANALYST)
def release_chart(visit: Visit, release: str, image: str) -> Response:
    """Send the chart of a release as a file; of quantiles by group it is that of ``group``."""
    choice = EstimateChoice(probabilities=probabilities_in(request.args.get("probabilities", "")))
    size = request.args.get("size_release", "").strip() or None
    view = services.values(visit.server, visit.principal, release, choice=choice, size_release=size)
    group = release_charts.group_in(request.args.get("group", ""), view)
    picture = _picture(view, group, _in_sight(visit, view.query))
    return visit.file(chart_file(picture, image), MEDIA_TYPES[image], f"{view.id}.{image}")


@pages.get("/releases/<release>/synthetic/<form>", ANALYST)
def synthetic_rows(visit: Visit, release: str, form: str) -> Response:
    """Send synthetic rows of a release as a file."""
    if form not in tabular_formats.FORMS:
        raise InvalidInput(f"Choose a format: {', '.join(tabular_formats.FORMS)}.")
    view = rows.drawn(visit.server, visit.principal, release, None)
    answer = tabular_formats.rows_answer(view, form)
    name = f"{view.release}-synthetic.{form}"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
