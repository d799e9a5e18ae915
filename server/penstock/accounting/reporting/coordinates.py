"""List the losses of one release, coordinate by coordinate, at the worst shift of its vector.

The rule of this module: the report knows a mechanism by its row in ``WORST`` alone.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from penstock.accounting.reporting.composition import LossSum, total_of
from penstock.accounting.reporting.losses import (
    gaussian_table,
    laplace_table,
    poisson_table,
    skellam_table,
    worst_of,
)
from penstock.mechanisms import family_of
from penstock.mechanisms.generalized_gaussian.law import moments
from penstock.mechanisms.generalized_gaussian.loss_distribution import loss_table
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.loss_table import LossTable
from penstock.mechanisms.process import Mechanism
from penstock.mechanisms.shifts import Shifts
from penstock.privacy.sensitivity import Sensitivity


@dataclass(frozen=True)
class PlacedRelease:
    """Hold one release to be composed: the law, its lattice, its level, what it protects.

    ``power`` is that of generalized Gaussian noise, and of no other.
    """

    mechanism: str
    granularity: Fraction
    level: Fraction
    sensitivity: Sensitivity
    power: Fraction | None = None

    @property
    def law(self) -> Mechanism:
        """Return the mechanism.  Raises ``InvalidInput`` as ``family_of`` does."""
        return family_of(self.mechanism, self.power)(self.granularity)

    @property
    def shifts(self) -> Shifts:
        """Return the bounds on what separates neighbors, in lattice steps."""
        return Shifts.within(self.sensitivity, self.granularity)


class Coordinate(Protocol):
    """Represent one value's noise against a shift of it; equal ones are composed at once.

    ``mean`` and ``deviation`` are those of the loss, roughly: they choose the grid.
    """

    def __hash__(self) -> int: ...

    @property
    def mean(self) -> float: ...

    @property
    def deviation(self) -> float: ...

    def table(self, width: float, tail: float) -> LossTable:
        """Return its losses on multiples of ``width``, with up to ``tail`` mass made infinite."""
        ...


Shape = Counter[Coordinate]
"""A shift of a whole vector: how often each shift of a coordinate occurs in it."""


@dataclass(frozen=True)
class GaussianLoss:
    """Represent Gaussian noise of any number of values: ``mu`` is all that counts."""

    mu: float

    @property
    def mean(self) -> float:
        return self.mu * self.mu / 2

    @property
    def deviation(self) -> float:
        return self.mu

    def table(self, width: float, tail: float) -> LossTable:
        return gaussian_table(self.mu, width, tail)


@dataclass(frozen=True)
class LaplaceLoss:
    """Represent discrete Laplace noise of ``decay`` a step, shifted by ``shift`` steps."""

    decay: float
    shift: int

    @property
    def mean(self) -> float:
        return min(self.deviation, self.deviation**2 / 2)

    @property
    def deviation(self) -> float:
        return self.decay * self.shift

    def table(self, width: float, tail: float) -> LossTable:  # noqa: ARG002 - nothing is cut off
        return laplace_table(self.decay, self.shift, width)


@dataclass(frozen=True)
class PoissonLoss:
    """Represent Poisson noise of mean ``level``, shifted by ``shift`` steps."""

    level: float
    shift: int

    @property
    def mean(self) -> float:
        return self.deviation**2 / 2

    @property
    def deviation(self) -> float:
        return self.shift / math.sqrt(self.level)

    def table(self, width: float, tail: float) -> LossTable:
        return poisson_table(self.level, self.shift, width, tail)


@dataclass(frozen=True)
class GeneralizedGaussianLoss:
    """Represent generalized Gaussian noise of ``power``, shifted by ``shift`` scales."""

    power: float
    shift: float

    @property
    def mean(self) -> float:
        return moments(self.power, self.shift)[0]

    @property
    def deviation(self) -> float:
        return math.sqrt(moments(self.power, self.shift)[1])

    def table(self, width: float, tail: float) -> LossTable:
        return loss_table(self.power, self.shift, width, tail)


@dataclass(frozen=True)
class SkellamLoss(PoissonLoss):
    """Represent Skellam noise of variance ``level`` (squared steps), shifted by ``shift`` steps."""

    def table(self, width: float, tail: float) -> LossTable:
        return skellam_table(self.level, self.shift, width, tail)


@dataclass(frozen=True)
class WorstShape:
    """Represent a vector's losses at any of several shifts of it, the worst at every loss."""

    shapes: tuple[frozenset[tuple[Coordinate, int]], ...]

    @property
    def mean(self) -> float:
        return max(sum(n * law.mean for law, n in shape) for shape in self.shapes)

    @property
    def deviation(self) -> float:
        return max(math.sqrt(sum(n * law.deviation**2 for law, n in s)) for s in self.shapes)

    def table(self, width: float, tail: float) -> LossTable:
        each = tail / (3 * max(map(len, self.shapes)))
        return worst_of(
            [summed(Counter(dict(shape)), width, each).table() for shape in self.shapes]
        )


def summed(shape: Shape, width: float, tail: float) -> LossSum:
    """Return the losses of a whole shape; every table, trim and sum moves up to ``tail`` mass."""
    parts = (
        LossSum.of(coordinate.table(width, tail)).trimmed(tail / copies).times(copies, tail)
        for coordinate, copies in shape.items()
    )
    return total_of(parts, tail)


def _worst(shapes: Sequence[Shape]) -> Shape:
    """Return the only one of ``shapes``, or one coordinate that stands for all of them."""
    if len(shapes) == 1:
        return shapes[0]
    return Counter({WorstShape(tuple(frozenset(shape.items()) for shape in shapes)): 1})


def _laplace(release: PlacedRelease) -> Shape:
    """Return the worst shift, by theorem: as concentrated as the sensitivities allow."""
    shapes = release.shifts.proved
    if not shapes:
        return Counter()
    decay = float(release.granularity / release.level)
    return _worst(
        [Counter({LaplaceLoss(decay, shift): times for shift, times in shape}) for shape in shapes]
    )


def _poisson(release: PlacedRelease) -> Shape:
    level = float(release.level)
    return _worst(
        [
            Counter({PoissonLoss(level, shift): times for shift, times in shape})
            for shape in release.shifts.worst
        ]
    )


def _generalized_gaussian(release: PlacedRelease) -> Shape:
    law = GeneralizedGaussian.of(release.power)(release.granularity)
    kinds = law.worst_shift(release.level, release.sensitivity)
    return Counter({GeneralizedGaussianLoss(kind.power, kind.shift): kind.times for kind in kinds})


def _skellam(release: PlacedRelease) -> Shape:
    level = float(release.level / release.granularity**2)
    return _worst(
        [
            Counter({SkellamLoss(level, shift): times for shift, times in shape})
            for shape in release.shifts.worst
        ]
    )


WORST: Final[Mapping[str, Callable[[PlacedRelease], Shape]]] = {
    "generalized_gaussian": _generalized_gaussian,
    "laplace": _laplace,
    "poisson": _poisson,
    "skellam": _skellam,
}
"""The worst shift of every mechanism but the Gaussian, whose releases add up to one."""
