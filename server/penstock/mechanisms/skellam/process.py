"""Draw Skellam noise: integer jumps, upwards and downwards alike.

``X(b) - X(a)`` is the difference of two Poisson integers of mean ``(b - a)/2``, and given both of
these, the parts up to ``t`` are binomial with chance ``(t-a)/(b-a)``.  So a path keeps two numbers
for each value: the release, and how often it has jumped upwards since the first anchor.  The upward
jumps of the anchor's own noise are never stored: with the release they would give the exact value
away.  When the ceiling is raised they are drawn again, given the noise, and forgotten.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.lattice import (
    DEVIATIONS,
    LARGEST_STEPS,
    check_confidence,
    check_granularity,
    check_increasing,
    finest_common_power,
    reaching_ladder,
)
from penstock.mechanisms.process import Distribution, IntVector, NumericalCharge
from penstock.mechanisms.rejection_charges import charged_loss, rejection_charges
from penstock.mechanisms.shifts import Shifts
from penstock.mechanisms.skellam import tails
from penstock.mechanisms.skellam.curve import epsilon_of_worst, rough_epsilon
from penstock.mechanisms.skellam.divergence import refinement_divergence, renyi_divergence
from penstock.privacy.guarantee import Cost, Definition, ErrorBars, Guarantee
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.randomness.bessel.functions import LARGEST_ARGUMENT, bessel
from penstock.randomness.binomial import binomial
from penstock.randomness.poisson import poisson
from penstock.randomness.stream import Stream

ROOM_TO_RAISE = 64
"""The ceiling's variance over that of rung 0, unless the latter would be too small."""

SMALLEST_VARIANCE = Fraction(1, 16)
"""The least variance, in squared steps; below it the noise is 0 more than 15 times out of 16."""

UNITS_A_STEP = 1 << 20
"""Variances are multiples of a squared step divided by this."""

DRAWS_A_LEVEL = 3
"""Two Poisson integers or two binomial ones, and a Bessel one if the ceiling is raised."""


