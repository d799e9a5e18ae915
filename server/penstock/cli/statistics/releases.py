"""Run ``penstock release``: release a query's values to one user."""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator
from penstock.cli.options import Positive, format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.specs import built
from penstock.figures import decimals, fixed, moment, percent, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.services.schemas.views import EstimateView, ReleaseView


@click.command()
@click.argument("query")
@option(
    "--as",
    "user",
    envvar="PENSTOCK_RELEASE_AS",
    metavar="USER",
    required=True,
    help="Analyst who gets the release.",
)
@option("--tier", help="Level of this tier, at most the user's own.")
@option("--epsilon", type=Positive(), help="Level with this epsilon.")
@option("--rho", type=Positive(), help="Level with this rho.")
@option("--level", type=Positive(), help="Level in the mechanism's parameter.")
@option(
    "--probability",
    type=float,
    multiple=True,
    help="Probability of a quantile to show; may be repeated.",
)
@option(
    "--report",
    metavar="FORMS",
    help="Forms of marginals beside raw values, with commas between: nonnegative, whole,"
    " total_preserving.",
)
@format_option
@click.pass_obj
def release(
    operator: Operator,
    query: str,
    user: str,
    tier: str | None,
    epsilon: float | None,
    rho: float | None,
    level: float | None,
    probability: "Sequence[float]",
    report: str | None,
) -> None:
    """Release QUERY to a user.

    It is released at the user's clearance, or at a more private level.  Give at most one of --tier,
    --epsilon, --rho and --level.  The release is the user's: it is in the log and in their
    exposure.  Exits with 3 if their clearance is too low.  Any --probability is
    that of a quantile that is read from the release, and --report shows marginals in other forms,
    which costs nothing.
    """
    if sum(target is not None for target in (tier, epsilon, rho, level)) > 1:
        raise click.UsageError("Give at most one of --tier, --epsilon, --rho and --level.")

    from penstock.connectors.binned.quantiles import probabilities_in
    from penstock.services.access.principals import acting_as
    from penstock.services.noise.estimates.marginals import forms_of, with_report
    from penstock.services.noise.estimates.reading import EstimateChoice, reread
    from penstock.services.releases import releases
    from penstock.services.schemas.queries import ReleaseRequest

    request = built(ReleaseRequest, tier=tier, epsilon=epsilon, rho=rho, level=level)
    analyst = acting_as(operator.server, user, by=operator.principal)
    shares = probabilities_in(",".join(map(repr, probability)))
    forms = forms_of(report)
    view = releases.request(operator.server, analyst, query, request).view
    if forms and view.marginals is None:
        click.echo(f"{view.query!r} has no marginals; --report changes nothing.", err=True)
    shown = reread(view, EstimateChoice(probabilities=shares))
    operator.print(document(with_report(shown, forms)))


def document(view: "ReleaseView") -> Document:
    """Return a release, with one row for each value; tables round to the error's digits."""
    import numpy as np

    if view.estimates is not None:
        return _estimated(view, view.estimates)
    lower, upper, counts = _intervals(view)
    narrowest = min((high - low for low, high in zip(lower, upper, strict=True)), default=0.0)
    digits = decimals(view.error.standard_deviation if counts is None else narrowest / 4)

    def rounded(cell: float) -> str:
        return fixed(cell, digits)

    parts = max((len(key) if isinstance(key, list) else 1 for key in view.keys), default=1)
    names = ["key"] if parts == 1 else [f"key_{index + 1}" for index in range(parts)]
    columns = [
        *(Column(name) for name in names),
        *(Column(name, rounded, right=True) for name in ("value", "lower", "upper")),
    ]
    values = np.asarray(view.values)
    rows = [
        (*_parts(key, parts), value, low, high)
        for key, value, low, high in zip(view.keys, values.tolist(), lower, upper, strict=True)
    ]
    if counts is not None:
        columns.append(Column("rows", lambda cell: fixed(cell, 0), right=True))
        rows = [(*row, count) for row, count in zip(rows, counts, strict=True)]
    if view.report is not None:
        columns.append(Column("reported", rounded, right=True))
        rows = [(*row, cell) for row, cell in zip(rows, _reported(view), strict=True)]
    return Document(view, columns, rows, _facts(view))


