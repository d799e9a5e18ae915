"""Preview and make a schedule by form: first what it will charge, then made, switched off."""

from collections.abc import Mapping

from flask import Response, request

from penstock.errors import PenstockError
from penstock.services.datasets import data_folder
from penstock.services.people import tiers
from penstock.services.schedules import schedules, statements
from penstock.services.schemas.schedules import ForecastView, ScheduleSpec
from penstock.web.forms import dataset_form, form_input, schedule_form
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.views.data.new_query import chosen, known
from penstock.web.views.data.new_version import connections_like
from penstock.web.views.data.schedules import forecast_of

pages = Pages()


@pages.get("/new/schedule", ADMIN)
def new_schedule(visit: Visit) -> Response:
    """Show the form, for the chosen dataset."""
    return _form(visit, Form(request.args))


@pages.post("/new/schedule/preview", ADMIN)
def preview_new_schedule(visit: Visit) -> Response:
    """Preview what the schedule would charge; nothing is stored, and no file is read."""
    given = request.form

    def act() -> Response:
        forecast = forecast_of(visit, _spec(visit, given), schedule_form.days_of(given))
        return _form(visit, form_input.kept(given), forecast)

    return tried(act, lambda problem: _form(visit, form_input.refused(given, problem)))


@pages.post("/new/schedule", ADMIN)
def make_schedule(visit: Visit) -> Response:
    """Make a schedule, switched off; its page previews what it will charge."""
    given = request.form

    def act() -> tuple[Response, str]:
        days = schedule_form.days_of(given)
        with schedule_form.placed():
            made = schedules.create(visit.server, visit.principal, _spec(visit, given))
        response = visit.go("schedule", schedule=made.name, done="made", days=str(days))
        return response, response.location or ""

    def refused(problem: PenstockError) -> Response:
        return _form(visit, form_input.refused(given, problem))

    return tried(lambda: once(visit, act), refused)


def _spec(visit: Visit, given: Mapping[str, str]) -> ScheduleSpec:
    """Return the schedule that a form describes.  Raises ``InvalidInput``."""
    before = chosen(visit.server, visit.principal, given).source
    source = dataset_form.next_source(before, given.get("uri", "").strip(), given.get("connection"))
    ranked = [tier.name for tier in tiers.listing(visit.server)]
    read = statements.reader(visit.server, given.get("dataset", ""))
    return schedule_form.spec_of(given, source, ranked, visit.server.clock(), read)


def _form(visit: Visit, form: Form, forecast: ForecastView | None = None) -> Response:
    fitting = [candidate for candidate in known(visit) if candidate.columns]
    dataset = next(
        (candidate for candidate in fitting if candidate.name == form.value("dataset")), None
    )
    return visit.page(
        "data/schedules/new_schedule.html",
        form.status,
        form=form,
        datasets=[candidate.name for candidate in fitting],
        dataset=dataset,
        connections=connections_like(visit, dataset) if dataset else [],
        pattern=dataset_form.dated(dataset.source) if dataset else "",
        tiers=tiers.listing(visit.server),
        folder=data_folder.folder_of_data(visit.server.settings),
        words=schedule_form,
        forecast=forecast,
    )
