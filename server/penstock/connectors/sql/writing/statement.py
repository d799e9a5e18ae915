"""Write a spec as a statement of SQL that is read as the same statistic.

Limits of contribution and noise are no part of it: a statement says what is estimated.
"""

from sqlglot import exp

from penstock.connectors.formulas.sizes import names_of, size_of
from penstock.connectors.planning.columns import grouping
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec, Histogram
from penstock.connectors.specs.moments import Moments
from penstock.connectors.sql.limits import LONGEST
from penstock.connectors.sql.writing.cells import CellWriter, text_of
from penstock.connectors.sql.writing.conditions import condition
from penstock.connectors.sql.writing.derivations import is_named_like_bins, writer_of
from penstock.connectors.sql.writing.statistics import aggregates
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.expressions import Node
from penstock.errors import InvalidInput
from penstock.spec_fields import GroupBy


def written(query: ComputedQuery, dataset: DatasetSpec) -> str | None:
    """Return a query of a dataset in SQL; None of one that SQL cannot say, or not briefly.

    The query is one that ``interpret`` accepts.
    """
    if isinstance(query, CorrelatedQuery | HistogramQuery):
        return None
    if any(is_named_like_bins(each) for each in query.derived.values()):
        return None
    if _least_length(query) > LONGEST:
        return None
    try:
        writer = writer_of(query, dataset)
        selected = aggregates(query, writer)
        groups = [_grouped(each, writer) for each in _groups_of(query)]
    except (InvalidInput, KeyError):
        return None
    if selected is None:
        return None
    conditions = _conditions(query, writer)
    name = text_of(sql.name(dataset.name, quoted=True))
    lines = [f"SELECT {', '.join([*groups, *selected])}", f"FROM {name}"]
    if conditions:
        lines.append("WHERE " + "\n  AND ".join(conditions))
    if groups:
        lines.append(f"GROUP BY {', '.join(str(place + 1) for place in range(len(groups)))}")
    text = "\n".join(lines)
    return text if len(text.encode()) <= LONGEST else None


def _least_length(query: ComputedQuery) -> int:
    """Return a number of characters that the statement has at least: one for each part.

    A statement has a derived column wherever it names it, and twice for each of its bins.
    """
    sizes = {name: size_of(each) for name, each in query.derived.items()}
    grouped = sum(
        sizes.get(each.column, 0) * (1 if each.bins is None else 2 * len(each.bins) - 2)
        for each in _groups_of(query)
    )
    return grouped + sum(sizes.get(name, 0) for name in names_of(query.where))


def _conditions(query: ComputedQuery, writer: CellWriter) -> list[str]:
    """Return the conditions of a query, and those that make all aggregates be over its rows."""
    own = query.aggregate
    needed = own.columns if isinstance(own, Moments) and len(own.columns) > 1 else ()
    conditions = [condition(entry, writer) for entry in query.where]
    conditions += [
        sql.negated(sql.is_null(writer.column(name)))
        for name in needed
        if writer.may_be_missing(name)
    ]
    return list(dict.fromkeys(map(text_of, conditions)))


def _groups_of(query: ComputedQuery) -> list[GroupBy]:
    own = query.aggregate
    if isinstance(own, Histogram):
        return [*query.group_by, GroupBy(column=own.column, bins=own.bins)]
    return list(query.group_by)


def _grouped(group: GroupBy, writer: CellWriter) -> str:
    """Return a column, or the ``CASE`` that names the bin of each cell."""
    if group.bins is None:
        column = text_of(writer.column(group.column))
        name = text_of(sql.name(group.column, quoted=True))
        return f"{column} AS {name}" if group.column in writer.derived else column
    bins = grouping(writer.dataset, group.column, group.bins)
    cases, last = [], len(bins) - 1
    for place, label in enumerate(bins.labels):
        low, high = (
            kind(this=writer.column(group.column), expression=_edge(edge))
            for kind, edge in (
                (exp.GTE, bins.edges[place]),
                (exp.LTE if place == last else exp.LT, bins.edges[place + 1]),
            )
        )
        cases.append((sql.all_of([low, high]), sql.text(label)))
    return text_of(sql.case(*cases))


def _edge(edge: float) -> Node:
    return sql.number(int(edge) if edge == int(edge) else repr(edge))
