"""List the keys of an answer: declared, never discovered in the data."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Given, Spans

Key = str | list[str]

ALL = "all"
"""The key of an answer without groups."""


@dataclass(frozen=True)
class Domain(Sequence[Key]):
    """Represent the product of the groupings' labels, the last one varying fastest.

    A key is a string for one grouping, a list of strings for several, and ``"all"`` is the only one
    without any.  Keys are made on demand: a domain of ten million takes no more memory than its
    labels.
    """

    labels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, stored: Mapping[str, Sequence[Sequence[str]]]) -> "Domain":
        """Return a domain of what ``stored`` returned, also when it was JSON meanwhile."""
        return cls(tuple(tuple(labels) for labels in stored["labels"]))

    def stored(self) -> dict[str, Sequence[Sequence[str]]]:
        """Return the labels alone, for JSON: far less than the keys."""
        return {"labels": self.labels}

    def __len__(self) -> int:
        return math.prod(len(labels) for labels in self.labels)

    def __iter__(self) -> Iterator[Key]:
        match self.labels:
            case ():
                return iter([ALL])
            case (only,):
                return iter(only)
        return (list(parts) for parts in itertools.product(*self.labels))

    @overload
    def __getitem__(self, index: int) -> Key: ...

    @overload
    def __getitem__(self, index: slice) -> list[Key]: ...

    def __getitem__(self, index: int | slice) -> Key | list[Key]:
        if isinstance(index, slice):
            return self._keys(range(len(self))[index])
        position = range(len(self))[index]
        parts: list[str] = []
        for labels in reversed(self.labels):
            position, place = divmod(position, len(labels))
            parts.append(labels[place])
        match parts:
            case []:
                return ALL
            case [only]:
                return only
        return parts[::-1]

    def places(self, positions: range) -> list[NDArray[np.int64]]:
        """Return, for each grouping, which of its labels the keys at positions have."""
        left = np.arange(positions.start, positions.stop, positions.step, dtype=np.int64)
        columns: list[NDArray[np.int64]] = []
        for labels in reversed(self.labels):
            left, places = np.divmod(left, len(labels))
            columns.append(places)
        return columns[::-1]

    def _keys(self, positions: range) -> list[Key]:
        """Return the keys at positions, all at once: one by one takes ten times as long."""
        places = zip(self.labels, self.places(positions), strict=True)
        match [np.array(labels, dtype=object)[chosen].tolist() for labels, chosen in places]:
            case []:
                return [ALL] * len(positions)
            case [only]:
                return list(only)
            case parts:
                return [list(key) for key in zip(*parts, strict=True)]

    @property
    def strides(self) -> tuple[int, ...]:
        """Return by how much one step in each grouping moves the position of the key."""
        return strides_of([len(labels) for labels in self.labels])


@dataclass(frozen=True)
class MarginalKeys(Sequence[Key]):
    """Represent the keys of several marginals, one after another, the last column varying fastest.

    ``sets`` are the places of each one's columns among ``names``.  A key has a part for each of the
    names, ``"all"`` for a column that its marginal does not have; with one name it is a string.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    sets: tuple[tuple[int, ...], ...]

    def stored(self) -> dict[str, Any]:
        """Return what the keys are made of, for JSON."""
        return {"names": self.names, "labels": self.labels, "sets": self.sets}

    def of_set(self, columns: tuple[int, ...]) -> Domain:
        """Return the keys of one marginal, in the order of its own columns."""
        return Domain(tuple(self.labels[column] for column in columns))

    def __len__(self) -> int:
        return sum(len(self.of_set(columns)) for columns in self.sets)

    @overload
    def __getitem__(self, index: int) -> Key: ...

    @overload
    def __getitem__(self, index: slice) -> list[Key]: ...

    def __getitem__(self, index: int | slice) -> Key | list[Key]:
        return self._keys[index]

    @cached_property
    def _keys(self) -> list[Key]:
        keys: list[Key] = []
        for columns in self.sets:
            parts = [
                labels if place in columns else (ALL,) for place, labels in enumerate(self.labels)
            ]
            keys += Domain(tuple(parts))
        return keys


@dataclass(frozen=True)
class WorkloadKeys(Sequence[Key]):
    """Represent the keys of the nodes of a workload, the last column varying fastest.

    A key has a part for each of the columns ``names``, whose keys have ``labels``; with one it is a
    string.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    workload: Workload

    def stored(self) -> dict[str, Any]:
        """Return what the keys are made of, for JSON."""
        factors = self.workload.factors
        return {
            "names": self.names,
            "labels": self.labels,
            "queries": [_rows_stored(each.queries) for each in factors],
            "strategy": [_rows_stored(each.strategy) for each in factors],
        }

    @cached_property
    def nodes(self) -> Domain:
        """Return the keys of the nodes as a product."""
        pairs = zip(self.workload.factors, self.labels, strict=True)
        return Domain(tuple(each.strategy.labels(labels) for each, labels in pairs))

    @cached_property
    def answers(self) -> Domain:
        """Return the keys of the answers as a product."""
        pairs = zip(self.workload.factors, self.labels, strict=True)
        return Domain(tuple(each.queries.labels(labels) for each, labels in pairs))

    def __len__(self) -> int:
        return self.workload.dimension

    @overload
    def __getitem__(self, index: int) -> Key: ...

    @overload
    def __getitem__(self, index: slice) -> list[Key]: ...

    def __getitem__(self, index: int | slice) -> Key | list[Key]:
        return self.nodes[index]


def _rows_stored(rows: Given | Spans) -> object:
    return rows.rows if isinstance(rows, Given) else rows.name


def _rows_of(stored: str | list[list[int]], size: int) -> Given | Spans:
    return Spans(stored, size) if isinstance(stored, str) else Given(tuple(map(tuple, stored)))


def keys_of(stored: Mapping[str, Any]) -> Domain | MarginalKeys | WorkloadKeys:
    """Return the keys that ``stored`` returned, also when it was JSON meanwhile."""
    if "strategy" in stored:
        labels = tuple(map(tuple, stored["labels"]))
        parts = zip(stored["queries"], stored["strategy"], labels, strict=True)
        factors = tuple(
            Factor(_rows_of(queries, len(keys)), _rows_of(strategy, len(keys)))
            for queries, strategy, keys in parts
        )
        return WorkloadKeys(tuple(stored["names"]), labels, Workload(factors))
    if "sets" not in stored:
        return Domain.of(stored)
    return MarginalKeys(
        tuple(stored["names"]),
        tuple(map(tuple, stored["labels"])),
        tuple(map(tuple, stored["sets"])),
    )


def strides_of(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return by how much one step in each grouping of these sizes moves the position of a key."""
    return tuple(math.prod(sizes[place + 1 :]) for place in range(len(sizes)))
