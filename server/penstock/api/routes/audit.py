"""Handle auditors' requests: the log, and what groups of users know together."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict  # pydantic requires this class before Python 3.12

from penstock.api.operations import AUDITOR, ONESELF_OR_AUDITOR, SIGNED_IN, Operations, Parameter
from penstock.api.parameters import Moment, Names
from penstock.api.request_context import Call
from penstock.http.event_tables import flat
from penstock.services.audit import cosigners, events, proofs
from penstock.services.exposure import exposure
from penstock.services.pagination import Page, Window
from penstock.services.reports import signed_reports
from penstock.services.reports.signed_reports import AuditReportView
from penstock.services.schemas.exposure import ExposureView
from penstock.services.schemas.log import CosignedNote
from penstock.services.schemas.views import (
    EventView,
)
from penstock.transparency_log.views import CheckpointView, ConsistencyView, InclusionView, LeafView

operations = Operations()

MOST = 2**53
"""More leaves than any log has; numbers up to here are exact in every client."""

EventKind = Literal[
    "release",
    "dataset",
    "query",
    "tier",
    "user",
    "clearance",
    "budget",
    "level",
    "token",
    "key",
    "restore",
    "stream",
    "proposal",
    "suspension",
    "clock",
    "refusals",
    "schedule",
    "allowance",
    "request",
    "group",
    "invitation",
    "wording",
    "upload",
]


class Event(TypedDict):
    """One leaf of the log, with its place and hash; what does not apply is left out."""

    index: int | None
    leaf_hash: str
    v: int
    nonce: NotRequired[str]
    kind: str
    at: str
    actor: str
    user: NotRequired[str]
    dataset: NotRequired[str]
    query: NotRequired[str]
    tier: NotRequired[str]
    level: NotRequired[dict[str, Any]]
    release: NotRequired[str]
    value_hmac: NotRequired[str]
    chunks: NotRequired[str]
    actor_exposure: NotRequired[dict[str, float | list[float]]]


@operations.get("/audit/events", AUDITOR)
def list_events(
    call: Call,
    window: Window,
    user: Annotated[str | None, Parameter("Only events about this user.")] = None,
    query: Annotated[str | None, Parameter("Only events about this query.")] = None,
    kind: Annotated[EventKind | None, Parameter("Only events of this kind.")] = None,
    since: Annotated[Moment | None, Parameter("Only events from this time on.")] = None,
    until: Annotated[Moment | None, Parameter("Only events before this time.")] = None,
) -> Page[Event]:
    """List the log: every first hand-out and every change that could permit one."""
    page = events.listing(
        call.server,
        call.principal,
        window,
        user=user,
        query=query,
        kind=kind,
        since=since,
        until=until,
    )
    return Page([_flat(event) for event in page.items], page.next_cursor)


@operations.get("/audit/events/export", AUDITOR, refusals=(406,), lines=True, tabular=True)
def export_events(
    call: Call,
    user: Annotated[str | None, Parameter("Only events about this user.")] = None,
    query: Annotated[str | None, Parameter("Only events about this query.")] = None,
    kind: Annotated[EventKind | None, Parameter("Only events of this kind.")] = None,
    since: Annotated[Moment | None, Parameter("Only events from this time on.")] = None,
    until: Annotated[Moment | None, Parameter("Only events before this time.")] = None,
    format: Annotated[  # noqa: A002, ARG001  # `chosen` reads it
        Literal["json", "csv"] | None,
        Parameter("The format of the answer; if left out, the Accept header decides."),
    ] = None,
) -> Iterator[Event]:
    """Export the events of the log in words, all that the filters leave, as CSV or lines of JSON.

    In CSV a cell that a spreadsheet would run as a formula begins with an apostrophe. The export
    covers the newest checkpoint at the time when it begins; /audit/export has the bytes that were
    hashed.
    """
    filters = {"user": user, "query": query, "kind": kind, "since": since, "until": until}
    return map(_flat, events.every(call.server, call.principal, **filters))


@operations.get("/audit/exposure", ONESELF_OR_AUDITOR)
def show_exposure(
    call: Call,
    users: Annotated[Names, Parameter("The names of the users, separated by commas.")],
    dataset: Annotated[
        str | None, Parameter("The dataset; if left out, the sum over all datasets.")
    ] = None,
) -> ExposureView:
    """Show what a group of users knows together.

    It also shows the bound, over all that they could fetch, and what the same releases would have
    cost if each had been drawn independently.
    """
    return exposure.of(call.server, call.principal, users, dataset)


@operations.get("/audit/checkpoint", SIGNED_IN, refusals=(404, 406), noted=True)
def show_checkpoint(
    call: Call,
    cosigned: Annotated[
        int,
        Field(ge=0, le=16),
        Parameter("The newest checkpoint that so many cosigners signed; with 0 the newest of all."),
    ] = 0,
    format: Annotated[  # noqa: A002, ARG001  # `formats` reads it
        Literal["json", "note"] | None,
        Parameter("The format of the answer; if left out, the Accept header decides."),
    ] = None,
) -> CheckpointView:
    """Show the newest checkpoint: the log's size and root, signed.

    It covers every leaf whose request was answered. The Ed25519 signature is over the lines of the
    note above the empty line. As text/plain the answer is the note (C2SP tlog-checkpoint) with the
    lines of its cosigners.
    """
    return cosigners.checkpoint(call.server, cosigned)


@operations.post("/audit/cosignatures", AUDITOR, status=200)
def take_cosignature(call: Call, request: CosignedNote) -> CheckpointView:
    """Store a cosignature of a checkpoint of this log.

    The cosigner states that the checkpoint continues what it had seen before (C2SP
    tlog-cosignature), under a key that the operator named. Each cosigner counts once for a
    checkpoint; the first cosignature is kept.
    """
    return cosigners.take(call.server, call.principal, request.note)


@operations.get("/audit/proof/inclusion", SIGNED_IN, refusals=(404,))
def prove_inclusion(
    call: Call,
    index: Annotated[int, Field(ge=0, le=MOST), Parameter("The leaf, from 0.")],
    size: Annotated[
        int | None,
        Field(ge=1, le=MOST),
        Parameter("The size of the tree; if left out, that of the newest checkpoint."),
    ] = None,
) -> InclusionView:
    """Prove that a leaf is in the log, by RFC 9162, section 2.1.3.

    Auditors may request any leaf, other users only those that their own receipts name; all others
    are answered as missing.
    """
    return proofs.inclusion(call.server, call.principal, index, size)


@operations.get("/audit/proof/consistency", SIGNED_IN)
def prove_consistency(
    call: Call,
    old: Annotated[int, Field(ge=1, le=MOST), Parameter("The smaller size.", called="from")],
    new: Annotated[int, Field(ge=1, le=MOST), Parameter("The larger size.", called="to")],
) -> ConsistencyView:
    """Prove that the log begins with what it was at a smaller size (RFC 9162, section 2.1.4)."""
    return proofs.consistency(call.server, old, new)


@operations.get("/audit/export", AUDITOR, lines=True)
def export_log(call: Call) -> Iterator[LeafView]:
    """Export the log in order: one line for each leaf, in base64 as it was hashed.

    The export covers the newest checkpoint at the time when it begins.
    """
    return proofs.export(call.server, call.principal)


@operations.get("/audit/report", AUDITOR, refusals=(404, 406), documented=True)
def report_audit(
    call: Call,
    dataset: Annotated[str, Parameter("The dataset that the report is about.")],
    start: Annotated[
        Moment | None,
        Parameter("The first moment of the period; if left out, the log's first.", called="from"),
    ] = None,
    end: Annotated[
        Moment | None,
        Parameter("The moment before which the period ends; if left out, now.", called="to"),
    ] = None,
    format: Annotated[  # noqa: A002, ARG001  # `chosen` reads it
        Literal["json", "html", "pdf"] | None,
        Parameter("The format of the answer; if left out, the Accept header decides."),
    ] = None,
) -> AuditReportView:
    """Report on a dataset and a period: who was given what, spending, coalitions, proofs.

    The period contains its first moment and not its end, which cannot be in the future. All facts
    are of one state of the database. The log's key signs their canonical JSON; as text/html and
    application/pdf the answer is one page, whose bytes are signed too. penstock-client audit
    verify-report verifies all three without the server.
    """
    return signed_reports.make(call.server, call.principal, dataset, start, end)


def _flat(event: EventView) -> Event:
    return cast("Event", flat(event))
