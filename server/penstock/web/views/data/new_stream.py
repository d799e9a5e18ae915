"""Preview and open a stream by form; its elements are pushed over the API."""

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import PenstockError
from penstock.services import budgets
from penstock.services.previews import stream_preview
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams
from penstock.web.forms import choices, form_input, query_kinds
from penstock.web.forms.form_input import Form
from penstock.web.forms.privacy_terms import starting_levels
from penstock.web.forms.stream_form import stream
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.presenters.preview_charts import PreviewCharts, charts_of_stream
from penstock.web.presenters.preview_choices import with_taken
from penstock.web.views.data.new_query import chosen, known

pages = Pages()


@pages.get("/new/stream", ADMIN)
def new_stream(visit: Visit) -> Response:
    """Show the form, for the chosen dataset."""
    return _form(visit, Form(request.args))


@pages.post("/new/stream/preview", ADMIN)
def preview_new_stream(visit: Visit) -> Response:
    """Preview what opening the stream would charge; nothing is done."""
    given = with_taken(request.form)

    def act() -> Response:
        dataset = chosen(visit.server, visit.principal, given)
        request_checked = checked(StreamRequest, stream(given, dataset))
        preview = stream_preview.preview_stream(
            visit.server, visit.principal, request_checked, visit.patience
        )
        shown = budgets.show(visit.server, visit.principal, dataset.name)
        return _form(visit, form_input.kept(given), charts_of_stream(preview, shown))

    return tried(act, lambda problem: _form(visit, form_input.refused(given, problem)))


@pages.post("/new/stream", ADMIN)
def open_stream(visit: Visit) -> Response:
    """Open a stream; every tier that may see it is charged for all of it."""
    given = request.form

    def act() -> tuple[Response, str]:
        request_checked = checked(
            StreamRequest, stream(given, chosen(visit.server, visit.principal, given))
        )
        made = streams.open_stream(visit.server, visit.principal, request_checked)
        response = visit.go("stream", stream=made.name, added="1")
        return response, response.location or ""

    def refused(problem: PenstockError) -> Response:
        return _form(visit, form_input.refused(given, problem))

    return tried(lambda: once(visit, act), refused)


def _form(visit: Visit, form: Form, charts: PreviewCharts | None = None) -> Response:
    every = known(visit)
    dataset = next(
        (candidate for candidate in every if candidate.name == form.value("dataset")), None
    )
    return visit.page(
        "data/preview.html" if visit.is_part else "data/building/frame.html",
        form.status_for(part=visit.is_part),
        form=form,
        kind=None,
        kinds=query_kinds.KINDS,
        datasets=[candidate.name for candidate in every],
        dataset=dataset,
        tiers=list(dataset.budgets) if dataset else [],
        starts=starting_levels(dataset.budgets) if dataset else {},
        words=choices,
        charts=charts,
    )
