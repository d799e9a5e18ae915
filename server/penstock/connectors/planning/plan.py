"""Represent one statistic in one normal form, with nothing left to look up.

A histogram is a count that is also grouped by its bins, ``=`` is membership in a set of one, limits
that cannot bind are brought down to those that can.  Queries that differ only in spelling have
equal plans.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from penstock.connectors.formulas.formula import Column, Formula
from penstock.connectors.planning.domain import ALL, Domain, Key, MarginalKeys, WorkloadKeys
from penstock.connectors.planning.moments.products import Products, Sums
from penstock.connectors.planning.sensitivity import (
    Contributed,
    Contribution,
    Measure,
    NodeCounts,
    Norms,
    Record,
    derived,
)
from penstock.connectors.specs.cells import Cell, label
from penstock.connectors.specs.moments import Order
from penstock.privacy.neighboring import NeighboringRelation
from penstock.structures import sparse_histogram
from penstock.structures.bin_tree import BinTree
from penstock.structures.counts import Centered, Lift
from penstock.structures.ellipse import Ellipse
from penstock.structures.factorization.kronecker import Workload
from penstock.structures.marginals.lattice import Marginals

LARGEST_TOTAL = 2**62
"""The largest absolute answer in lattice steps."""

LARGEST_STEPS = 2**52
"""The largest absolute value of one row in lattice steps: doubles are exact up to there."""


@dataclass(frozen=True)
class Grouping:
    """Hold the keys of one grouping: the categories of a column, or bins between edges."""

    column: Column
    categories: tuple[Cell, ...] = ()
    edges: tuple[float, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return one label for each key; bins are closed below, the last one above too."""
        if self.categories:
            return tuple(label(category) for category in self.categories)
        marks = [label(edge) for edge in self.edges]
        closing = [")"] * (len(marks) - 2) + ["]"]
        return tuple(
            f"[{low}, {high}{end}"
            for low, high, end in zip(marks[:-1], marks[1:], closing, strict=True)
        )

    def __len__(self) -> int:
        return len(self.categories) or len(self.edges) - 1


@dataclass(frozen=True)
class Summand:
    """Represent the column that is added up, in steps between ``lowest`` and ``highest``.

    A mean adds up what lies above ``lowest``.  With ``categories`` it is 1 for a row whose cell
    is none of these, an empty cell included, and 0 for any other.
    """

    column: Column
    step: Fraction
    lowest: int
    highest: int
    categories: tuple[Cell, ...] = ()


def pairs(factors: int, order: Order = 2) -> list[tuple[int, int]]:
    """Return the places ``i <= j`` of the factors of each number of moments; 0 is the constant.

    The count is the first, then come the sums, in the order of the columns, and the products,
    which those of order 1 do not have.
    """
    ends = range(1, factors + 1) if order == 2 else ()
    products = ((i, j) for i in ends for j in range(i, factors + 1))
    return [*((0, j) for j in range(factors + 1)), *products]


def labels_of(names: Sequence[str], order: Order = 2) -> tuple[str, ...]:
    """Return the key of each number of moments: ``n``, ``sum:x``, ``sum:x,y``."""
    return tuple(
        "sum:" + ",".join(names[place - 1] for place in pair if place) if pair[1] else "n"
        for pair in pairs(len(names), order)
    )


def labels_of_nodes(bins: Grouping) -> tuple[str, ...]:
    """Return the key of each node over bins: its ends, and how wide the nodes of its level are."""
    marks, last = [label(edge) for edge in bins.edges], len(bins)

    def span(width: int, first: int, end: int) -> str:
        of = "" if width == 1 else f" ({width} bins)"
        return f"[{marks[first]}, {marks[end]}{']' if end == last else ')'}{of}"

    return tuple(span(*node) for node in BinTree(last).spans)


@dataclass(frozen=True)
class OpenKeys:
    """Represent keys that no list holds: cells of ``column`` that are in ``domain``."""

    column: Column
    domain: sparse_histogram.Domain


