"""Draw Poisson noise: a process of integer jumps upwards.

``X(b) - X(a)`` is Poisson with mean ``b - a``, and given its value ``v`` the part up to
``t`` is binomial with ``v`` trials and chance ``(t-a)/(b-a)`` (Andersson, Retschmeier,
Nelson, Pagh 2025, Lemma E.4).  Values are integers already, so the lattice is theirs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

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
from penstock.mechanisms.poisson.curve import epsilon_of_worst, rough_epsilon
from penstock.mechanisms.poisson.divergence import renyi_divergence
from penstock.mechanisms.poisson.refinement import fewest, refinement_divergence
from penstock.mechanisms.poisson.tails import (
    below,
    beyond_neighbor,
    centered_distribution,
    half_width,
)
from penstock.mechanisms.process import Distribution, IntVector, NumericalCharge, Whole
from penstock.mechanisms.rejection_charges import charged_loss, rejection_charges
from penstock.mechanisms.shifts import Shifts
from penstock.privacy.guarantee import Cost, Definition, ErrorBars, Guarantee
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.randomness.binomial import binomial
from penstock.randomness.poisson import poisson
from penstock.randomness.stream import Stream

ROOM_TO_RAISE = 64
"""The ceiling's mean over that of rung 0, unless the latter would be below 1."""

SMALLEST_MEAN = 1
"""The smallest mean allowed; below it 0 is the most likely noise."""

UNIT = Fraction(1, 1 << 20)
"""The unit of the ladder: means are multiples of it."""

LARGEST_FAILURE = 0.01
"""The largest chance of the support's end; above it costs are no longer convex in the shift."""


