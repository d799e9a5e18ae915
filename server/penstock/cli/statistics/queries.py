"""Run ``penstock query``: register, preview and retire statistics, and set their levels."""

from typing import TYPE_CHECKING

import click

from penstock import examples
from penstock.cli.drafts import query_example, whole
from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document, plainly
from penstock.cli.people.proposals import do_or_propose
from penstock.cli.specs import checked, content_of
from penstock.cli.statistics.sql_options import in_options, query_content, sql_options
from penstock.cli.wordings import texts_in, wording_lines
from penstock.figures import moment, percent, printable, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.services.schemas.previews import (
        ChargeView,
        CountStructureView,
        PreviewTierView,
        PreviewView,
        RoomView,
        StrategyView,
    )
    from penstock.services.schemas.stream_previews import StreamPreviewTierView
    from penstock.services.schemas.streams import StreamTierView
    from penstock.services.schemas.views import (
        ErrorView,
        LevelView,
        QueryView,
        SensitivityView,
        TierLevelView,
    )

LEVEL = (
    Column("parameter"),
    Column("level", lambda cell: short(cell, 6), right=True),
    Column("epsilon", right=True),
    Column("delta", right=True),
)
ERROR = (
    Column("standard_deviation", None),
    Column("half_width", right=True, heading="margin of error"),
    Column("confidence", percent, right=True),
)

_SHARES = ("charged_share", "remaining_share", "largest_share")
CHARGE = (
    *(Column("order", None), Column("loss", None), Column("failure", None)),
    *(Column(name, percent, right=True) for name in _SHARES),
    Column("fits"),
)


@click.group()
def query() -> None:
    """Register, preview, show and retire queries over a dataset."""


@query.command("list")
@option("--dataset", help="List only queries of this dataset.")
@format_option
@click.pass_obj
def listing(operator: Operator, dataset: str | None) -> None:
    """List the queries, with the level and error of each tier."""
    from penstock.services.queries import queries

    views = everything(
        lambda window: queries.listing(operator.server, operator.principal, window, dataset)
    )
    columns = (
        *(Column("query"), Column("dataset"), Column("mechanism")),
        *(Column("values", lambda cell: f"{cell:,}", right=True), Column("status")),
        *(Column("tier"), *LEVEL, *ERROR),
    )
    rows = [
        (view.name, view.dataset, view.mechanism, view.dimension, view.status, *tier)
        for view in views
        for tier in map(tier_cells, view.tiers)
    ]
    note = "" if views else "There are no queries yet."
    operator.print(Document(views, columns, rows, note=note))


@query.command()
@click.argument("name")
@format_option
@click.pass_obj
def show(operator: Operator, name: str) -> None:
    """Show one query: sensitivity, SQL, and the level of each tier."""
    from penstock.services.queries import queries

    operator.print(shown(queries.show(operator.server, operator.principal, name)))


query.add_command(query_example)


@query.command(
    epilog=whole("A complete FILE, for the dataset of `penstock dataset example`:", examples.QUERY)
)
@click.argument("file", required=False)
@sql_options
@format_option
@click.pass_obj
def register(operator: Operator, /, file: str | None, **terms: object) -> None:
    """Register the query in FILE, or the one that --sql says.

    FILE is JSON or TOML; - is standard input.  With --sql it holds the terms alone, or is left out.
    Every tier is charged, then the data are read once.  Exits with 3 if a budget does not allow it.
    """
    from penstock.services.jobs import registrations
    from penstock.services.schemas.queries import QueryRequest

    with in_options(terms):
        request = checked(QueryRequest, query_content(operator, file, terms))
        operator.progress("Charging every tier, then reading the data once")
        operator.print(shown(registrations.query(operator.server, operator.principal, request)))


@query.command()
@click.argument("file", required=False)
@sql_options
@format_option
@click.pass_obj
def preview(operator: Operator, /, file: str | None, **terms: object) -> None:
    """Show what registering the query in FILE, or the one that --sql says, would charge.

    FILE is what 'register' takes, as JSON or TOML, or {"query": NAME} of a registered query;
    - is standard input.  The values of a pushed vector with keys may be left out.  The data are
    not read, and nothing is changed.
    """
    from penstock.services.previews import query_preview as previews
    from penstock.services.schemas.queries import PreviewRequest

    with in_options(terms):
        request = checked(PreviewRequest, query_content(operator, file, terms))
        operator.print(previewed(previews.preview(operator.server, operator.principal, request)))


