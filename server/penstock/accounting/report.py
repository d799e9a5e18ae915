"""The tight figure: what a set of releases amounts to, at the dataset's delta.

The rule this module keeps: the figure is read off privacy-loss distributions, never off
the filter's one order, and is never below the truth.  It speaks of the ideal laws; what
samplers add is in the ledger's failure probability, which callers take off ``delta``.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from penstock.accounting.composition import LossSum, total_of
from penstock.accounting.losses import (
    LossTable,
    gaussian_table,
    laplace_table,
    poisson_table,
)
from penstock.errors import InvalidInput
from penstock.mechanisms.normal_curve import epsilon_at
from penstock.mechanisms.poisson import Poisson
from penstock.mechanisms.shifts import Shifts
from penstock.privacy import Sensitivity

RESOLUTION: Final = 2**15
"""Cells of the grid up to the loss that is expected at delta."""

SMALLEST_DELTA: Final = 1e-11
"""Below it the rounding of Fourier transforms would show, and sums are given instead."""

_FOURIER_NOISE: Final = 1e-14
"""An engineering bound on how far rounding moves a delta, over all transforms."""

_CUT: Final = 2.0**-20
"""The part of delta that may be cut off, over all tables and sums."""


@dataclass(frozen=True)
class PlacedRelease:
    """One release to be composed: the law, its lattice, its level, what it protects."""

    mechanism: str
    granularity: Fraction
    level: Fraction
    sensitivity: Sensitivity


def composed_epsilon(releases: Sequence[PlacedRelease], delta: float) -> float:
    """The epsilon at ``delta`` of all ``releases`` together, each drawn independently.

    0 for none, ``inf`` where no epsilon is enough.  Never below the truth, and never
    above the sum of the pure epsilons where all are pure, which it is at ``delta`` 0.
    Raises ``InvalidInput`` for an unknown mechanism and for a delta outside of [0, 1).
    """
    if not 0 <= delta < 1:
        raise InvalidInput(f"A delta is at least 0 and below 1, not {delta}.", pointer="/delta")
    counted = Counter(releases)
    unknown = {release.mechanism for release in counted} - {"gaussian", "laplace", "poisson"}
    if unknown:
        raise InvalidInput(f"No privacy loss is known for the mechanism {min(unknown)!r}.")
    simple = _simple_sum(counted, delta)
    if delta < SMALLEST_DELTA or all(release.mechanism == "gaussian" for release in counted):
        return simple
    return min(simple, _by_tables(counted, delta))


@dataclass(frozen=True)
class _Coordinate:
    """One value's noise against a shift of it; ``mean`` and ``deviation`` of the loss, roughly.

    ``parameter`` is mu, the decay a step, or the mean; ``shift`` counts lattice steps.
    """

    law: str
    parameter: float
    shift: int
    mean: float
    deviation: float

    def table(self, width: float, tail: float) -> LossTable:
        if self.law == "gaussian":
            return gaussian_table(self.parameter, width, tail)
        if self.law == "laplace":
            return laplace_table(self.parameter, self.shift, width)
        return poisson_table(self.parameter, self.shift, width, tail)


Shape = Counter[_Coordinate]
"""A shift of a whole vector: how often each shift of a coordinate occurs in it."""


def _by_tables(counted: Counter[PlacedRelease], delta: float) -> float:
    remaining = delta / _inflation(counted) - _FOURIER_NOISE
    shape: Shape = Counter()
    mu = _total_mu(counted)
    if mu > 0:
        shape[_Coordinate("gaussian", mu, 0, mu * mu / 2, mu)] += 1
    for release, copies in counted.items():
        if release.mechanism != "gaussian":
            worst = _laplace if release.mechanism == "laplace" else _poisson
            for coordinate, times in worst(release).items():
                shape[coordinate] += times * copies
    if not shape:
        return 0.0
    width = _width(shape, delta)
    tail = delta * _CUT / (3 * len(shape))
    return _summed(shape, width, tail).table().epsilon(remaining)


def _summed(shape: Shape, width: float, tail: float) -> LossSum:
    return total_of(
        (
            LossSum.of(coordinate.table(width, tail)).trimmed(tail / copies).times(copies, tail)
            for coordinate, copies in shape.items()
        ),
        tail,
    )


def _width(shape: Shape, delta: float) -> float:
    mean = math.fsum(times * coordinate.mean for coordinate, times in shape.items())
    variance = math.fsum(times * coordinate.deviation**2 for coordinate, times in shape.items())
    return (mean + math.sqrt(2 * variance * math.log(1 / delta))) / RESOLUTION


def _laplace(release: PlacedRelease) -> Shape:
    """The worst shift: as concentrated as the sensitivities allow."""
    total = release.sensitivity.l1 // release.granularity
    largest = _shifts(release).largest
    decay = float(release.granularity / release.level)
    shape: Shape = Counter()
    whole, rest = divmod(total, largest) if largest else (0, 0)
    for shift, times in ((largest, whole), (rest, 1)):
        if shift:
            loss = decay * shift
            mean = min(loss, loss * loss / 2)
            shape[_Coordinate("laplace", decay, shift, mean, loss)] += times
    return shape


def _poisson(release: PlacedRelease) -> Shape:
    mean = float(release.level)
    shape: Shape = Counter()
    for shift, times in _shifts(release).worst:
        mu = shift / math.sqrt(mean)
        shape[_Coordinate("poisson", mean, shift, mu * mu / 2, mu)] += times
    return shape


def _shifts(release: PlacedRelease) -> Shifts:
    step, sensitivity = release.granularity, release.sensitivity
    return Shifts(
        sensitivity.l1 // step,
        math.floor(sensitivity.l2_squared / step**2),
        sensitivity.linf // step,
    )


def _total_mu(counted: Counter[PlacedRelease]) -> float:
    """Gaussian releases together are one, of the squares' sum (Dong, Roth, Su 2022)."""
    return math.sqrt(
        math.fsum(
            copies * float(release.sensitivity.l2_squared / release.level)
            for release, copies in counted.items()
            if release.mechanism == "gaussian"
        )
    )


def _inflation(counted: Counter[PlacedRelease]) -> float:
    """How much larger delta may be on the lattice than for real Gaussian noise.

    ``1 + 4 (g/sigma)^2`` for each release: an engineering bound.
    """
    return math.exp(
        math.fsum(
            copies * math.log1p(4 * float(release.granularity**2 / release.level))
            for release, copies in counted.items()
            if release.mechanism == "gaussian"
        )
    )


def _simple_sum(counted: Counter[PlacedRelease], delta: float) -> float:
    """Pure losses added up; the rest read at even parts of delta, and added to them."""
    pure, parts = [], []
    for release, copies in counted.items():
        if release.mechanism == "laplace":
            pure.append(copies * float(release.sensitivity.l1 / release.level))
        elif release.mechanism == "poisson":
            parts.append((release, copies))
    mu = _total_mu(counted)
    shares = sum(copies for _, copies in parts) + (mu > 0)
    if not shares:
        return math.fsum(pure)
    if delta == 0:
        return math.inf
    if parts and delta >= SMALLEST_DELTA:
        return math.inf  # the tables are always better
    each = delta / shares
    if mu > 0:
        pure.append(epsilon_at(each / _inflation(counted), mu))
    for release, copies in parts:
        law = Poisson(release.granularity)
        promise = law.guarantee(release.level, release.sensitivity, each)
        pure.append(copies * promise.epsilon)
    return math.fsum(pure)
