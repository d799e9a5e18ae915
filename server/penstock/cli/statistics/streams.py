"""Run ``penstock stream``: open streams, push elements, and read their running totals."""

from functools import partial
from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.proposals import do_or_propose
from penstock.cli.specs import checked, content_of
from penstock.cli.statistics.queries import ERROR, LEVEL, tier_cells
from penstock.cli.wordings import texts_in, wording_lines
from penstock.figures import decimals, fixed, moment, printable, short

if TYPE_CHECKING:
    from penstock.services.schemas.streams import RunningTotalsView, StreamView

_step_option = partial(option, type=click.IntRange(min=1))


@click.group()
def stream() -> None:
    """Open, preview, push to and read streams of data over time."""


@stream.command("list")
@option("--dataset", help="List only streams of this dataset.")
@format_option
@click.pass_obj
def listing(operator: Operator, dataset: str | None) -> None:
    """List the streams, with the level and error of each tier."""
    from penstock.services.streams import streams

    views = everything(
        lambda window: streams.listing(operator.server, operator.principal, window, dataset)
    )
    columns = (
        *(Column("stream"), Column("dataset"), Column("mechanism"), Column("structure")),
        *(Column("next", right=True), Column("status")),
        *(Column("tier"), *LEVEL, *ERROR, Column("from", right=True)),
    )
    rows = [
        (
            *(view.name, view.dataset, view.mechanism, view.structure["kind"]),
            *(view.next, view.status, *tier),
        )
        for view in views
        for tier in _tiers(view)
    ]
    note = "" if views else "There are no streams yet."
    operator.print(Document(views, columns, rows, note=note))


@stream.command()
@click.argument("name")
@format_option
@click.pass_obj
def show(operator: Operator, name: str) -> None:
    """Show one stream: structure, next element, and the level of each tier."""
    from penstock.services.streams import streams

    operator.print(_shown(streams.show(operator.server, operator.principal, name)))


@stream.command("open")
@click.argument("file")
@format_option
@click.pass_obj
def open_(operator: Operator, file: str) -> None:
    """Open the stream in FILE.

    FILE is JSON or TOML; - is standard input.  Every tier is charged for the whole stream at
    once.  Exits with 3 if a budget does not allow it.
    """
    from penstock.services.schemas.streams import StreamRequest
    from penstock.services.streams import streams

    request = checked(StreamRequest, content_of(file, operator.settings.body_limit))
    operator.print(_shown(streams.open_stream(operator.server, operator.principal, request)))


@stream.command()
@click.argument("file")
@format_option
@click.pass_obj
def preview(operator: Operator, file: str) -> None:
    """Show what opening the stream in FILE would charge.

    FILE is what 'open' takes, as JSON or TOML; - is standard input.  A second table compares all
    structures that fit, at the same guarantee; errors and the work per step are computed from
    their nodes.
    """
    from penstock.cli.statistics.stream_preview import previewed
    from penstock.services.previews import stream_preview
    from penstock.services.schemas.streams import StreamRequest

    request = checked(StreamRequest, content_of(file, operator.settings.body_limit))
    operator.print(
        previewed(stream_preview.preview_stream(operator.server, operator.principal, request))
    )


@stream.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def levels(operator: Operator, name: str, file: str) -> None:
    """Change levels of the stream NAME as FILE says.

    FILE contains {"levels": {TIER: {...}}}, as JSON or TOML; - is standard input.  Other tiers keep
    theirs.  A level that no tier had before has totals from the next element on.
    """
    from penstock.services.schemas.streams import StreamChange
    from penstock.services.streams import streams

    change = checked(StreamChange, content_of(file, operator.settings.body_limit))
    operator.print(_shown(streams.change(operator.server, operator.principal, name, change)))


@stream.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def describe(operator: Operator, name: str, file: str) -> None:
    """Change title, description, unit, tags, labels and owners of the stream NAME as FILE says.

    FILE contains {"title": "...", "unit": "days", "labels": {CODE: "..."}}, as JSON or TOML; - is
    standard input.  Texts that are left out stay.  They are for readers alone: no budget, level or
    spec changes.
    """
    from penstock.services import rewording

    texts = texts_in(operator, file)
    operator.print(_shown(rewording.of_stream(operator.server, operator.principal, name, texts)))


@stream.command()
@click.argument("name")
@format_option
@click.pass_obj
def retire(operator: Operator, name: str) -> None:
    """Close the stream NAME.  It takes no more elements and releases nothing new."""
    from penstock.services.approvals.actions import StreamRetirement

    retired = do_or_propose(operator, StreamRetirement(stream=name))
    if retired is not None:
        operator.print(_shown(retired))


