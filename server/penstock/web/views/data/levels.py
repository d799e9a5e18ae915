"""Preview other levels of a query or a stream, and change them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import Conflict, InvalidInput, PenstockError
from penstock.services import budgets
from penstock.services.previews import level_preview
from penstock.services.previews.level_preview import MovedLevelsView
from penstock.services.queries import queries
from penstock.services.schemas.queries import LevelsChange
from penstock.services.schemas.streams import StreamChange, StreamView
from penstock.services.schemas.views import QueryView
from penstock.services.streams import streams
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.presenters import budget_charts

pages = Pages()

TARGET_FIELDS = (
    ("epsilon", "epsilon (privacy loss)"),
    ("half_width", "margin of error (95%)"),
    ("level", "noise parameter (variance, scale or mean)"),
)


@dataclass(frozen=True)
class _Statistic:
    """Hold how a query or a stream is shown, and how its levels are changed."""

    name: str
    show: Callable[[Visit, str], QueryView | StreamView]
    change: Callable[[Visit, str, Mapping[str, object]], object]


_QUERY = _Statistic(
    "query",
    lambda visit, name: queries.show(visit.server, visit.principal, name),
    lambda visit, name, entered: queries.change(
        visit.server, visit.principal, name, checked(LevelsChange, entered)
    ),
)
_STREAM = _Statistic(
    "stream",
    lambda visit, name: streams.show(visit.server, visit.principal, name),
    lambda visit, name, entered: streams.change(
        visit.server, visit.principal, name, checked(StreamChange, entered)
    ),
)


@pages.get("/queries/<query>/levels", ADMIN)
def query_levels(visit: Visit, query: str) -> Response:
    """Show the levels of a query, or the preview of others; nothing is done."""
    return _levels(visit, _QUERY, query)


@pages.post("/queries/<query>/levels", ADMIN)
def move_query_levels(visit: Visit, query: str) -> Response:
    """Change the levels of a query."""
    return _move(visit, _QUERY, query)


@pages.get("/streams/<stream>/levels", ADMIN)
def stream_levels(visit: Visit, stream: str) -> Response:
    """Show the levels of a stream, or the preview of others; nothing is done."""
    return _levels(visit, _STREAM, stream)


@pages.post("/streams/<stream>/levels", ADMIN)
def move_stream_levels(visit: Visit, stream: str) -> Response:
    """Change the levels of a stream, from its next element on."""
    return _move(visit, _STREAM, stream)


def _levels(visit: Visit, statistic: _Statistic, name: str) -> Response:
    given, shown = request.args, statistic.show(visit, name)
    if "wish" not in given:
        return _page(visit, statistic, shown, Form(given), None)
    return tried(
        lambda: _page(
            visit, statistic, shown, Form(given), _preview(visit, statistic, shown, given)
        ),
        lambda problem: _page(visit, statistic, shown, form_input.refused(given, problem), None),
    )


def _move(visit: Visit, statistic: _Statistic, name: str) -> Response:
    given, shown = request.form, statistic.show(visit, name)

    def act() -> Response:
        preview = _preview(visit, statistic, shown, given)
        if preview.changes:
            if given.get("shown", "") != preview.basis:
                raise Conflict(
                    f"The levels of {shown.name} or their charges changed after the preview was"
                    " shown. Read the current preview and try again."
                )
            statistic.change(visit, shown.name, {"levels": _entered(given, _tiers(visit, shown))})
        return visit.go(f"{statistic.name}_levels", **{statistic.name: shown.name, "moved": "1"})

    return tried(act, lambda problem: _again(visit, statistic, shown, given, problem))


def _preview(
    visit: Visit, statistic: _Statistic, shown: QueryView | StreamView, given: Mapping[str, str]
) -> MovedLevelsView:
    entered = checked(LevelsChange, {"levels": _entered(given, _tiers(visit, shown))})
    return level_preview.preview(
        visit.server,
        visit.principal,
        shown.name,
        entered.levels,
        stream=statistic is _STREAM,
    )


def _entered(given: Mapping[str, str], tiers: list[str]) -> dict[str, dict[str, object]]:
    """Return the levels that were entered, by tier; those left empty stay."""
    field = given.get("wish", "")
    if field not in dict(TARGET_FIELDS):
        raise InvalidInput("Choose how levels are given, for example as epsilon.", pointer="/wish")
    entered: dict[str, dict[str, object]] = {}
    for tier in tiers:
        value = form_input.number(given.get(f"level {tier}", ""))
        if value is not None:
            entered[tier] = {field: value}
    if not entered:
        raise InvalidInput(
            "Enter another level for at least one tier; levels left empty do not change."
        )
    return entered


def _tiers(visit: Visit, shown: QueryView | StreamView) -> list[str]:
    """Return the tiers that may have a level: those with a budget for the data."""
    view = budgets.show(visit.server, visit.principal, shown.dataset)
    versions = {version.version: version.tiers for version in view.earlier} | {
        view.version: view.tiers
    }
    return [tier.tier for tier in versions.get(shown.dataset_version, view.tiers)]


def _again(
    visit: Visit,
    statistic: _Statistic,
    shown: QueryView | StreamView,
    given: Mapping[str, str],
    problem: PenstockError,
) -> Response:
    """Show the refusal with a new preview if there can be one, else with the form alone."""
    form = form_input.refused(given, problem)
    try:
        preview = _preview(visit, statistic, shown, given)
    except (InvalidInput, Conflict):
        preview = None
    return _page(visit, statistic, shown, form, preview)


def _page(
    visit: Visit,
    statistic: _Statistic,
    shown: QueryView | StreamView,
    form: Form,
    moved_levels: MovedLevelsView | None,
) -> Response:
    picture = None
    if moved_levels is not None and moved_levels.changes and not moved_levels.refusal:
        view = budgets.show(visit.server, visit.principal, shown.dataset)
        if view.version == shown.dataset_version:
            picture = budget_charts.moved(view, moved_levels)
    return visit.page(
        "data/levels.html",
        form.status,
        kind=statistic.name,
        subject=shown,
        tiers=_tiers(visit, shown),
        form=form,
        target_fields=TARGET_FIELDS,
        preview=moved_levels,
        picture=picture,
        moved="moved" in request.args,
    )
