"""Declare the interface of every noise process.

A mechanism is a process ``X`` with ``X(0) = 0`` and independent increments, indexed by
the noise level (small = accurate): a release at level ``t`` is ``f + X(t)``
(Andersson, Retschmeier, Nelson, Pagh 2025, Definition 1.1).  ``increment`` and
``bridge`` are all that releases in any order need, and neither sees the data.

Vectors are ``int64`` in lattice steps of ``granularity``; levels are exact fractions in
the units of the mechanism's parameter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from penstock.privacy.guarantee import Cost, ErrorBars, Guarantee
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.randomness.stream import Stream

IntVector = NDArray[np.int64]


@dataclass(frozen=True)
class NumericalCharge:
    """Hold one way to account for a sampler's own error.

    The Rényi loss is multiplied by ``factor`` and ``loss`` added to it; ``failure`` is added to the
    failure probability.  If a mechanism states several, each of them is valid.
    """

    factor: float
    failure: float
    loss: float = 0.0


@dataclass(frozen=True)
class Distribution:
    """Hold the law of one value's noise: it is at most ``values[i]`` with chance ``at_most[i]``.

    ``values`` rise, in units of values and relative to the bias, each halfway between two lattice
    points.  Less than 1e-9 of the noise is beyond either end.
    """

    values: NDArray[np.float64]
    at_most: NDArray[np.float64]


class Whole:
    """Resolve noise whose path needs only one number for each value."""

    parts: ClassVar[int] = 1

    def resolve(
        self,
        noise: IntVector,
        level: Fraction,  # noqa: ARG002 - the protocol passes it
        stream: Stream,  # noqa: ARG002 - nothing is drawn
    ) -> IntVector:
        """Return the noise itself."""
        return noise


class Mechanism(Protocol):
    """Draw and account for one noise process on the multiples of ``granularity``.

    A path has ``parts`` numbers for each value, one vector after another: the values first, then
    the numbers that bridges need as well.  Differences and increments
    have the same form, of shape ``(parts * size,)``.
    """

    name: ClassVar[str]
    parameter: ClassVar[str]
    parts: ClassVar[int]

    def __init__(self, granularity: Fraction) -> None: ...

    @property
    def granularity(self) -> Fraction:
        """Return the value of one lattice step."""
        ...

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Choose the lattice and the ladder of a query, before anything is drawn.

        ``ceiling`` is the most accurate level that a tier requests, ``step`` the
        spacing of the exact values, ``bound`` the largest absolute exact value.  The
        ladder starts well below the ceiling, so that the ceiling can be raised later.
        Raises ``InvalidInput`` if the integers could leave their range.
        """
        ...

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        """Draw ``X(noisy) - X(accurate)`` of ``size`` values, independent of ``X(accurate)``."""
        ...

    def resolve(self, noise: IntVector, level: Fraction, stream: Stream) -> IntVector:
        """Return all parts of ``X(level)``, given its values ``noise`` of shape ``(size,)``."""
        ...

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        """Draw ``X(level) - X(accurate)`` given ``X(noisy) - X(accurate) = difference``."""
        ...

    def bias(self, level: Fraction) -> Fraction:
        """Return the mean of ``X(level)`` in units of values, subtracted before release."""
        ...

    def guarantee(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> Guarantee:
        """Return the guarantee of one release at ``level``, read at ``delta``."""
        ...

    def cost(self, level: Fraction, sensitivity: Sensitivity, order: float) -> Cost:
        """Return the ideal law's Rényi divergence of ``order``, and its failure probability."""
        ...

    def numerical_charges(
        self, ladder: Ladder, dimension: int, level_count: int, order: float, epsilon: float
    ) -> Sequence[NumericalCharge]:
        """Return the ways to charge the sampler's error over ``dimension * level_count`` draws.

        ``epsilon`` is that of the budget charged.
        """
        ...

    def error(self, level: Fraction, confidence: float) -> ErrorBars:
        """Return the error bars of one value at ``level``, those of the lattice law itself."""
        ...

    def distribution(self, level: Fraction) -> Distribution:
        """Return the law of one value's noise at ``level``."""
        ...