@stream.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def push(operator: Operator, name: str, file: str) -> None:
    """Push the elements in FILE to the stream NAME.

    FILE contains {"from": NUMBER, "values": [...]}, as JSON or TOML; - is standard input.  NUMBER
    is that of the first element.  It must be the stream's next; otherwise nothing is stored.
    """
    from penstock.services.schemas.streams import ElementsRequest
    from penstock.services.streams import stream_elements

    request = checked(ElementsRequest, content_of(file, operator.settings.query_body_limit))
    pushed_view = stream_elements.push(operator.server, operator.principal, name, request)
    columns = (Column("stream"), *(Column(place, right=True) for place in ("from", "to", "next")))
    rows = [(pushed_view.stream, pushed_view.first, pushed_view.last, pushed_view.next)]
    operator.print(Document(pushed_view, columns, rows))


@stream.command()
@click.argument("name")
@option(
    "--as",
    "user",
    envvar="PENSTOCK_STREAM_READ_AS",
    metavar="USER",
    required=True,
    help="Analyst who gets the totals.",
)
@_step_option(
    "--from",
    "first",
    envvar="PENSTOCK_STREAM_READ_FROM",
    help="First step [default: the first that the level has].",
)
@_step_option(
    "--to", "last", envvar="PENSTOCK_STREAM_READ_TO", help="Last step [default: the newest]."
)
@option("--tier", help="Level of this tier, at most the user's own.")
@format_option
@click.pass_obj
def read(
    operator: Operator,
    name: str,
    user: str,
    first: int | None,
    last: int | None,
    tier: str | None,
) -> None:
    """Read the running totals of the stream NAME for a user.

    The totals are released to the user: they are in the log and in the user's exposure.  Exits
    with 3 if the user's clearance is too low.
    """
    from penstock.services.access.principals import acting_as
    from penstock.services.streams import stream_totals

    analyst = acting_as(operator.server, user, by=operator.principal)
    totals = stream_totals.read(operator.server, analyst, name, first=first, last=last, tier=tier)
    operator.print(_totals(totals))


def _tiers(view: "StreamView") -> list[tuple[object, ...]]:
    return [(*tier_cells(tier), tier.first) for tier in view.tiers]


def _shown(view: "StreamView") -> Document:
    """Return the stream's facts, and one row for each tier."""
    tree = ", ".join(f"{name} {value}" for name, value in view.structure.items())
    end = f"{view.length:,} elements" if view.length is not None else "elements without end"
    following = "full" if view.next is None else f"next element {view.next}"
    facts = [
        f"{view.name} over {view.dataset}, {view.status}, opened {moment(view.opened_at)}",
        f"  {printable(view.sentence)}",
        *wording_lines(view),
        f"  {end}, {following}; {tree}",
        (
            f"  {view.mechanism} noise in steps of {view.granularity:g}; a unit is in at most"
            f" {view.max_steps_per_unit} elements, asserted by {view.asserted_by}"
        ),
    ]
    columns = (Column("tier"), *LEVEL, *ERROR, Column("from", right=True))
    return Document(view, columns, _tiers(view), facts)


def _totals(totals: "RunningTotalsView") -> Document:
    """Return totals, with one row for each step; tables round to the error's digits."""
    digits = decimals(min(item.error.standard_deviation for item in totals.items))

    def rounded(cell: float) -> str:
        return fixed(cell, digits)

    width = totals.items[0].values.size
    names = ["total"] if width == 1 else [f"total_{number}" for number in range(1, width + 1)]
    columns = (
        Column("t", right=True),
        *(Column(name, rounded, right=True) for name in names),
        Column("standard_deviation", None),
        Column("half_width", rounded, right=True, heading="margin of error"),
    )
    rows = [
        (item.t, *item.values.tolist(), item.error.standard_deviation, item.error.half_width)
        for item in totals.items
    ]
    facts = [
        f"{totals.stream} over {totals.dataset}, at tier {totals.tier}",
        (
            f"  {totals.mechanism} noise, {totals.level.parameter} {short(totals.level.value, 6)},"
            f" sensitivity asserted by {totals.asserted_by}"
        ),
        (
            f"  epsilon {short(totals.guarantee.epsilon)}, delta {totals.guarantee.delta:g}"
            f" ({totals.guarantee.definition}), for the whole stream"
        ),
    ]
    return Document(totals, columns, rows, facts)
