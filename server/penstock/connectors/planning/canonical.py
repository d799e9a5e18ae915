"""Hash a statistic, so that the same statistic is not registered and drawn twice.

The canonical form holds the dataset's name, version and, if it was corrected, the number of its
declaration, the mechanism and the plan; it does not hold the query's name, its share, its levels,
or how many false keys a tier expects. The order of fields and of conditions, the spelling of
numbers, a histogram written as a count over bins, and the names of derived columns, which their
expressions stand for, make no difference.  Of the simplest plan
(``formulas.simplest_plan``) it is the same for other conditions that hold for the same rows, too.
Pushed vectors have none: a hash over values would reveal small counts to anyone who tries them all.
"""

import hashlib
import json

from penstock.connectors.planning.plan import Plan, Summand, pairs
from penstock.connectors.specs.cells import spelling
from penstock.structures.counts import Centered, Lift
from penstock.structures.ellipse import Ellipse
from penstock.structures.factorization.kronecker import Workload
from penstock.structures.factorization.rows import Given
from penstock.structures.sparse_histogram.domain import Domain, Strings, Uint64

FORM = "penstock-query-1"


def canonical_form(
    plan: Plan, dataset: str, version: int, mechanism: str, declaration: int | None = None
) -> str:
    """Return the statistic in one spelling: JSON with sorted fields and no spaces."""
    form: dict[str, object] = {
        "form": FORM,
        "dataset": dataset,
        "version": version,
        "mechanism": mechanism,
        "measure": plan.measure.value,
        "summand": _summand(plan.summand),
        "filters": [each.spelled for each in plan.filters],
        "groupings": [
            [each.column.spelled, [spelling(edge) for edge in each.edges]]
            for each in plan.groupings
        ],
        "max_groups": plan.max_groups,
        "max_rows": plan.max_rows,
    }
    if declaration is not None:
        # Cells are read differently, which the names of columns do not show.
        form["declaration"] = declaration
    if plan.open_keys is not None:
        form["open_keys"] = [plan.open_keys.column.spelled, *_domain(plan.open_keys.domain)]
    if plan.flags:
        form["columns"] = sorted(flag.spelled for flag in plan.flags)
    if plan.factors:
        # The same numbers in another order are the same statistic.
        form["factors"] = sorted(
            [each.column.spelled, str(each.step), each.lowest, each.highest]
            for each in plan.factors
        )
        if plan.order != 2:
            form["order"] = plan.order
        if plan.weights:
            form["weights"] = _weights(plan)
    if plan.bins is not None:
        form["bins"] = [plan.bins.column.spelled, *(spelling(edge) for edge in plan.bins.edges)]
    if plan.marginals is not None:
        # Columns in another order have the same marginals.
        names = [each.column.spelled for each in plan.groupings]
        form["groupings"] = sorted(
            [each.column.spelled, [spelling(edge) for edge in each.edges]]
            for each in plan.groupings
        )
        form["sets"] = sorted(
            sorted(names[place] for place in larger) for larger in plan.marginals.sets
        )
    if plan.workload is not None:
        form["groupings"] = _protected(plan, plan.workload)
    if plan.nodes is not None:
        form["nodes"] = _nodes(plan.nodes)
    return json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_hash(
    plan: Plan, dataset: str, version: int, mechanism: str, declaration: int | None = None
) -> str:
    """Return the SHA-256 of the canonical form, in hexadecimal digits."""
    form = canonical_form(plan, dataset, version, mechanism, declaration)
    return hashlib.sha256(form.encode()).hexdigest()


def _domain(domain: Domain) -> list[object]:
    """Return a domain in one spelling; the order of an alphabet does not change the set of keys."""
    if isinstance(domain, Strings):
        return ["string", "".join(sorted(domain.alphabet)), domain.length]
    return ["uint64", domain.size] if isinstance(domain, Uint64) else ["sha256_64"]


def _weights(plan: Plan) -> list[list[object]]:
    """Return the weight of each number with the columns that it is a product of."""
    names = [each.column.spelled for each in plan.factors]
    weights: list[list[object]] = []
    for pair, weight in zip(pairs(len(names), plan.order), plan.weights, strict=True):
        weights.append([sorted((names[place - 1] for place in pair if place), key=str), weight])
    return sorted(weights, key=str)


def _nodes(nodes: Lift | Centered | Ellipse) -> list[object]:
    """Return the nodes that are protected; a size that is assumed to be known is not among them."""
    return ["lift", nodes.weight] if isinstance(nodes, Lift) else [type(nodes).__name__.lower()]


def _protected(plan: Plan, workload: Workload) -> list[list[object]]:
    """Return the columns with the rows that are protected: what is asked is read from these."""
    protected: list[list[object]] = []
    for each, factor in zip(plan.groupings, workload.factors, strict=True):
        rows = factor.strategy
        numbers = [list(row) for row in rows.rows] if isinstance(rows, Given) else rows.name
        edges = [spelling(edge) for edge in each.edges]
        protected.append([each.column.spelled, edges, numbers])
    # Columns in another order have the same nodes.
    return sorted(protected, key=lambda part: (str(part[0]), json.dumps(part)))


def _summand(summand: Summand | None) -> list[object] | None:
    if summand is None:
        return None
    parts: list[object] = [
        summand.column.spelled,
        str(summand.step),
        summand.lowest,
        summand.highest,
    ]
    if summand.categories:
        # The categories are those of the declaration, so a name suffices for this other statistic.
        parts.append("uncategorized")
    return parts