@query.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def levels(operator: Operator, name: str, file: str) -> None:
    """Change levels of the query NAME as FILE says.

    FILE contains {"levels": {TIER: {...}}}, as JSON or TOML; - is standard input.  Other tiers keep
    theirs.  A level more accurate than the query's ceiling needs the exact values again (as
    "values" if they were pushed), and so does any new level if levels are independent draws.  Exits
    with 3 if a budget does not allow it.
    """
    from penstock.services.queries import queries
    from penstock.services.schemas.queries import LevelsChange

    content = content_of(file, operator.settings.query_body_limit)
    change = checked(LevelsChange, content)
    operator.print(shown(queries.change(operator.server, operator.principal, name, change)))


@query.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def describe(operator: Operator, name: str, file: str) -> None:
    """Change title, description, unit, tags, labels and owners of the query NAME as FILE says.

    FILE contains {"title": "...", "unit": "days", "labels": {CODE: "..."}}, as JSON or TOML; - is
    standard input.  Texts that are left out stay.  They are for readers alone: no budget, level or
    spec changes.
    """
    from penstock.services import rewording

    texts = texts_in(operator, file)
    operator.print(shown(rewording.of_query(operator.server, operator.principal, name, texts)))


@query.command()
@click.argument("name")
@format_option
@click.pass_obj
def retire(operator: Operator, name: str) -> None:
    """Stop further releases of a query.  What it cost stays spent."""
    from penstock.services.approvals.actions import QueryRetirement

    retired = do_or_propose(operator, QueryRetirement(query=name))
    if retired is not None:
        operator.print(shown(retired))


def level_cells(level: "LevelView", epsilon: float, delta: float) -> tuple[object, ...]:
    """Return the cells of ``LEVEL``."""
    return level.parameter, level.value, epsilon, delta


def error_cells(error: "ErrorView") -> tuple[object, ...]:
    """Return the cells of ``ERROR``."""
    return error.standard_deviation, error.half_width, error.confidence


def tier_cells(
    tier_level: "TierLevelView | PreviewTierView | StreamTierView | StreamPreviewTierView",
) -> tuple[object, ...]:
    """Return a tier, and the cells of ``LEVEL`` and ``ERROR``."""
    level = level_cells(tier_level.level, tier_level.guarantee.epsilon, tier_level.guarantee.delta)
    return tier_level.tier, *level, *error_cells(tier_level.error)


def shown(view: "QueryView") -> Document:
    """Return the query's facts, and one row for each tier."""
    facts = [
        (
            f"{view.name} over {view.dataset}, {view.status},"
            f" registered {moment(view.registered_at)}"
        ),
        f"  {printable(view.sentence)}",
        *wording_lines(view),
        _noise(view),
        sensitivity(view.sensitivity)
        + (f", asserted by {view.asserted_by}" if view.asserted_by else ", derived"),
    ]
    facts.extend(_statement_lines(view))
    if view.sql_sha256 is not None:
        facts.append(f"  SQL that is run {view.sql_sha256}")
    facts.extend(f"  read {state}" for state in view.read_states)
    columns = (Column("tier"), *LEVEL, *ERROR, _added_up(lossless=view.lossless))
    rows = [(*tier_cells(tier), _composed(tier)) for tier in view.tiers]
    return Document(view, columns, rows, facts)


def _added_up(*, lossless: bool) -> Column:
    """Return the column of composed epsilons, shown only if a query's levels add up."""
    return Column("composed_epsilon", None if lossless else plainly, right=True)


def _composed(tier_level: "TierLevelView | PreviewTierView") -> float | None:
    return None if tier_level.composed is None else tier_level.composed.epsilon


def _noise(view: "QueryView | PreviewView") -> str:
    return (
        f"  {view.dimension:,} value{'s' if view.dimension > 1 else ''},"
        f" {view.mechanism} noise in steps of {view.granularity:g}"
        + (
            ""
            if view.lossless
            else f", p = {view.p:g}: levels are independent draws, and their losses add up"
        )
    )


def _statement_lines(view: "QueryView | PreviewView") -> list[str]:
    """Return the lines of the query in SQL; none if SQL cannot say it."""
    return [f"    {line}" for line in (view.spec_sql or "").splitlines()]


def sensitivity(view: "SensitivityView") -> str:
    """Return a line with the sensitivity in each norm."""
    return f"  sensitivity L1 {view.l1:g}, L2 {view.l2:.6g}, Linf {view.linf:g}"


