"""Show a stream, its levels, and its running totals over a range of steps."""

from flask import Response, request

from penstock.errors import ClearanceTooLow, Conflict, InvalidInput
from penstock.http.pacing import hide_duration
from penstock.sentences.phrases import kept
from penstock.services.noise.derived.elements import elements
from penstock.services.streams import stream_totals as services
from penstock.services.streams import streams
from penstock.web.charts.results.totals import MOST_STEPS
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANALYST, SIGNED_IN, Pages
from penstock.web.presenters import stream_charts

pages = Pages()


@pages.get("/streams/<stream>", SIGNED_IN)
def stream(visit: Visit, stream: str) -> Response:
    """Show a stream and its levels, with the form that reads totals."""
    shown = streams.show(visit.server, visit.principal, stream)
    return visit.page(
        "analyst/stream.html",
        stream=shown,
        structure=kept(shown.structure),
        given={},
        chosen=[],
        added="added" in request.args,
    )


@pages.get("/streams/<stream>/totals", ANALYST)
def stream_totals(visit: Visit, stream: str) -> Response:
    """Show running totals of a range; the audit log records each read."""
    shown = streams.show(visit.server, visit.principal, stream)
    chosen = request.args.getlist("tier")
    levels = stream_charts.tiers(chosen, [tier_view.tier for tier_view in shown.tiers])
    try:
        span = stream_charts.step_range(request.args)
        totals = [
            services.read(visit.server, visit.principal, shown.name, tier=tier, **span)
            for tier in levels
        ]
    except (InvalidInput, ClearanceTooLow, Conflict) as problem:
        return visit.page(
            "analyst/stream.html",
            422,
            stream=shown,
            structure=kept(shown.structure),
            given=request.args,
            chosen=chosen,
            refusal=problem.detail,
        )
    hide_duration(
        sum(len(tier_totals.items) * tier_totals.items[0].values.size for tier_totals in totals)
    )
    singly = "each" in request.args
    values = [
        elements(tier_totals, shown.length, MOST_STEPS)
        for tier_totals in (totals if singly else ())
    ]
    return visit.page(
        "analyst/stream.html",
        stream=shown,
        structure=kept(shown.structure),
        given=request.args,
        chosen=[tier_totals.tier for tier_totals in totals],
        totals=totals,
        pictures=stream_charts.pictures(totals, shown.title, shown.shown_labels),
        values=values,
        value_pictures=stream_charts.element_pictures(
            shown.title or shown.name, values, shown.shown_labels
        ),
    )