@dataclass(frozen=True)
class Skellam:
    """Draw Skellam noise; the level is the variance, in squared units of values."""

    granularity: Fraction

    name: ClassVar[str] = "skellam"
    parameter: ClassVar[str] = "variance"
    parts: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_granularity(self.granularity)

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Choose the lattice and the ladder of a query; see ``Mechanism.plan``.

        The lattice is that of the values, so the noise has no finer scale.
        """
        granularity = finest_common_power(step)
        square = granularity * granularity
        if ceiling < SMALLEST_VARIANCE * square or bound < 0:
            raise InvalidInput(
                f"A Skellam variance is at least {float(SMALLEST_VARIANCE * square):g}, a sixteenth"
                f" of the lattice's squared step, and a bound at least 0, not {float(ceiling):g}"
                f" and {float(bound):g}."
            )
        deviation = (LARGEST_STEPS * granularity - bound) / DEVIATIONS
        noisiest = min(deviation * deviation, LARGEST_ARGUMENT * square)
        if deviation <= 0 or noisiest < ceiling:
            raise InvalidInput(
                f"Values up to {float(bound):g} and noise of variance {float(ceiling):g} do not"
                f" fit 2^52 steps of {granularity}; choose a coarser step or a smaller bound."
            )
        unit = square / UNITS_A_STEP
        finest = max(ceiling / ROOM_TO_RAISE, SMALLEST_VARIANCE * square)
        return cls(granularity), reaching_ladder(math.floor(finest / unit), unit, noisiest)

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        """Draw ``X(noisy) - X(accurate)``, and upward jumps; see ``Mechanism.increment``.

        Raises ``InvalidInput`` for levels out of order or more than 2^53 squared steps
        apart.
        """
        check_increasing(accurate, noisy)
        mean = self._in_steps(noisy - accurate) / 2
        jumps = poisson(mean, 2 * size, stream)
        down, up = np.split(jumps, self.parts)
        np.subtract(up, down, out=down)
        return jumps

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        """Draw ``X(level) - X(accurate)`` given ``difference``; see ``Mechanism.bridge``.

        Raises ``InvalidInput`` for levels out of order, and for a negative number of
        jumps, which two releases of one query never have.
        """
        check_increasing(accurate, level, noisy)
        chance = (level - accurate) / (noisy - accurate)
        net, up = np.split(difference, self.parts)
        # Downward jumps first, as many numbers as the differences have that they replace.
        jumps = np.empty_like(difference)
        down, ahead = np.split(jumps, self.parts)
        np.subtract(up, net, out=down)
        np.copyto(ahead, up)
        binomial(jumps, chance, stream, out=jumps)
        np.subtract(ahead, down, out=down)
        return jumps

    def resolve(self, noise: IntVector, level: Fraction, stream: Stream) -> IntVector:
        """Return the noise, and a draw of its upward jumps given it.

        Given ``A - B``, the smaller of ``A`` and ``B`` follows a Bessel law (Devroye 2002).
        """
        jumps = bessel(np.abs(noise), self._in_steps(level), stream)
        jumps += np.maximum(noise, 0)
        return np.concatenate((noise, jumps))

    def bias(self, level: Fraction) -> Fraction:  # noqa: ARG002 - the protocol passes it
        """Return 0: the noise has mean 0 at any level."""
        return Fraction(0)

    def guarantee(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> Guarantee:
        """Return the guarantee at ``delta``, by the exact hockey-stick divergence.

        It is that of the worst integer shifts that the three norms admit (``Shifts.worst``). Raises
        ``InvalidInput`` for a ``delta`` outside of (0, 1), for which no variance suffices, and for
        a sensitivity below one step.
        """
        if not 0 < delta < 1:
            raise InvalidInput(f"Skellam noise needs a delta between 0 and 1, not {delta:g}.")
        shapes = Shifts.of(sensitivity, self.granularity).worst
        epsilon = epsilon_of_worst(self._variance(level), shapes, delta)
        return Guarantee(Definition.APPROXIMATE, epsilon=epsilon, delta=delta)

    def rough_epsilon(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> float:
        """Return about the guarantee's epsilon, where a search for a level may begin."""
        shapes = Shifts.of(sensitivity, self.granularity).worst
        return max(rough_epsilon(self._variance(level), shape, delta) for shape in shapes)

    def cost(self, level: Fraction, sensitivity: Sensitivity, order: float) -> Cost:
        """Return the exact Rényi divergence, and the probability of values no neighbor draws.

        The support is all integers, so the law itself never fails; but the sampler's parts end, and
        values of one data set beyond that cannot be explained by its neighbor.  Both add up over
        coordinates and are bounded over all shifts that the norms admit.  Raises ``InvalidInput``
        for a sensitivity below one step.
        """
        variance, shifts = self._variance(level), Shifts.of(sensitivity, self.granularity)
        failure = shifts.largest_sum(lambda shift: tails.beyond_neighbor(variance, shift))
        if math.isinf(order):
            return Cost(loss=math.inf, failure=min(failure, 1.0))
        loss = shifts.largest_sum(
            lambda shift: charged_loss(lambda at: renyi_divergence(variance, shift, at), order)
        )
        return Cost(loss=loss, failure=min(failure, 1.0))

    def refinement(
        self, old: Fraction, new: Fraction, sensitivity: Sensitivity, order: float, tail: float
    ) -> Cost:
        """Return the Rényi divergence of a release at ``new`` given any release at ``old``.

        It holds except for ``tail``, the probability that the noise of ``old`` is too far from 0 in
        a coordinate that the shift moves.
        """
        shifts = Shifts.of(sensitivity, self.granularity)
        before, after = self._variance(old), self._variance(new)
        each = tail / shifts.l1
        loss = shifts.largest_sum(
            lambda shift: refinement_divergence(before, after, shift, order, each)
        )
        return Cost(loss=loss, failure=min(tail, 1.0))

    def numerical_charges(
        self,
        ladder: Ladder,  # noqa: ARG002 - the samplers' error is the same at every variance
        dimension: int,
        level_count: int,
        order: float,
        epsilon: float,
    ) -> Sequence[NumericalCharge]:
        """Return the charges of ``rejection_charges``, for three draws a value and level."""
        return rejection_charges(DRAWS_A_LEVEL * dimension * level_count, order, epsilon)

    def error(self, level: Fraction, confidence: float) -> ErrorBars:
        """Return the error bars of the law itself; the interval ends on a lattice point.

        Raises ``InvalidInput`` for a confidence outside of (0, 1).
        """
        check_confidence(confidence)
        reach = tails.half_width(self._variance(level), confidence)
        return ErrorBars(math.sqrt(level), confidence, reach * float(self.granularity))

    def distribution(self, level: Fraction) -> Distribution:
        """Return the law of the noise at ``level``."""
        values, at_most = tails.distribution(self._variance(level))
        return Distribution(values * float(self.granularity), at_most)

    def _in_steps(self, variance: Fraction) -> Fraction:
        return variance / (self.granularity * self.granularity)

    def _variance(self, level: Fraction) -> float:
        return float(self._in_steps(level))
