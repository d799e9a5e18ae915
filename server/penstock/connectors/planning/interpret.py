"""Read a computed query against its dataset: look up names, fill in defaults."""

import math
from collections.abc import Sequence
from fractions import Fraction

from penstock.connectors.binned.edges import edges_of, planned
from penstock.connectors.binned.quantiles import MOST_NODES, Quantiles
from penstock.connectors.formulas.derived_columns import with_derived
from penstock.connectors.formulas.formula import Column
from penstock.connectors.formulas.normal_form import formulas_of, without_needless
from penstock.connectors.formulas.sizes import require_few_uses
from penstock.connectors.planning.columns import (
    bound,
    column_of,
    declared,
    grouping,
    marginals_of,
    numeric,
    workload_of,
)
from penstock.connectors.planning.correlated_counts import terms_of, with_nodes
from penstock.connectors.planning.moments.grid import factors_of
from penstock.connectors.planning.moments.weights import weights_of
from penstock.connectors.planning.open_keys import only_column, open_keys
from penstock.connectors.planning.plan import (
    LARGEST_STEPS,
    LARGEST_TOTAL,
    Grouping,
    OpenKeys,
    Plan,
    Summand,
    pairs,
)
from penstock.connectors.planning.refusals import Refusals, pointer, refusal
from penstock.connectors.planning.sensitivity import Measure, rounded
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import (
    MOST_KEYS,
    MOST_LONG_KEYS,
    ComputedQuery,
    Count,
    CountUnits,
    DatasetSpec,
    Histogram,
    Mean,
    Sum,
    Uncategorized,
    UnitColumn,
)
from penstock.connectors.specs.moments import (
    MOST_NUMBERS,
    MarginalTables,
    Moments,
    Regression,
    Workload,
    order_of,
)
from penstock.connectors.specs.schema import STEPS, check_schema, step_of
from penstock.errors import InvalidInput
from penstock.structures.bin_tree import BinTree


def interpret(dataset: DatasetSpec, request: ComputedQuery) -> Plan:
    """Read a query against its dataset, without data.

    Raises ``InvalidInput`` with the pointer of each place that is not valid.
    """
    check_schema(dataset)
    if dataset.source.engine == "vector":
        raise InvalidInput(
            f"The dataset {dataset.name} holds pushed vectors only; send keys and values, or"
            " name a dataset that the server reads.",
            pointer=pointer("dataset"),
        )
    dataset = with_derived(dataset, request.derived)
    require_few_uses(request.derived, request.where)
    refusals = Refusals()
    with refusals:
        opened = _open_keys(dataset, request)
    with refusals:
        groupings = () if isinstance(request, HistogramQuery) else _groupings(dataset, request)
    with refusals:
        filters = formulas_of(dataset, request.where, "where")
    with refusals:
        summand = _summand(dataset, request)
    with refusals:
        flags = _flags(dataset, request)
    with refusals:
        max_rows = _rows(dataset, request)
    with refusals:
        factors = _factors(dataset, request)
    with refusals:
        bins = _bins(dataset, request)
    refusals.raise_all()
    marginals = marginals_of(request.aggregate, groupings)
    workload = workload_of(request.aggregate, groupings)
    keys = math.prod(map(len, groupings)) if opened is None else opened.domain.size
    order = order_of(request.aggregate)
    _check_dimension(keys, flags, len(pairs(len(factors), order)) if factors else 0, bins)
    unit = dataset.privacy_unit
    plan = Plan(
        unit=column_of(dataset, unit.column) if isinstance(unit, UnitColumn) else None,
        filters=without_needless(filters, _present(groupings, summand, factors, bins)),
        groupings=groupings,
        measure=_measure(request),
        summand=summand,
        max_groups=_groups(dataset, request, keys),
        max_rows=max_rows,
        max_units=dataset.max_units,
        open_keys=opened,
        flags=flags,
        factors=factors,
        order=order,
        weights=_weights(request),
        bins=bins,
        marginals=marginals,
        workload=workload,
    )
    _check_range(plan)
    if isinstance(request, CorrelatedQuery):
        return with_nodes(plan, terms_of(request), dataset.neighboring)
    return plan


def _present(
    groupings: Sequence[Grouping],
    summand: Summand | None,
    factors: Sequence[Summand],
    bins: Grouping | None,
) -> set[Column]:
    """Return the columns whose missing cells leave their row out."""
    present = {each.column for each in groupings} | {each.column for each in factors}
    # What is outside of all categories is counted, missing cells included.
    present |= {each.column for each in (summand,) if each is not None and not each.categories}
    return present if bins is None else present | {bins.column}