def previewed(view: "PreviewView") -> Document:
    """Return a preview of a query: what would be charged, with one row for each tier."""
    state = "registered already, at the charges shown" if view.registered else "not registered"
    facts = [
        f"{view.query} over {view.dataset}, version {view.dataset_version}, {state}",
        _noise(view),
        sensitivity(view.sensitivity),
        *_statement_lines(view),
        *(f"  {note}" for note in view.notes),
        *map(_structure_line, view.structures or ()),
        *_strategy_lines(view.strategies or ()),
        *_rank_lines(view),
        *_expected_lines(view),
    ]
    rows = [
        (
            *tier_cells(tier),
            *charge_cells(tier.charge, tier.room),
            *(_composed(tier), tier.expected_maximum, tier.at_delta and tier.at_delta.epsilon),
        )
        for tier in view.tiers
    ]
    columns = (
        *(Column("tier"), *LEVEL, *ERROR, *CHARGE, _added_up(lossless=view.lossless)),
        Column("expected_maximum", plainly if view.powers else None, right=True),
        Column("epsilon_at_delta", plainly if _at_delta(view) else None, right=True),
    )
    if view.powers is not None:
        facts.append(f"  {view.powers.reason}")
    return Document(view, columns, rows, facts, note=view.refusal or "")


def _at_delta(view: "PreviewView") -> bool:
    """Return True if a tier's pure loss has a smaller reading at delta."""
    return any(tier.at_delta for tier in view.tiers)


def _rank_lines(view: "PreviewView") -> list[str]:
    """Return a line on the ranks of quantiles of each tier, with their margins in rows."""
    lines = []
    for tier in view.tiers:
        if tier.ranks:
            margins = ", ".join(
                f"{rank.probability:g} ±{short(rank.error.half_width)}" for rank in tier.ranks
            )
            confidence = percent(tier.ranks[0].error.confidence)
            lines.append(f"  ranks of quantiles at {tier.tier}: {margins} rows at {confidence}")
    return lines


def _expected_lines(view: "PreviewView") -> "Iterator[str]":
    """Yield lines on how noisy estimates of moments are at each tier, and on their weights."""
    for tier in view.tiers:
        if tier.expected is not None:
            weights = ", ".join(f"{each.name} {each.weight}" for each in tier.expected.weights)
            listed = ", ".join(
                f"{each.name} {short(each.standard_deviation)}"
                for each in tier.expected.estimates
                if each.standard_deviation is not None
            )
            of = f"{tier.expected.rows:,} evenly spread rows of a group"
            yield f"  standard deviations at {tier.tier}, from {of}: {listed}"
            yield f"    with weights, by which noise is divided: {weights}"


def _structure_line(count_structure: "CountStructureView") -> str:
    """Return a line on one way to protect counts, with each tier's margin of error."""
    if count_structure.structure is None:
        name = "counts separately"
    elif count_structure.known_size:
        name = "together, with a known size"
    elif count_structure.trade_off is None:
        name = "together, without the size"
    else:
        name = f"together with the size, trade-off {short(count_structure.trade_off)}"
    widths = ", ".join(
        f"±{short(tier.error.half_width)} at {tier.tier}"
        + (f" (size ±{short(tier.size_error.half_width)})" if tier.size_error else "")
        for tier in count_structure.tiers
    )
    return f"  {name}: {widths}" + (" (as requested)" if count_structure.asked else "")


def _strategy_lines(strategies: "Sequence[StrategyView]") -> "Iterator[str]":
    """Yield a line on each strategy for a workload, with each tier's errors, and what they are."""
    if strategies:
        yield "  strategies: margin of error of the worst answer (standard deviation in the mean)"
    for view in strategies:
        errors = ", ".join(
            f"±{short(tier.largest.half_width)} ({short(tier.mean_deviation)}) at {tier.tier}"
            for tier in view.tiers
        )
        name = "that of the query" if view.strategy is None else view.strategy
        yield f"    {name}: {errors}" + (" (as requested)" if view.requested else "")


def charge_cells(charge: "ChargeView", room: "RoomView | None") -> tuple[object, ...]:
    """Return the cells of ``CHARGE``."""
    cells = (charge.order, charge.loss, charge.failure, charge.share)
    if room is None:
        return *cells, None, None, None
    return *cells, room.remaining_share, room.largest_share, room.fits