def _reported(view: "ReleaseView") -> list[float | None]:
    """Return the cells of all marginals in the forms of the report, in the order of the values."""
    return [cell.reported for each in view.marginals or () for cell in each.cells]


def _estimated(view: "ReleaseView", estimates: "Sequence[EstimateView]") -> Document:
    """Return a release with one row for each estimate; a blank stands for too much noise."""
    columns = [
        *([] if estimates[0].key is None else [Column("key", _group)]),
        Column("statistic"),
        *(Column(name, _figure, right=True) for name in ("value", "lower", "upper")),
    ]
    rows = [
        (
            *(() if each.key is None else (each.key,)),
            each.name,
            *(each.value, each.lower, each.upper),
        )
        for each in estimates
    ]
    return Document(view, columns, rows, _facts(view))


def _group(key: "str | list[str]") -> str:
    return key if isinstance(key, str) else ", ".join(key)


def _figure(number: float | None) -> str:
    return "" if number is None else short(number, 5)


def _intervals(view: "ReleaseView") -> tuple[list[float], list[float], list[float] | None]:
    """Return both ends of each value's interval, and for means the noisy counts."""
    import numpy as np

    if view.mean is not None:
        mean = view.mean
        return mean.lower.tolist(), mean.upper.tolist(), mean.counts.tolist()
    half = view.error.half_width if view.errors is None else view.errors.half_widths
    values = np.asarray(view.values)
    return (values - half).tolist(), (values + half).tolist(), None


def _facts(view: "ReleaseView") -> list[str]:
    guarantee, error = view.guarantee, view.error
    pure = guarantee.pure_epsilon if guarantee.delta else None
    others = [
        f", {name} {short(value)}"
        for name, value in (("rho", guarantee.rho), ("mu", guarantee.mu), ("pure epsilon", pure))
        if value is not None
    ]
    asserted = f", sensitivity asserted by {view.asserted_by}" if view.asserted_by else ""
    place = "" if view.receipt.index is None else f", leaf {view.receipt.index} of the log"
    return [
        f"{view.query} over {view.dataset}, at tier {view.tier}",
        f"  {view.mechanism} noise, {view.level.parameter} {short(view.level.value, 6)}" + asserted,
        (
            f"  epsilon {short(guarantee.epsilon)}, delta {guarantee.delta:g}"
            f" ({guarantee.definition}{''.join(others)})"
        ),
        (
            f"  ±{short(error.half_width)} at {percent(error.confidence)},"
            f" standard deviation {short(error.standard_deviation)}"
            + (", of each number that the estimates are made from" if view.estimates else "")
            + (" or less; that of each mean depends on its rows" if view.mean else "")
        ),
        *_thresholds(view),
        *_report(view),
        f"  release {view.id} of {moment(view.released_at)}{place}",
    ]


def _thresholds(view: "ReleaseView") -> list[str]:
    """Return a line on the threshold of a sparse histogram, if it is one."""
    if view.histogram is None:
        return []
    threshold, false_keys = view.histogram.threshold, view.histogram.false_keys
    return [
        (
            f"  keys with a noisy count above {short(threshold, 6)}; among them at most"
            f" {short(false_keys)} keys of count 0 are expected"
        )
    ]


def _report(view: "ReleaseView") -> list[str]:
    """Return a line on the forms of a report, if there is one."""
    if view.report is None:
        return []
    return [
        (
            f"  reported: {', '.join(view.report.forms)}; {view.report.lossless} lossless: it"
            " reveals nothing beyond the values, from which it was computed, and they cannot be"
            " computed from it"
        )
    ]


def _parts(key: object, parts: int) -> tuple[object, ...]:
    """Return a key as ``parts`` cells."""
    cells = tuple(key) if isinstance(key, list) else (key,)
    return (*cells, *(None,) * (parts - len(cells)))