def _groupings(dataset: DatasetSpec, request: ComputedQuery) -> tuple[Grouping, ...]:
    refusals = Refusals()
    groupings: list[Grouping] = []
    own = request.aggregate
    several = own.columns if isinstance(own, MarginalTables | Workload) else None
    if several is not None and request.group_by:
        raise InvalidInput(
            f"A query for {own.type} has its groups in columns; name the column there.",
            pointer=pointer("group_by"),
        )
    place = ("group_by",) if several is None else ("aggregate", "columns")
    for position, group in enumerate(request.group_by if several is None else several):
        with refusals:
            at = (*place, position)
            groupings.append(grouping(dataset, group.column, group.bins, *at))
    if isinstance(request.aggregate, Histogram):
        with refusals:
            bins = request.aggregate.bins
            groupings.append(grouping(dataset, request.aggregate.column, bins, "aggregate"))
    refusals.raise_all()
    if several is not None:
        return tuple(groupings)
    keys = math.prod(map(len, groupings))
    of_pairs = isinstance(request.aggregate, Mean | Uncategorized)
    if of_pairs:
        most = MOST_KEYS // 2
    else:
        most = MOST_KEYS if isinstance(request, CorrelatedQuery) else MOST_LONG_KEYS
    if keys > most:
        raise InvalidInput(
            f"The groups have {keys} keys; a {request.aggregate.type} has at most {most}. Group by"
            " fewer columns, or by coarser bins.",
            pointer=pointer("group_by"),
        )
    return tuple(groupings)


def _measure(request: ComputedQuery) -> Measure:
    if isinstance(request.aggregate, Histogram):
        return Measure.COUNT
    if isinstance(request.aggregate, Uncategorized):
        return Measure.MEAN
    if isinstance(request.aggregate, Moments | Regression):
        return Measure.MOMENTS
    if isinstance(request.aggregate, Quantiles):
        return Measure.QUANTILES
    return Measure(request.aggregate.type)


def _open_keys(dataset: DatasetSpec, request: ComputedQuery) -> OpenKeys | None:
    if not isinstance(request, HistogramQuery):
        return None
    name = only_column(request)
    if name in request.derived:
        raise InvalidInput(
            "The keys of a sparse histogram are those of a declared column; group by one, or leave"
            " structure out.",
            pointer=pointer("group_by", 0, "column"),
        )
    declared(dataset, name, "group_by", 0, "column")
    return open_keys(dataset, request, column_of(dataset, name))


def _flags(dataset: DatasetSpec, request: ComputedQuery) -> tuple[Column, ...]:
    if not isinstance(request.aggregate, Count | CountUnits) or request.aggregate.columns is None:
        return ()
    names = request.aggregate.columns
    if isinstance(request, HistogramQuery):
        raise InvalidInput(
            "A sparse histogram counts rows or units; leave columns out.",
            pointer=pointer("aggregate", "columns"),
        )
    wrong = (
        f"Columns that are counted are declared as boolean by {dataset.name}, which this one is"
        " not."
    )
    places = [
        (pointer("aggregate", "columns", position), wrong)
        for position, name in enumerate(names)
        if name not in dataset.columns or dataset.columns[name].type != "boolean"
    ]
    if places:
        raise refusal(places)
    return tuple(column_of(dataset, name) for name in names)


def _check_dimension(
    keys: int, flags: tuple[Column, ...], numbers: int, bins: Grouping | None
) -> None:
    if bins is not None and keys * BinTree(len(bins)).size > MOST_NODES:
        raise InvalidInput(
            f"The groups have {keys} keys, with {BinTree(len(bins)).size} counts each for"
            f" {len(bins)} bins; a query has at most {MOST_NODES} of them. Take fewer bins, or"
            " group by fewer columns.",
            pointer=pointer("aggregate", "bins"),
        )
    if keys * numbers > MOST_NUMBERS:
        raise InvalidInput(
            f"The groups have {keys} keys, with {numbers} sums and products each; a query has at"
            f" most {MOST_NUMBERS} of them. Group by fewer columns, or name fewer.",
            pointer=pointer("group_by"),
        )
    if flags and keys * (len(flags) + 1) > MOST_KEYS:
        raise InvalidInput(
            f"The groups have {keys} keys, with {len(flags)} columns each; a count has at most"
            f" {MOST_KEYS} values. Group by fewer columns, or by coarser bins.",
            pointer=pointer("group_by"),
        )


def _groups(dataset: DatasetSpec, request: ComputedQuery, keys: int) -> int:
    if not isinstance(dataset.privacy_unit, UnitColumn):
        return 1
    groups = request.contribution.max_groups or (1 if keys == 1 else None)
    if groups is None:
        raise InvalidInput(
            f"Say in how many of the {keys} groups one privacy unit may count, for example 1.",
            pointer=pointer("contribution", "max_groups"),
        )
    return min(groups, keys)


