"""Provide the exact law of what a sparse vector search finds, and searches with one fault each.

Written down from the algorithm, not taken from the code: given the threshold's noise, numbers
are found one after the other, each by the tail of its own noise, until ``cutoff`` are.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from penstock.mechanisms import IntVector, Laplace
from penstock.mechanisms.generalized_gaussian.sparse_vector import SparseVector
from penstock.randomness import Stream

Law = dict[tuple[int, ...], float]
"""The probability of every tuple of places."""

FAR = 400
"""Steps of noise that are summed over; what tests use has less than 1e-15 beyond."""


@dataclass(frozen=True)
class Redrawn(SparseVector):
    """Draw the threshold's noise again for every number: broken."""

    def above(self, values: IntVector, stream: Stream) -> IntVector:
        steps, none = Laplace(Fraction(1)), Fraction(0)
        raised = steps.increment(none, self.threshold_scale, len(values), stream)
        noise = steps.increment(none, self.query_scale, len(values), stream)
        return self.places_above(values, raised, noise)


@dataclass(frozen=True)
class Endless(SparseVector):
    """Search beyond the cutoff that the noise is made for: broken."""

    def places_above(self, values: IntVector, raised: IntVector, noise: IntVector) -> IntVector:
        return np.flatnonzero(values + noise >= self.threshold + raised)


@dataclass(frozen=True)
class NotForMany(SparseVector):
    """Draw noise that would do for a cutoff of 1: broken."""

    @property
    def query_scale(self) -> Fraction:
        return super().query_scale / self.cutoff


@dataclass(frozen=True)
class Unshifted(SparseVector):
    """Make up for one shift by the numbers' noise, where threshold and number move: broken."""

    @property
    def query_scale(self) -> Fraction:
        return super().query_scale / 2


BROKEN = (Redrawn, Endless, NotForMany, Unshifted)


def masses(scale: Fraction, reach: int) -> NDArray[np.float64]:
    """Return masses of discrete Laplace noise, from ``-reach`` to ``reach`` steps."""
    steps = np.abs(np.arange(-reach, reach + 1))
    law: NDArray[np.float64] = np.tanh(0.5 / float(scale)) * np.exp(-steps / float(scale))
    return law


def law_of(search: SparseVector, values: Sequence[int], reach: int = FAR) -> Law:
    """Return the law of the places found among ``values``, without noise beyond ``reach``."""
    around = np.arange(-reach, reach + 1)
    threshold = masses(search.threshold_scale, reach)
    own = masses(search.query_scale, reach)
    # tails[j] is the mass at around[j] and above, and what is needed lies at T + z - value.
    tails = np.append(np.cumsum(own[::-1])[::-1], 0.0)
    whole = float(own.sum())
    above = [
        np.where(need < -reach, whole, tails[np.clip(need + reach, 0, 2 * reach + 1)])
        for need in (search.threshold + around - value for value in values)
    ]
    law: Law = {}
    cutoff = len(values) if isinstance(search, Endless) else search.cutoff
    for places in _tuples(len(values), cutoff):
        seen = range(places[-1] + 1 if len(places) == cutoff else len(values))
        factors = [above[i] if i in places else whole - above[i] for i in seen]
        unseen = whole ** (len(values) - len(seen))
        if isinstance(search, Redrawn):
            law[places] = unseen * math.prod(float(factor @ threshold) for factor in factors)
        else:
            law[places] = unseen * float(threshold @ np.prod(factors, axis=0))
    return law


def _tuples(size: int, most: int) -> list[tuple[int, ...]]:
    return [
        places
        for count in range(min(size, most) + 1)
        for places in combinations(range(size), count)
    ]


def largest_loss(
    search: SparseVector, size: int, values: Sequence[int], *, together: bool = False
) -> float:
    """Return the largest log-ratio of probabilities over neighbors: all of ``size`` such values.

    Each number takes any of ``values`` and moves by any number of steps up to the shift; with
    ``together`` all take the same value and move alike.
    """
    law = lru_cache(maxsize=None)(lambda at: law_of(search, at))

    def vectors(each: Sequence[int]) -> Iterator[tuple[int, ...]]:
        return ((one,) * size for one in each) if together else product(each, repeat=size)

    moves = range(-search.shift, search.shift + 1)
    return max(
        math.log(mass / law(tuple(a + b for a, b in zip(at, move, strict=True)))[places])
        for at in vectors(values)
        for move in vectors(moves)
        for places, mass in law(at).items()
    )


def broken(kind: Callable[..., SparseVector], search: SparseVector) -> SparseVector:
    """Return ``search`` with the fault of ``kind``."""
    fields = (search.shift, search.threshold, search.cutoff)
    return kind(*fields, search.threshold_epsilon, search.query_epsilon)
