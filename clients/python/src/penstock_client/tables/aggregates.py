"""Represent statistics of groups, and combine those of a question into one joint release.

Several statistics become one vector with one charge: the count and the sums of columns, with
their products for variances, or the counts in bins from which quantiles are read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock_client.errors import InvalidArgument
from penstock_client.tables.expressions import Aggregate, Expression, col
from penstock_client.tables.names import Names

SUMS = ("count", "sum", "mean")
PRODUCTS = ("variance", "standard_deviation", "covariance", "correlation")
QUANTILES = ("median", "quantile", "minimum", "maximum")


@dataclass(frozen=True)
class Output:
    """Hold a statistic of a question: its name in the result, and its name in a release.

    The latter is such as ``n``, ``mean:age`` or ``quantile:0.5``.
    """

    name: str
    statistic: str


def count() -> Aggregate:
    """Return the number of rows."""
    return Aggregate("count")


def count_units() -> Aggregate:
    """Return the number of privacy units: of people, if rows are theirs."""
    return Aggregate("count_units")


def covariance(first: Expression | str, second: Expression | str) -> Aggregate:
    """Return the covariance of two columns."""
    return Aggregate("covariance", (_column(first), _column(second)))


def correlation(first: Expression | str, second: Expression | str) -> Aggregate:
    """Return the correlation of two columns."""
    return Aggregate("correlation", (_column(first), _column(second)))


def combined(
    aggregates: Mapping[str, Aggregate], names: Names
) -> tuple[dict[str, object], tuple[Output, ...]]:
    """Return the ``aggregate`` of a spec, and which of its statistics have which names.

    Raises ``InvalidArgument`` for statistics that do not go together.
    """
    columns = {
        alias: [names.name_of(part) for part in aggregate.parts]
        for alias, aggregate in aggregates.items()
    }
    outputs = tuple(
        Output(alias, _statistic(aggregate, columns[alias]))
        for alias, aggregate in aggregates.items()
    )
    kinds = {aggregate.kind for aggregate in aggregates.values()}
    used = list(dict.fromkeys(name for own in columns.values() for name in own))
    if len({output.statistic for output in outputs}) == 1 and kinds <= {*SUMS, "count_units"}:
        (kind,) = kinds
        return {"type": kind, **({"column": used[0]} if used else {})}, outputs
    if kinds <= {*SUMS, *PRODUCTS}:
        order = {} if kinds & {*PRODUCTS} else {"order": 1}
        return {"type": "moments", "columns": used, **order}, outputs
    if kinds <= {*QUANTILES, "count"} and len(used) == 1:
        quantiles = [each for each in aggregates.values() if each.kind != "count"]
        probabilities = {each.probability or 0.5 for each in quantiles}
        return (
            {"type": "quantiles", "column": used[0], "probabilities": sorted(probabilities)},
            outputs,
        )
    raise InvalidArgument(_apart(kinds, used))


def _column(value: Expression | str) -> Expression:
    return col(value) if isinstance(value, str) else value


def _statistic(aggregate: Aggregate, columns: Sequence[str]) -> str:
    """Return the name that a statistic has in releases."""
    match aggregate.kind:
        case "count":
            return "n"
        case "count_units":
            return "units"
        case "quantile":
            return f"quantile:{aggregate.probability!r}"
        case "median" | "minimum" | "maximum" as name:
            return name
        case kind:
            return f"{kind}:{','.join(columns)}"


def _apart(kinds: set[str], columns: Sequence[str]) -> str:
    """Return why statistics cannot be released together, and what to do."""
    if kinds <= {*QUANTILES, "count"}:
        return (
            f"Quantiles are of one column at a time, not of {', '.join(columns)}; ask for each"
            " column by itself."
        )
    alone = sorted(kinds - {*SUMS, *PRODUCTS}) or sorted(kinds)
    return (
        f"{', '.join(alone).replace('_', ' ')} cannot be released together with"
        f" {', '.join(sorted(kinds - {*alone})).replace('_', ' ') or 'others'}: ask for them by"
        " themselves. Counts of rows, sums, means and variances go together, and so do counts of"
        " rows and quantiles of one column."
    )
