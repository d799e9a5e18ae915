"""Return the plan that stands for all plans of one statistic, for its hash.

It answers the same on every file (``simplest``).  Nothing is run of it: what is run is spelled as
it was sent.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from penstock.connectors.formulas import simplest
from penstock.connectors.formulas.arithmetic import DerivedColumn
from penstock.connectors.formulas.formula import Column
from penstock.connectors.formulas.simplest import Known
from penstock.connectors.planning.plan import Grouping, Plan, Summand

_MOST_ROUNDS: Final = 8
"""Each round is another plan of the same statistic; nearly always the second finds no other."""


def simplest_plan(plan: Plan) -> Plan:
    """Return the plan of the same statistic with the fewest words that are known."""
    for _ in range(_MOST_ROUNDS):
        if not plan.filters and all(type(each) is Column for each in plan.columns):
            return plan
        simpler = _simpler(plan)
        if _parts(simpler) == _parts(plan):
            return plan
        plan = simpler
    return plan


def _parts(plan: Plan) -> tuple[object, ...]:
    return plan.filters, plan.groupings, plan.summand, plan.factors, plan.bins


def _simpler(plan: Plan) -> Plan:
    known = Known(
        frozenset(_present(plan)),
        {
            each.column: each.categories
            for each in plan.groupings
            if each.categories and not isinstance(each.column, DerivedColumn)
        },
    )
    return replace(
        plan,
        filters=simplest.conjunction(plan.filters, known),
        groupings=tuple(_grouping(each, known) for each in plan.groupings),
        summand=None if plan.summand is None else _summand(plan.summand, known),
        factors=tuple(_summand(each, known) for each in plan.factors),
        bins=None if plan.bins is None else _bins(plan.bins, known),
    )


def _present(plan: Plan) -> Iterator[Column]:
    """Yield the columns whose missing cells leave their row out of the statistic."""
    columns = [each.column for each in plan.groupings]
    columns += [each.column for each in plan.factors]
    columns += [] if plan.bins is None else [plan.bins.column]
    columns += [] if plan.unit is None else [plan.unit]
    if plan.summand is not None and not plan.summand.categories:
        columns.append(plan.summand.column)
    for each in columns:
        yield from simplest.needed_by(each)


def _grouping(each: Grouping, known: Known) -> Grouping:
    """Return the same keys of a column, in the same order."""
    if each.categories:
        return replace(each, column=simplest.listed_column(each.column, known))
    column, (first, *_, last) = simplest.column(each.column, known), each.edges
    cut = simplest.cut_of(column)
    # A cell that is cut must not come into a bin by that.
    if cut is not None and cut.lowest < first and cut.highest > last:
        column = cut.column
    return replace(each, column=column)


def _bins(each: Grouping, known: Known) -> Grouping:
    """Return bins into which cells beyond them are brought anyway."""
    column = simplest.column(each.column, known)
    cut = simplest.cut_of(column)
    if cut is not None and cut.lowest <= each.edges[0] and cut.highest >= each.edges[-1]:
        column = cut.column
    return replace(each, column=column)


def _summand(each: Summand, known: Known) -> Summand:
    """Return the same summand of a column, whose cells are brought between bounds anyway."""
    if each.categories:
        return replace(each, column=simplest.listed_column(each.column, known))
    column = simplest.column(each.column, known)
    cut = simplest.cut_of(column)
    lowest, highest = each.lowest * each.step, each.highest * each.step
    if cut is not None and cut.lowest <= lowest and cut.highest >= highest:
        column = cut.column
    return replace(each, column=column)
