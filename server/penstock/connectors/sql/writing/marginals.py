"""Write marginals as ``GROUPING SETS``, over the rows that are among the keys of all columns."""

from penstock.connectors.formulas.conditions import Condition
from penstock.connectors.formulas.normal_form import formulas_of
from penstock.connectors.planning.columns import grouping, marginals_of
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.specs.moments import MarginalTables
from penstock.connectors.sql.marginals import within_keys


def sets_of(aggregate: MarginalTables, dataset: DatasetSpec) -> str | None:
    """Return the sets by the numbers of their columns; None if a column is in no set.

    The columns are selected first, in their order.  ``dataset`` has the derived columns, too.
    """
    keys = [grouping(dataset, each.column, each.bins) for each in aggregate.columns]
    marginals = marginals_of(aggregate, keys)
    if marginals is None or set().union(*marginals.sets) != set(range(len(keys))):
        return None
    numbered = (", ".join(str(place + 1) for place in each) for each in marginals.sets)
    return f"GROUPING SETS ({', '.join(f'({each})' for each in numbered)})"


def keys_of(query: ComputedQuery, dataset: DatasetSpec) -> list[Condition] | None:
    """Return the conditions that all cells are among the keys; none of any other statistic.

    None if the query has one of them as its own: it would be read without it.
    """
    own = query.aggregate
    if not isinstance(own, MarginalTables):
        return []
    conditions = [
        Condition.model_validate(entry)
        for each in own.columns
        for entry in within_keys(each.model_dump(), dataset.columns[each.column])
    ]
    known = set(formulas_of(dataset, query.where, "where"))
    for each in conditions:
        if each.op != "is_not_null" and not known.isdisjoint(formulas_of(dataset, [each], "where")):
            return None
    return conditions
