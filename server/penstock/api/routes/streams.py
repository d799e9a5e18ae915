"""Handle requests about streams: data over time, released as running totals by tier."""

from typing import Annotated

from pydantic import Field

from penstock.api.operations import ADMIN, ANALYST, PLANNER, SIGNED_IN, Operations, Parameter
from penstock.api.request_context import Call
from penstock.services import rewording
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import StreamRetirement
from penstock.services.pagination import Page, Window
from penstock.services.previews import stream_preview
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.stream_previews import StreamPreviewView
from penstock.services.schemas.streams import (
    ElementsRequest,
    PushedView,
    RunningTotalsView,
    StreamOrTextsChange,
    StreamRequest,
    StreamView,
)
from penstock.services.schemas.wordings.wordings import WordingChange, texts_of
from penstock.services.streams import stream_elements, stream_totals, streams

operations = Operations()


@operations.get("/streams", SIGNED_IN)
def list_streams(
    call: Call,
    window: Window,
    dataset: Annotated[str | None, Parameter("Only the streams of this dataset.")] = None,
) -> Page[StreamView]:
    """List the streams that the caller may see, in the order in which they were opened."""
    return streams.listing(call.server, call.principal, window, dataset)


@operations.post("/streams", ADMIN, refusals=(404, 409))
def open_stream(call: Call, request: StreamRequest) -> StreamView:
    """Open a stream: charge every tier for all of it, before the first element.

    The charge is that of one privacy unit, which is in at most `max_steps_per_unit` elements and
    changes each by at most `sensitivity`; the server takes both as asserted by the caller. The
    number is required unless the dataset's privacy unit is the event.
    """
    return streams.open_stream(call.server, call.principal, request)


@operations.post("/streams/preview", PLANNER, status=200, refusals=(404, 409), question=True)
def preview_stream(call: Call, request: StreamRequest) -> StreamPreviewView:
    """Preview what opening a stream would decide and charge; nothing is done.

    The body is what `POST /streams` takes.  Whatever that would refuse is refused here too, except
    a budget that does not suffice, which `refusal` and each tier's `room` report. `structures`
    compares all structures that fit, at the same guarantee of each tier, with errors computed from
    their nodes; it shows which tree is best at this length.  Analysts see tiers up to their own, as
    in the preview of a query.
    """
    preview = stream_preview.preview_stream(call.server, call.principal, request)
    # Otherwise the answer's time could distinguish a free name from a hidden one.
    call.hide_duration(0)
    return preview


@operations.get("/streams/{stream}", SIGNED_IN)
def show_stream(call: Call, stream: str) -> StreamView:
    """Show one stream, down to the tiers that the caller may see, and its next number."""
    return streams.show(call.server, call.principal, stream)


@operations.patch("/streams/{stream}", ADMIN, refusals=(409,))
def change_stream(call: Call, stream: str, request: StreamOrTextsChange) -> StreamView:
    """Move levels of a stream from the next element on, or change its texts.

    Tiers and texts that are left out keep theirs.

    A level that no tier had before has totals from that element on, and none of earlier steps: most
    of the noise that they would need is no longer stored, and earlier elements are stored only as
    sums. A level more accurate than a tier was charged for is charged.
    """
    if isinstance(request, WordingChange):
        return rewording.of_stream(call.server, call.principal, stream, texts_of(request))
    return streams.change(call.server, call.principal, stream, request)


@operations.post("/streams/{stream}/retire", ADMIN, status=200)
def retire_stream(call: Call, stream: str) -> StreamView | ProposalView:
    """Retire a stream: it takes no more elements, and users get no ranges that are new to them.

    Users can still read the ranges that they received earlier.  The budget that the stream
    was charged is not returned.
    """
    return proposals.do_or_propose(call.server, call.principal, StreamRetirement(stream=stream))


@operations.post("/streams/{stream}/elements", ADMIN, status=200, refusals=(409,), large_body=True)
def push_elements(call: Call, stream: str, request: ElementsRequest) -> PushedView:
    """Store the next elements, and draw the running total of each at every level.

    `from` is the number of the first element and must be the stream's next; otherwise nothing is
    stored.  Elements are numbered from 1.  Each is a number, or a list of `dimension` numbers.
    """
    return stream_elements.push(call.server, call.principal, stream, request)


@operations.get("/streams/{stream}/releases", ANALYST, refusals=(409,))
def read_stream(
    call: Call,
    stream: str,
    first: Annotated[
        int | None,
        Field(ge=1),
        Parameter("The first step; by default the first of the level.", called="from"),
    ] = None,
    last: Annotated[
        int | None, Field(ge=1), Parameter("The last step; by default the newest.", called="to")
    ] = None,
    tier: Annotated[
        str | None, Parameter("The tier whose level to read; by default the caller's own.")
    ] = None,
) -> RunningTotalsView:
    """Show all running totals of a range of steps, at the caller's tier or a lower one.

    A range once read never changes. For more than 10^7 numbers request shorter ranges.
    """
    running_totals = stream_totals.read(
        call.server, call.principal, stream, first=first, last=last, tier=tier
    )
    call.hide_duration(len(running_totals.items) * running_totals.items[0].values.size)
    return running_totals
