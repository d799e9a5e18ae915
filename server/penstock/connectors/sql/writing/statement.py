"""Write a spec as a statement of SQL that is read as the same statistic.

Limits of contribution and noise are no part of it: a statement says what is estimated.
"""

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from penstock.connectors.formulas.sizes import names_of, size_of
from penstock.connectors.planning.columns import grouping
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec, Histogram
from penstock.connectors.specs.moments import MarginalTables, Moments
from penstock.connectors.sql.limits import LONGEST, MOST_TOKENS
from penstock.connectors.sql.writing.cells import CellWriter, text_of
from penstock.connectors.sql.writing.conditions import condition
from penstock.connectors.sql.writing.derivations import is_named_like_bins, writer_of
from penstock.connectors.sql.writing.marginals import keys_of, sets_of
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
        clause = _clause(query, writer)
        conditions = _conditions(query, writer)
    except (InvalidInput, KeyError):
        return None
    if selected is None or clause is None or conditions is None:
        return None
    name = text_of(sql.name(dataset.name, quoted=True))
    lines = [f"SELECT {', '.join([*groups, *selected])}", f"FROM {name}"]
    if conditions:
        lines.append("WHERE " + "\n  AND ".join(conditions))
    if clause:
        lines.append(f"GROUP BY {clause}")
    text = "\n".join(lines)
    return text if len(text.encode()) <= LONGEST and _words(text) <= MOST_TOKENS else None


def _words(text: str) -> int:
    """Return the number of tokens of a statement, or a larger one: each has a character."""
    return len(text) if len(text) <= MOST_TOKENS else len(DuckDB().tokenize(text))


def _clause(query: ComputedQuery, writer: CellWriter) -> str | None:
    """Return what stands in ``GROUP BY``: nothing without groups; None of what no clause says."""
    if isinstance(query.aggregate, MarginalTables):
        return sets_of(query.aggregate, writer.dataset)
    return ", ".join(str(place + 1) for place in range(len(_groups_of(query))))


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


def _conditions(query: ComputedQuery, writer: CellWriter) -> list[str] | None:
    """Return the conditions of a query, and those that make all aggregates be over its rows.

    None if a statement with them would be read without one of the query's own.
    """
    own = query.aggregate
    needed = own.columns if isinstance(own, Moments) and len(own.columns) > 1 else ()
    keys = keys_of(query, writer.dataset)
    if keys is None:
        return None
    conditions = [condition(entry, writer) for entry in (*query.where, *keys)]
    conditions += [
        sql.negated(sql.is_null(writer.column(name)))
        for name in needed
        if writer.may_be_missing(name)
    ]
    return list(dict.fromkeys(map(text_of, conditions)))


def _groups_of(query: ComputedQuery) -> list[GroupBy]:
    own = query.aggregate
    if isinstance(own, MarginalTables):
        return list(own.columns)
    if isinstance(own, Histogram):
        return [*query.group_by, GroupBy(column=own.column, bins=own.bins)]
    return list(query.group_by)


def _grouped(group: GroupBy, writer: CellWriter) -> str:
    """Return a column, or the ``CASE`` that names the bin of each cell; derived ones by name."""
    cells = writer.column(group.column) if group.bins is None else _cases(group, writer)
    if group.column not in writer.derived:
        return text_of(cells)
    return f"{text_of(cells)} AS {text_of(sql.name(group.column, quoted=True))}"


def _cases(group: GroupBy, writer: CellWriter) -> Node:
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
    return sql.case(*cases)


def _edge(edge: float) -> Node:
    return sql.number(int(edge) if edge == int(edge) else repr(edge))
