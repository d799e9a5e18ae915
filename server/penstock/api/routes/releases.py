"""Release queries, and list the releases that were handed out."""

from typing import Annotated, Literal

from pydantic import Field

from penstock.api.operations import ANALYST, READER, Operations, Parameter
from penstock.api.parameters import Shares
from penstock.api.request_context import Call
from penstock.services.jobs import long_draws
from penstock.services.noise.estimates.marginals import forms_of, with_report
from penstock.services.noise.estimates.reading import (
    NOISE,
    EstimateChoice,
    Interval,
    names_in,
    reread,
)
from penstock.services.pagination import Page, Window
from penstock.services.releases import history
from penstock.services.releases.allowed import read_with_caller
from penstock.services.schemas.queries import ReleaseRequest
from penstock.services.schemas.views import (
    HistoryItemView,
    ReleaseView,
)
from penstock.services.synthetic_rows import rows as synthetic_rows
from penstock.services.synthetic_rows.rows import MOST_ROWS, SyntheticRowsView

operations = Operations()


Form = Literal["json", "csv", "arrow", "parquet"]
_FORM = Parameter("The format of the answer; if left out, the Accept header decides.")
_INTERVAL = Parameter(
    "What the intervals of estimates are about: the rows in the data, which is the default, or the"
    " population that they are a sample of."
)
_PROBABILITIES = Parameter(
    "The probabilities of the quantiles to show, separated by commas, in place of the registered"
    " ones: each is read from the same release, and costs nothing."
)
_OUTCOME = Parameter(
    "The column that moments are read as a regression of: the same sums of products, at no charge."
)
_PREDICTORS = Parameter(
    "The columns that it is regressed on, separated by commas; by default all others of the query."
)
_SIZE_RELEASE = Parameter(
    "A release of the number of rows or units, whose value is used in place of the known_size of"
    " counts that are protected together; intervals then contain its error as well."
)
_REPORT = Parameter(
    "The forms in which marginals are reported beside their raw values, with commas between:"
    " nonnegative, whole, total_preserving."
)


@operations.post(
    "/queries/{query}/releases", ANALYST, status=200, refusals=(409,), look=read_with_caller
)
def request_release(
    call: Call,
    query: str,
    request: ReleaseRequest,
    interval: Annotated[Interval, _INTERVAL] = NOISE,
    report: Annotated[str | None, _REPORT] = None,
) -> ReleaseView:
    """Release a query at the caller's clearance, or at any more private level.

    A repeated request returns the same vector. A target between two levels of the query gets the
    noisier one, and the answer says which.
    """
    forms = forms_of(report)
    answer = long_draws.release(call.server, call.principal, query, request, call.look)
    if answer.first:
        call.hide_duration(answer.drawn)
    return with_report(reread(answer.view, EstimateChoice(interval)), forms)


@operations.get("/releases", READER)
def list_releases(
    call: Call,
    window: Window,
    query: Annotated[str | None, Parameter("Only the releases of this query.")] = None,
    user: Annotated[str | None, Parameter("Only releases that were handed to this user.")] = None,
) -> Page[HistoryItemView]:
    """List releases that were handed out, oldest first: the caller's own, or all for auditors."""
    return history.listing(call.server, call.principal, window, query=query, user=user)


@operations.get("/releases/{release}", READER)
def show_release(call: Call, release: str) -> HistoryItemView:
    """Show one release that was handed out, without its values."""
    return history.show(call.server, call.principal, release)


@operations.get("/releases/{release}/values", ANALYST, refusals=(406,), tabular=True)
def show_values(
    call: Call,
    release: str,
    format: Annotated[Form | None, _FORM] = None,  # noqa: A002, ARG001  # `formats` reads it
    first: Annotated[
        int | None,
        Field(ge=0),
        Parameter("The position of the first value, from 0; by default 0.", called="from"),
    ] = None,
    last: Annotated[
        int | None,
        Field(ge=0),
        Parameter("The position of the last value; by default that of the last.", called="to"),
    ] = None,
    interval: Annotated[Interval, _INTERVAL] = NOISE,
    probabilities: Annotated[Shares, _PROBABILITIES] = (),
    outcome: Annotated[str | None, _OUTCOME] = None,
    predictors: Annotated[str | None, _PREDICTORS] = None,
    size_release: Annotated[str | None, _SIZE_RELEASE] = None,
    report: Annotated[str | None, _REPORT] = None,
) -> ReleaseView:
    """Show a release with its values, to a user who received it: all, or a range of positions.

    Both ends of a range are part of it.  As CSV, Arrow stream or Parquet it is a table with one row
    per key.  For more than 10^7 values in JSON request ranges.
    """
    forms = forms_of(report)
    shown = history.values(
        call.server,
        call.principal,
        release,
        first=first,
        last=last,
        choice=EstimateChoice(interval, probabilities, outcome, names_in(predictors or "")),
        size_release=size_release,
    )
    return with_report(shown, forms)


@operations.get("/releases/{release}/synthetic", ANALYST, refusals=(406,), tabular=True)
def show_synthetic_rows(
    call: Call,
    release: str,
    rows: Annotated[
        int | None,
        Field(ge=1, le=MOST_ROWS),
        Parameter("The number of rows; by default as many as the release says there are."),
    ] = None,
    format: Annotated[Form | None, _FORM] = None,  # noqa: A002, ARG001  # `formats` reads it
) -> SyntheticRowsView:
    """Make up rows with the counts of a release, for a user who received it.

    The release must be a table of counts over declared categories or bins. All who received it get
    the same rows, and how far the shares of its table are from theirs. They cost no budget. It
    takes seconds.
    """
    return synthetic_rows.drawn(call.server, call.principal, release, rows)
