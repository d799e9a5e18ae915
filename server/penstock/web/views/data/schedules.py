"""List schedules, show one with what it will charge, switch it on and off, and remove it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import Conflict, InvalidInput, PenstockError, Unavailable
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.schedules import forecast, schedules
from penstock.services.schemas.schedules import ForecastView, ScheduleSpec, ScheduleView
from penstock.spec_fields import folded
from penstock.web.forms import form_input, schedule_form
from penstock.web.forms.confirmation import require_named
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, OVERSEER, Pages
from penstock.web.presenters import spec_text

pages = Pages()


@pages.get("/schedules", OVERSEER, menu="Schedules")
def schedule_list(visit: Visit) -> Response:
    """Show all schedules, or those of one dataset."""
    dataset = request.args.get("dataset", "").strip()
    every = schedules.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items
    return visit.page(
        "data/schedules/schedules.html",
        schedules=[
            view
            for view in every
            if not dataset or folded(str(view.spec["dataset"])) == folded(dataset)
        ],
        dataset=dataset,
        removed="removed" in request.args,
    )


@pages.get("/schedules/<schedule>", OVERSEER)
def schedule(visit: Visit, schedule: str) -> Response:
    """Show a schedule, its occurrences, and to admins what it will charge."""
    return _page(visit, schedule, Form(request.args))


@pages.post("/schedules/<schedule>/on", ADMIN)
def switch_schedule_on(visit: Visit, schedule: str) -> Response:
    """Switch a schedule on, if it will charge what the form showed."""
    given = request.form

    def act() -> Response:
        view = schedules.show(visit.server, visit.principal, schedule)
        if not view.on:
            _require_agreed(visit, view, given)
        schedules.switch(visit.server, visit.principal, schedule, on=True, made_at=view.made_at)
        return visit.go("schedule", schedule=view.name, done="on")

    return tried(act, lambda problem: _page(visit, schedule, form_input.refused(given, problem)))


@pages.post("/schedules/<schedule>/off", ADMIN)
def switch_schedule_off(visit: Visit, schedule: str) -> Response:
    """Switch a schedule off; an occurrence that is under way is finished."""
    view = schedules.switch(visit.server, visit.principal, schedule, on=False)
    return visit.go("schedule", schedule=view.name, done="off")


@pages.post("/schedules/<schedule>/removal", ADMIN)
def remove_schedule(visit: Visit, schedule: str) -> Response:
    """Remove a schedule that is off; what it registered stays."""
    given = request.form

    def act() -> Response:
        require_named(given, schedule)
        schedules.remove(visit.server, visit.principal, schedule)
        return visit.go("schedule_list", removed="1")

    return tried(act, lambda problem: _page(visit, schedule, form_input.refused(given, problem)))


def forecast_of(visit: Visit, spec: ScheduleSpec, days: int) -> ForecastView:
    """Return what a schedule will charge within so many days from now.

    Raises as ``forecast.forecast`` does, with the pointers of the form.
    """
    until = visit.server.clock() + timedelta(days=days)
    try:
        with schedule_form.placed():
            return forecast.forecast(visit.server, visit.principal, spec, until)
    except InvalidInput as problem:
        problem.errors = tuple((place or "/days", detail) for place, detail in problem.errors)
        raise


def basis_of(view: ScheduleView, forecast_view: ForecastView) -> str:
    """Return what a form says of the forecast beside it: it changes with the spec and its price."""
    prices = [[tier.tier, tier.epsilon, tier.shares, tier.total] for tier in forecast_view.tiers]
    prices += [[stream.stream, stream.max_steps_per_unit] for stream in forecast_view.streams]
    text = json.dumps([view.spec, prices], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _require_agreed(visit: Visit, view: ScheduleView, given: Mapping[str, str]) -> None:
    """Raise unless the caller agreed to what the schedule would charge now."""
    days = schedule_form.days_of(given)
    forecast_view = forecast_of(visit, checked(ScheduleSpec, view.spec), days)
    if forecast_view.refusal is not None:
        raise Conflict(f"Its next occurrence would be refused. {forecast_view.refusal}")
    if given.get("shown", "") != basis_of(view, forecast_view):
        raise Conflict(
            "What it will charge has changed since the forecast was shown. Read the present"
            " forecast, and switch it on again."
        )
    if "agreed" not in given:
        raise InvalidInput(
            "Tick the box, to confirm what it may charge, and send the form again.",
            pointer="/agreed",
        )


def _page(visit: Visit, name: str, form: Form) -> Response:
    view = schedules.show(visit.server, visit.principal, name)
    spec: ScheduleSpec = checked(ScheduleSpec, view.spec)
    forecast_view, obstacle = None, ""
    if visit.may("admin") and (not view.on or "days" in form.given):
        try:
            forecast_view = forecast_of(visit, spec, schedule_form.days_of(form.given))
        except InvalidInput as problem:
            form = form if form.problem else replace(form, problem=problem)
        except Unavailable as problem:
            obstacle = f"What it will charge cannot be computed now. {problem.detail}"
        except PenstockError as problem:  # such as a dataset that was withdrawn
            obstacle = f"Its next occurrence would be refused. {problem.detail}"
    return visit.page(
        "data/schedules/schedule.html",
        form.status,
        view=view,
        spec=spec,
        queries=[(query.get("name", ""), spec_text.request_of(query)) for query in spec.queries],
        streams=[(feed.stream, spec_text.question(feed.query)) for feed in spec.streams],
        source=spec_text.source_of(spec.version.get("source", {})),
        words=schedule_form,
        forecast=forecast_view,
        basis=basis_of(view, forecast_view) if forecast_view else "",
        obstacle=obstacle,
        form=form,
        done=request.args.get("done", ""),
    )
