"""Choose the nodes that replace counts protected together, and the sums they are made of.

Two kinds of counts have less noise when they are protected together (``structures.counts``):

* over columns: a row says true or false in each.  ``f_i`` is the number of rows or units where
  column ``i`` is true, and ``n`` the number of all, in each group separately.
* over groups that overlap: one unit may be in several.  ``f_i`` are the counts of the groups, and
  ``n`` is the most that all units in any group could contribute to one.

``n`` is left out if this is requested, and by default for groups if a unit is in at most half of
them: then the counts have the least noise (``structures.ellipse``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.planning.domain import ALL
from penstock.connectors.planning.plan import Plan
from penstock.connectors.planning.refusals import pointer
from penstock.connectors.planning.sensitivity import Measure
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.models import CountUnits
from penstock.errors import InvalidInput
from penstock.privacy.neighboring import NeighboringRelation
from penstock.structures.counts import Centered, Lift, best_weight, weight_of
from penstock.structures.ellipse import Ellipse

Nodes = Lift | Centered | Ellipse

LARGEST_NODE = 2**52
"""The most steps that stay exact, noise included."""


@dataclass(frozen=True)
class SizeTerms:
    """Hold what is requested of the size beside the counts, as in a ``CorrelatedQuery``."""

    trade_off: float | None = None
    known_size: int | None = None
    release_size: bool | None = None


def with_nodes(plan: Plan, terms: SizeTerms, relation: NeighboringRelation) -> Plan:
    """Return the plan of counts that are protected together.  Raises ``InvalidInput``."""
    _require_counts(plan)
    if plan.flags:
        if terms.known_size is not None and plan.keys > 1:
            raise InvalidInput(
                f"The sizes of {plan.keys} groups are not one number; leave known_size out.",
                pointer=pointer("known_size"),
            )
        _require_gain(plan, terms, relation)
    else:
        _require_overlap(plan, relation)
    columns, groups = (len(plan.flags), plan.keys) if plan.flags else (plan.keys, 1)
    replacing = relation is NeighboringRelation.REPLACE
    settled = replace(plan, nodes=_nodes(plan, terms, columns, groups, replacing=replacing))
    _require_unique_all(settled)
    if settled.largest > LARGEST_NODE:
        raise InvalidInput(
            f"{plan.max_units} privacy units of up to {plan.max_rows} rows in a group leave the"
            " range of exact integers of counts that are protected together. Declare a smaller"
            " max_units on the dataset, or fewer rows.",
            pointer=pointer("structure"),
        )
    return settled


def terms_of(query: CorrelatedQuery) -> SizeTerms:
    """Return what a query requests of the size."""
    return SizeTerms(query.trade_off, query.known_size, query.release_size)


def nodes_of(query: CorrelatedQuery, dimension: int) -> Nodes:
    """Return the nodes of a registered query with this many values.

    ``trade_off`` is given if a size is released.  The plan's other parts are not used.
    """
    flags = len(getattr(query.aggregate, "columns", None) or ())
    sized, terms = query.trade_off is not None, terms_of(query)
    if flags:
        groups = dimension // (flags + sized)
        return _settled(terms, flags, groups, flags, 1, replacing=False)
    keys = dimension - 1 if sized else dimension
    most = min(query.contribution.max_groups or keys, keys)
    units = isinstance(query.aggregate, CountUnits)
    rows = 1 if units else query.contribution.max_rows_per_group or 1
    return _settled(terms, keys, 1, most, rows, replacing=False)


def _nodes(plan: Plan, terms: SizeTerms, columns: int, groups: int, *, replacing: bool) -> Nodes:
    non_zero = columns if plan.flags else plan.max_groups
    per_unit = 1 if plan.flags else plan.max_rows
    return _settled(terms, columns, groups, non_zero, per_unit, replacing=replacing)


def _settled(
    terms: SizeTerms,
    columns: int,
    groups: int,
    non_zero: int,
    per_unit: int,
    *,
    replacing: bool,
) -> Nodes:
    if terms.known_size is not None:
        return Centered(columns, Fraction(terms.known_size * per_unit))
    if terms.trade_off is not None:
        return Lift(columns, groups, weight_of(terms.trade_off), per_unit)
    sized = 2 * non_zero > columns if terms.release_size is None else terms.release_size
    if sized:
        return Lift(columns, groups, best_weight(columns, replacing=replacing), per_unit)
    return Ellipse(columns, non_zero, groups)


def answer_of(plan: Plan, columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the answer in lattice steps, from the columns of the statement's rows."""
    nodes = plan.nodes
    if nodes is None:
        if plan.tree is not None:
            sums = plan.tree.nodes(columns[0].reshape(plan.keys, -1)).ravel()
            return np.minimum(sums, np.int64(plan.saturation))
        if len(columns) == 1:
            return columns[0]  # it may be long, and is not copied
        if not plan.flags and not plan.factors:
            return np.concatenate(columns)
        together = np.stack(columns, axis=1)
        return (together * np.array(plan.weights) if plan.weights else together).ravel()
    if isinstance(nodes, Ellipse):
        return nodes.nodes(np.stack(columns, axis=1) if plan.flags else columns[0])
    if plan.flags:
        counts = columns[: len(plan.flags)]
        differences = np.stack(counts, axis=1)
        sizes = columns[-1]
    else:
        differences = columns[0][None, :]
        sizes = columns[-1][:1] * np.int64(plan.max_rows)
    return nodes.nodes(differences, sizes) if isinstance(nodes, Lift) else differences.ravel()


def _require_counts(plan: Plan) -> None:
    if plan.measure not in (Measure.COUNT, Measure.COUNT_UNITS):
        raise InvalidInput(
            f"Only counts are protected together, not {plan.measure}; leave structure out.",
            pointer=pointer("structure"),
        )


def _require_gain(plan: Plan, terms: SizeTerms, relation: NeighboringRelation) -> None:
    """Raise ``InvalidInput`` where the size of columns cannot be left out, or gains nothing."""
    if terms.release_size is not False or terms.known_size is not None:
        return
    if len(plan.flags) == 1:
        raise InvalidInput(
            "One column has no less noise without the size than by itself. Leave structure out.",
            pointer=pointer("structure"),
        )
    if relation is NeighboringRelation.REPLACE:
        raise InvalidInput(
            "Under replace, columns are protected together only with their size; leave"
            " release_size out.",
            pointer=pointer("release_size"),
        )


def _require_overlap(plan: Plan, relation: NeighboringRelation) -> None:
    """Raise ``InvalidInput`` if separate groups have as little noise."""
    if plan.max_groups == 1:
        raise InvalidInput(
            "One privacy unit is in one group, and all counts move by one at most: protecting"
            " them together gains nothing. Leave structure out, or count columns in each"
            " group.",
            pointer=pointer("structure"),
        )
    if relation is NeighboringRelation.REPLACE:
        raise InvalidInput(
            "Under replace, protecting groups of which one unit is in several together gains"
            " nothing; leave structure out.",
            pointer=pointer("structure"),
        )


def _require_unique_all(plan: Plan) -> None:
    """Raise ``InvalidInput`` if the size would have the key of a count."""
    if not isinstance(plan.nodes, Lift):
        return
    labels = [grouping.labels for grouping in plan.groupings]
    taken = (
        [flag.name for flag in plan.flags].count(ALL)
        if plan.flags
        else all(ALL in each for each in labels)
    )
    if taken:
        raise InvalidInput(
            f"A column or group has the name {ALL!r}, which the size that is also released has;"
            " rename it, or give known_size.",
            pointer=pointer("structure"),
        )
