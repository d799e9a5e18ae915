"""Show a stream, its levels, and its running totals over a range of steps."""

from flask import Response, request

from penstock.errors import ClearanceTooLow, Conflict, InvalidInput
from penstock.http.pacing import hide_duration
from penstock.sentences.phrases import kept
from penstock.services.schemas.streams import RunningTotalsView, StreamView
from penstock.services.streams import stream_totals as services
from penstock.services.streams import streams
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANALYST, SIGNED_IN, Pages
from penstock.web.presenters import stream_charts
from penstock.web.presenters.chart_files import MEDIA_TYPES, chart_file, writer_of

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
    try:
        totals = _read(visit, shown)
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
    values = [stream_charts.values_of(tier_totals, shown.length) for tier_totals in totals]
    return visit.page(
        "analyst/stream.html",
        stream=shown,
        structure=kept(shown.structure),
        given=request.args,
        chosen=[tier_totals.tier for tier_totals in totals],
        totals=totals,
        values=values,
        pictures=stream_charts.pictures(totals, values, shown),
    )


@pages.get("/streams/<stream>/chart/<image>", ANALYST)
def stream_chart(visit: Visit, stream: str, image: str) -> Response:
    """Send a chart of a range as a file, which is a read of its totals: the log records it."""
    shown = streams.show(visit.server, visit.principal, stream)
    # Refused before anything is read, which the log would record.
    writer_of(image)
    number = stream_charts.number_in(request.args.get("number", ""), shown.dimension)
    totals = _read(visit, shown)
    values = [stream_charts.values_of(tier_totals, shown.length) for tier_totals in totals]
    drawn = stream_charts.pictures(totals, values, shown)
    file = chart_file(drawn[number].picture, image)
    return visit.file(file, MEDIA_TYPES[image], f"{shown.name}.{image}")


def _read(visit: Visit, shown: StreamView) -> list[RunningTotalsView]:
    """Return the totals of the range and the tiers that the address names."""
    visible = [tier_view.tier for tier_view in shown.tiers]
    levels = stream_charts.tiers(request.args.getlist("tier"), visible)
    span = stream_charts.step_range(request.args)
    totals = [
        services.read(visit.server, visit.principal, shown.name, tier=tier, **span)
        for tier in levels
    ]
    hide_duration(
        sum(len(tier_totals.items) * tier_totals.items[0].values.size for tier_totals in totals)
    )
    return totals