def _rows(dataset: DatasetSpec, request: ComputedQuery) -> int:
    if not isinstance(dataset.privacy_unit, UnitColumn) or request.aggregate.type == "count_units":
        return 1
    rows = request.contribution.max_rows_per_group
    if rows is None:
        raise InvalidInput(
            "Say how many rows of one privacy unit may count in one group, for example 1.",
            pointer=pointer("contribution", "max_rows_per_group"),
        )
    return rows


def _summand(dataset: DatasetSpec, request: ComputedQuery) -> Summand | None:
    if isinstance(request.aggregate, Uncategorized):
        return _outside(dataset, request.aggregate.column)
    if not isinstance(request.aggregate, Sum | Mean):
        return None
    aggregate = request.aggregate
    spec = numeric(dataset, aggregate.column, "aggregate", "column")
    refusals = Refusals()
    with refusals:
        lower = bound(spec, aggregate.type, "lower", aggregate.lower, "aggregate", "lower")
    with refusals:
        upper = bound(spec, aggregate.type, "upper", aggregate.upper, "aggregate", "upper")
    refusals.raise_all()
    if lower > upper:
        raise InvalidInput(
            f"The bounds are reversed: lower is {lower:g}, upper {upper:g}.",
            pointer=pointer("aggregate", "upper"),
        )
    coarse = aggregate.step if aggregate.step is not None else spec.step
    if coarse is None and spec.type == "number":
        raise InvalidInput(
            "Say to which step the numbers are rounded before they are added: 1, 0.25, 10 ...",
            pointer=pointer("aggregate", "step"),
        )
    step = step_of(1 if coarse is None else coarse)
    if step is None:
        raise InvalidInput(
            STEPS,
            pointer=pointer("aggregate", "step"),
        )
    lowest, highest = rounded(Fraction(lower), step), rounded(Fraction(upper), step)
    if max(abs(lowest), abs(highest)) > LARGEST_STEPS:
        raise InvalidInput(
            f"The bounds are {max(abs(lowest), abs(highest))} steps away from 0; at most 2^52"
            " stay exact. Declare narrower bounds or a coarser step.",
            pointer=pointer("aggregate", "step"),
        )
    return Summand(column_of(dataset, aggregate.column), step, lowest, highest)


def _factors(dataset: DatasetSpec, request: ComputedQuery) -> tuple[Summand, ...]:
    if not isinstance(request.aggregate, Moments | Regression):
        return ()
    # Without a number of rows there is a refusal already.
    rows = request.contribution.max_rows_per_group or 1
    of_units = isinstance(dataset.privacy_unit, UnitColumn)
    return factors_of(dataset, request.aggregate, rows if of_units else 1)


def _weights(request: ComputedQuery) -> tuple[int, ...]:
    aggregate = request.aggregate
    return weights_of(aggregate) if isinstance(aggregate, Moments | Regression) else ()


def _bins(dataset: DatasetSpec, request: ComputedQuery) -> Grouping | None:
    if not isinstance(request.aggregate, Quantiles):
        return None
    settled = planned(dataset, request.aggregate)
    return Grouping(column_of(dataset, settled.column), edges=edges_of(settled))


def _outside(dataset: DatasetSpec, name: str) -> Summand:
    """Return the summand that is 1 for each row that no category takes; its mean is a share."""
    spec = declared(dataset, name, "aggregate", "column")
    if spec.type != "boolean" and spec.categories is None:
        raise InvalidInput(
            f"{name} has no categories that could take its rows; name a column with categories.",
            pointer=pointer("aggregate", "column"),
        )
    categories = grouping(dataset, name, None, "aggregate").categories
    return Summand(column_of(dataset, name), Fraction(1), 0, 1, categories)


def _check_range(plan: Plan) -> None:
    if plan.most_of_a_unit == 0:
        where, always = (
            ("to the same number of steps", "the mean is known")
            if plan.measure is Measure.MEAN
            else ("to 0 steps", "the sum is always 0")
        )
        raise InvalidInput(
            f"Both bounds round {where}, so that {always}. Widen the bounds, or take a finer step.",
            pointer=pointer("aggregate"),
        )
    if plan.saturation * max(plan.weights, default=1) > LARGEST_TOTAL:
        raise InvalidInput(
            f"{plan.max_units} privacy units of up to {plan.most_of_a_unit} steps each"
            " leave the range of exact integers (2^62 steps). Declare a smaller max_units on"
            " the dataset, narrower bounds, a coarser step or fewer rows.",
            pointer=pointer("aggregate"),
        )