@dataclass(frozen=True)
class Plan:
    """Represent one statistic.  ``unit`` is None if every row is a privacy unit of its own.

    Sparse histograms have ``open_keys`` in place of groupings.  ``flags`` are boolean columns
    that are counted each by itself; ``nodes`` take the place of counts that are protected
    together (see ``correlated_counts``).  Quantiles have ``bins`` of a column beside the groupings;
    a value beyond them is in the nearest one.  Moments have ``factors``, with ``order`` 1 no
    products of two of them, and ``weights`` of their numbers unless these are equal.  ``marginals``
    are of the groupings' columns, and so is ``workload``.
    """

    unit: Column | None
    filters: tuple[Formula, ...]
    groupings: tuple[Grouping, ...]
    measure: Measure
    summand: Summand | None
    max_groups: int
    max_rows: int
    max_units: int
    open_keys: OpenKeys | None = None
    flags: tuple[Column, ...] = ()
    nodes: Lift | Centered | Ellipse | None = None
    factors: tuple[Summand, ...] = ()
    order: Order = 2
    weights: tuple[int, ...] = ()
    bins: Grouping | None = None
    marginals: Marginals | None = None
    workload: Workload | None = None

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that are read besides the unit's and that of open keys, once each."""
        used = [column for each in self.filters for column in each.columns]
        used += [each.column for each in self.groupings]
        used += [self.summand.column] if self.summand else []
        used += self.flags
        used += [factor.column for factor in self.factors]
        used += [self.bins.column] if self.bins else []
        return tuple(dict.fromkeys(used))

    @cached_property
    def sources(self) -> tuple[Column, ...]:
        """Return the columns of the data that ``columns`` are read from, once each."""
        return tuple(dict.fromkeys(source for each in self.columns for source in each.sources))

    @property
    def keys(self) -> int:
        """Return the number of keys, ``K``."""
        if self.open_keys is not None:
            return self.open_keys.domain.size
        return math.prod(len(grouping) for grouping in self.groupings)

    @property
    def cells(self) -> int:
        """Return how many rows a statement returns at most: one for each key, and bin of it."""
        return self.keys * (len(self.bins) if self.bins else 1)

    @property
    def tree(self) -> BinTree | None:
        """Return the tree over the bins, whose nodes are released; None without bins."""
        return BinTree(len(self.bins)) if self.bins else None

    @property
    def dimension(self) -> int:
        """Return how many numbers the answer has: one for each key, for a mean two.

        The centered sums of all keys come first, then all weighted counts.  Of flags there
        is one for each key and flag, those of one key together, and so of moments and of nodes.
        Of marginals there is one for each cell of the tables that are protected, of a workload one
        for each node.
        """
        if self.nodes is not None:
            return self.nodes.size
        if self.marginals is not None:
            return self.marginals.dimension
        if self.workload is not None:
            return self.workload.dimension
        if self.products is not None:
            return self.keys * self.products.count
        if self.tree is not None:
            return self.keys * self.tree.size
        if self.measure is Measure.MEAN:
            return 2 * self.keys
        return self.keys * max(len(self.flags), 1)

    @property
    def domain(self) -> Sequence[Key]:
        """Return the keys of the answer, with ``ALL`` for a size that is released besides."""
        labels = tuple(grouping.labels for grouping in self.groupings)
        sized = isinstance(self.nodes, Lift)
        if self.marginals is not None:
            names = tuple(grouping.column.name for grouping in self.groupings)
            return MarginalKeys(names, labels, self.marginals.sets)
        if self.workload is not None:
            names = tuple(grouping.column.name for grouping in self.groupings)
            return WorkloadKeys(names, labels, self.workload)
        if self.factors:
            return Domain(
                (*labels, labels_of([each.column.name for each in self.factors], self.order))
            )
        if self.bins:
            return Domain((*labels, labels_of_nodes(self.bins)))
        if self.flags:
            names = tuple(flag.name for flag in self.flags)
            return Domain((*labels, (*names, ALL) if sized else names))
        if sized:
            return [*Domain(labels), ALL if len(labels) == 1 else [ALL] * len(labels)]
        return Domain(labels)

    @property
    def step(self) -> Fraction:
        """Return the value of one lattice step; a mean counts in half steps."""
        if self.nodes is not None:
            return self.nodes.step
        if self.factors:
            return Fraction(1, self.grid**self.order)
        if self.summand is None:
            return Fraction(1)
        return self.summand.step / 2 if self.measure is Measure.MEAN else self.summand.step

    @property
    def mean_bounds(self) -> tuple[Fraction, Fraction] | None:
        """Return the bounds of a mean, rounded to steps; None for anything else.

        Sums are centered half way between them, and half their distance weighs the counts.
        """
        if self.summand is None or self.measure is not Measure.MEAN:
            return None
        return self.summand.lowest * self.summand.step, self.summand.highest * self.summand.step

    @property
    def grid(self) -> int:
        """Return the number of steps between the bounds of each of ``factors``."""
        return self.factors[0].highest - self.factors[0].lowest

    @property
    def products(self) -> Products | Sums | None:
        """Return what one unit contributes to the moments of one group; None for anything else."""
        if not self.factors:
            return None
        if self.order == 1:
            return Sums(len(self.factors), self.max_rows, self.grid, self.weights)
        scaled = self.unit is not None
        return Products(len(self.factors), self.max_rows, self.grid, scaled, self.weights)

    @property
    def node_counts(self) -> NodeCounts | None:
        """Return what one unit contributes to the nodes of one group; None without bins."""
        return None if self.tree is None else NodeCounts(self.tree.levels, self.max_rows)

    @property
    def contribution(self) -> Contribution:
        """Return what one unit contributes to one group, in lattice steps, to anything else."""
        if self.summand is None:
            return Contribution(self.measure, self.max_rows)
        return Contribution(self.measure, self.max_rows, self.summand.lowest, self.summand.highest)

    def moved(self, relation: NeighboringRelation) -> Norms:
        """Return the sensitivity of the answer to one privacy unit, in lattice steps."""
        if self.marginals is not None:
            return Norms(*self.marginals.moved(relation, self.max_groups, self.max_rows))
        if self.workload is not None:
            return Norms(*self.workload.moved(relation, self.max_groups, self.max_rows))
        contribution: Contributed = self.products or self.node_counts or self.contribution
        if isinstance(self.nodes, Ellipse):
            # It is planned under add_remove alone; groups that overlap are in one ellipse.
            l1, square, largest = self.nodes.change(self.max_rows)
            reached = self.max_groups if self.flags else 1
            return Norms(reached * l1, reached * square, largest)
        if self.flags:
            contribution = Record(len(self.flags), self.max_rows, self.nodes)
        elif self.nodes is not None:
            # Groups overlap, and the size counts units: a unit is present or not, with nothing in
            # between.
            return Norms(*self.nodes.change(self.max_rows, self.max_rows))
        return derived(relation, contribution, self.max_groups, self.keys)

    @property
    def saturation(self) -> int:
        """Return the total at which sums saturate, in their own steps, without their weights."""
        return self.max_units * self.most_of_a_unit

    @property
    def most_of_a_unit(self) -> int:
        """Return the largest absolute value of what one unit gives to one number."""
        if self.marginals is not None:
            return self.max_groups * self.max_rows * self.marginals.widest
        if self.workload is not None:
            return self.moved(NeighboringRelation.ADD_REMOVE).linf
        return (self.products or self.node_counts or self.contribution).largest

    @property
    def largest(self) -> int:
        """Return the largest absolute answer in lattice steps."""
        widest = max(self.weights, default=1) if self.nodes is None else self.nodes.widest
        return self.saturation * widest