@dataclass(frozen=True)
class Poisson(Whole):
    """Draw Poisson noise; the level is the mean, in lattice steps (dimensionless)."""

    granularity: Fraction

    name: ClassVar[str] = "poisson"
    parameter: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        check_granularity(self.granularity)

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Choose the lattice and the ladder of a query; see ``Mechanism.plan``.

        The lattice is that of the values, so the noise has no finer scale.
        """
        if ceiling < SMALLEST_MEAN or bound < 0:
            raise InvalidInput(
                f"A Poisson mean is at least {SMALLEST_MEAN} and a bound at least 0, not"
                f" {float(ceiling):g} and {float(bound):g}."
            )
        granularity = finest_common_power(step)
        room = LARGEST_STEPS - math.ceil(bound / granularity)
        # The mean m with m + 40 sqrt(m) = room.
        half = Fraction(DEVIATIONS, 2)
        root = Fraction(math.isqrt(max(math.floor(half**2 + room), 0))) - half
        noisiest = root * root if root > 0 else Fraction(0)
        if noisiest < ceiling:
            raise InvalidInput(
                f"Values up to {float(bound):g} and noise of mean {float(ceiling):g} do not"
                f" fit 2^52 steps of {granularity}; choose a coarser step or a smaller bound."
            )
        finest = max(ceiling / ROOM_TO_RAISE, Fraction(SMALLEST_MEAN))
        return cls(granularity), reaching_ladder(math.floor(finest / UNIT), UNIT, noisiest)

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        """Draw ``X(noisy) - X(accurate)``; see ``Mechanism.increment``.

        Raises ``InvalidInput`` for levels out of order or more than 2^52 apart.
        """
        check_increasing(accurate, noisy)
        return poisson(noisy - accurate, size, stream)

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        """Draw ``X(level) - X(accurate)`` given ``difference``; see ``Mechanism.bridge``.

        Raises ``InvalidInput`` for levels out of order, and for a negative difference,
        which two releases of one query never have.
        """
        check_increasing(accurate, level, noisy)
        return binomial(difference, (level - accurate) / (noisy - accurate), stream)

    def bias(self, level: Fraction) -> Fraction:
        """Return the mean itself, times the value of a step."""
        return level * self.granularity

    def guarantee(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> Guarantee:
        """Return the guarantee at ``delta``, by the exact hockey-stick divergence both ways.

        It is that of the worst integer shifts that the three norms admit (``Shifts.worst``),
        including the event that the noise falls below the shift; infinite if that event alone is
        likelier than ``delta``.  Raises ``InvalidInput`` for a ``delta`` outside of (0, 1), for
        which no mean suffices, and for a sensitivity below one step.
        """
        if not 0 < delta < 1:
            raise InvalidInput(f"Poisson noise needs a delta between 0 and 1, not {delta:g}.")
        shapes = Shifts.of(sensitivity, self.granularity).worst
        epsilon = epsilon_of_worst(float(level), shapes, delta)
        return Guarantee(Definition.APPROXIMATE, epsilon=epsilon, delta=delta)

    def rough_epsilon(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> float:
        """Return about the guarantee's epsilon, where a search for a level may begin."""
        shapes = Shifts.of(sensitivity, self.granularity).worst
        return max(rough_epsilon(float(level), shape, delta) for shape in shapes)

    def cost(self, level: Fraction, sensitivity: Sensitivity, order: float) -> Cost:
        """Return the Rényi divergence if noise is not below its shift, and the failure probability.

        Failure is noise below its shift.  It includes values where the neighbor's sampler does not
        follow its law, since the divergence is that of the laws and not of the samplers.  Both add
        up over coordinates and are bounded over all shifts that the norms admit.  If its
        probability is above a hundredth no loss is stated, because its bound would fail there.  If
        the end of the support makes the divergence jump at orders just above ``order``, the loss is
        raised to what the factor of ``numerical_charges`` needs.  Raises ``InvalidInput`` for a
        sensitivity below one step.
        """
        mean, shifts = float(level), Shifts.of(sensitivity, self.granularity)
        failure = min(shifts.largest_sum(lambda shift: beyond_neighbor(mean, shift)), 1.0)
        if math.isinf(order) or failure > LARGEST_FAILURE:
            return Cost(loss=math.inf, failure=failure)
        loss = shifts.largest_sum(
            lambda shift: charged_loss(lambda at: renyi_divergence(mean, shift, at), order)
        )
        return Cost(loss=loss, failure=failure)

    def refinement(
        self, old: Fraction, new: Fraction, sensitivity: Sensitivity, order: float, tail: float
    ) -> Cost:
        """Return the Rényi divergence of a release at ``new`` given any release at ``old``.

        It holds except for ``tail``, the probability that the noise of ``old`` is too small in a
        coordinate that the shift moves, and for that of ``new`` below its shift.
        """
        shifts = Shifts.of(sensitivity, self.granularity)
        trials = fewest(float(old), tail / shifts.l1)
        chance = float(new / old)
        loss = shifts.largest_sum(lambda shift: refinement_divergence(trials, chance, shift, order))
        outside = shifts.largest_sum(lambda shift: below(float(new), shift))
        return Cost(loss=loss, failure=min(tail + outside, 1.0))

    def numerical_charges(
        self,
        ladder: Ladder,  # noqa: ARG002 - the samplers' error is the same at every mean
        dimension: int,
        level_count: int,
        order: float,
        epsilon: float,
    ) -> Sequence[NumericalCharge]:
        """Return the charges of ``rejection_charges``, for one draw a value and level."""
        return rejection_charges(dimension * level_count, order, epsilon)

    def error(self, level: Fraction, confidence: float) -> ErrorBars:
        """Return the error bars of the law around its mean, which ``bias`` subtracts.

        Raises ``InvalidInput`` for a confidence outside of (0, 1).
        """
        check_confidence(confidence)
        step, mean = float(self.granularity), float(level)
        return ErrorBars(math.sqrt(mean) * step, confidence, half_width(mean, confidence) * step)

    def distribution(self, level: Fraction) -> Distribution:
        """Return the law of the noise less its mean at ``level``."""
        values, at_most = centered_distribution(float(level))
        return Distribution(values * float(self.granularity), at_most)
