"""Read the covariance of a release's values, and compute that of their combinations.

The server states it for values whose noise is not independent: counts that are protected together,
marginals, and the answers of workloads.  A combination is given by the weights of places among the
values.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from penstock_client._http.fields import Fields
from penstock_client._values.marginals import Marginal

Weights = Mapping[int, float]
Cell = tuple[tuple[str, ...], tuple[str, ...]]
"""The columns and the key of a cell of a marginal."""


class Covariance(Protocol):
    """Represent the covariance of the values of one release."""

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two combinations of values."""
        ...


@dataclass(frozen=True)
class GroupedCounts:
    """Hold the covariance of counts of groups, the last value of each perhaps the group's size."""

    values_per_group: int
    variance: float
    covariance: float
    size_variance: float | None
    size_covariance: float | None

    @classmethod
    def read(cls, fields: Fields) -> "GroupedCounts":
        return cls(
            fields.integer("values_per_group"),
            fields.positive("variance"),
            fields.number("covariance"),
            fields.number_or_none("size_variance"),
            fields.number_or_none("size_covariance"),
        )

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance: groups are independent of each other."""
        ours, theirs = self._sums(first), self._sums(second)
        parts = [
            (self.variance - self.covariance) * weight * second[place]
            for place, weight in first.items()
            if place in second and not self._is_size(place)
        ]
        for group in ours.keys() & theirs.keys():
            counts, size = ours[group]
            counts_too, size_too = theirs[group]
            parts.append(self.covariance * counts * counts_too)
            parts.append((self.size_variance or 0.0) * size * size_too)
            common = counts * size_too + size * counts_too
            parts.append((self.size_covariance or 0.0) * common)
        return math.fsum(parts)

    def _is_size(self, place: int) -> bool:
        last = place % self.values_per_group == self.values_per_group - 1
        return self.size_variance is not None and last

    def _sums(self, weights: Weights) -> dict[int, tuple[float, float]]:
        """Return the weights of counts in total, and that of the size, by group."""
        sums: dict[int, tuple[float, float]] = {}
        for place, weight in weights.items():
            group = place // self.values_per_group
            counts, size = sums.get(group, (0.0, 0.0))
            is_size = self._is_size(place)
            sums[group] = (counts, size + weight) if is_size else (counts + weight, size)
        return sums


@dataclass(frozen=True)
class Residuals:
    """Hold the independent noises that the cells of marginals are sums of.

    ``labels`` are how many each column has, ``variances`` those of the noise of each set of
    columns, and ``cells`` the columns and key of each value of the release.
    """

    labels: Mapping[str, int]
    variances: Mapping[tuple[str, ...], float]
    cells: tuple[Cell, ...] = field(repr=False)

    @classmethod
    def read(cls, fields: Fields, marginals: Iterable[Marginal]) -> "Residuals":
        labels = fields.child("labels")
        return cls(
            {name: labels.integer(name) for name in labels.whole},
            {
                each.texts("columns"): each.positive("variance")
                for each in fields.children("residuals")
            },
            tuple((each.columns, key) for each in marginals for key in each.values),
        )

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance: the sum over all residuals.

        What a residual adds to two cells has the covariance ``v prod(d - 1/n)`` over its columns,
        ``d`` being 1 where both have one label.  Multiplied out that is a sum over its subsets of
        columns, for each of which weights are added up by label.
        """
        return math.fsum(
            variance * self._common(columns, self._by_key(first, columns), second)
            for columns, variance in self.variances.items()
        )

    def _common(
        self, columns: tuple[str, ...], sums: Mapping[tuple[str, ...], float], second: Weights
    ) -> float:
        other = self._by_key(second, columns)
        parts = []
        for size in range(len(columns) + 1):
            for kept in itertools.combinations(range(len(columns)), size):
                left = [self.labels[name] for at, name in enumerate(columns) if at not in kept]
                first_sums, second_sums = _summed(sums, kept), _summed(other, kept)
                inner = math.fsum(
                    weight * second_sums.get(key, 0.0) for key, weight in first_sums.items()
                )
                parts.append((-1) ** len(left) * inner / math.prod(left))
        return math.fsum(parts)

    def _by_key(self, weights: Weights, columns: tuple[str, ...]) -> dict[tuple[str, ...], float]:
        """Return the weights of cells that have these columns, over their number, by label."""
        sums: dict[tuple[str, ...], float] = defaultdict(float)
        for place, weight in weights.items():
            own, key = self.cells[place]
            if set(columns) <= set(own):
                at = tuple(key[own.index(name)] for name in columns)
                sums[at] += weight / math.prod(self.labels[name] for name in own)
        return sums


def _summed(
    weights: Mapping[tuple[str, ...], float], kept: tuple[int, ...]
) -> dict[tuple[str, ...], float]:
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    for key, weight in weights.items():
        sums[tuple(key[at] for at in kept)] += weight
    return sums


@dataclass(frozen=True)
class Products:
    """Hold the covariance of answers, each to one query of every column, the last fastest.

    That of two answers is ``variance`` times the product of one number of each of ``factors``: the
    one in the row of the one's query and the column of the other's.
    """

    variance: float
    factors: tuple[tuple[tuple[float, ...], ...], ...] = field(repr=False)

    @classmethod
    def read(cls, fields: Fields) -> "Products":
        return cls(fields.positive("variance"), fields.matrices("factors"))

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two combinations, along one column after the other."""
        sums = {self._queries(place): weight for place, weight in first.items()}
        others = {self._queries(place): weight for place, weight in second.items()}
        for column, factor in enumerate(self.factors):
            reached = {key[column] for key in others}
            moved: dict[tuple[int, ...], float] = defaultdict(float)
            for key, weight in sums.items():
                row = factor[key[column]]
                for query in reached:
                    moved[*key[:column], query, *key[column + 1 :]] += weight * row[query]
            sums = moved
        inner = (weight * sums.get(key, 0.0) for key, weight in others.items())
        return self.variance * math.fsum(inner)

    def _queries(self, place: int) -> tuple[int, ...]:
        """Return which query of each column the answer at a place belongs to."""
        queries = []
        for factor in reversed(self.factors):
            place, query = divmod(place, len(factor))
            queries.append(query)
        return tuple(reversed(queries))


@dataclass(frozen=True)
class Shifted:
    """Hold the covariance of a part of a release, whose places count from the ``first`` one."""

    whole: Covariance
    first: int

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two combinations of the values of the part."""
        return self.whole.of(self._placed(first), self._placed(second))

    def _placed(self, weights: Weights) -> Weights:
        return {self.first + place: weight for place, weight in weights.items()}


def covariance_of(fields: Fields, marginals: Iterable[Marginal]) -> Covariance | None:
    """Return the covariance that a release states; ``None`` for one of another version's kind."""
    readers: Mapping[str, Callable[[Fields], Covariance]] = {
        "grouped_counts": GroupedCounts.read,
        "marginals": lambda stated: Residuals.read(stated, marginals),
        "answers": Products.read,
    }
    for name, read in readers.items():
        if fields.whole.get(name) is not None:
            return read(fields.child(name))
    return None
