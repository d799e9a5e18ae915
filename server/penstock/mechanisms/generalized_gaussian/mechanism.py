"""Draw generalized Gaussian noise, for many counts at once with a small largest error.

Every value has noise of density proportional to ``exp(-(|x| / scale)^power)`` (Ganesh,
Zhao 2021, "Privately Answering Counting Queries with Generalized Gaussian Mechanisms"),
rounded to the lattice.  Values lie on it too, so rounding the noise is rounding the
noisy value: post-processing, which costs no privacy.

Increments start from no noise only, and there are no bridges.  For powers other than 1 and 2
the law at one scale is not that at a smaller scale plus independent noise: a law with this
property at all scales is self-decomposable, hence infinitely divisible, and no infinitely divisible
law but the normal one has tails as thin as ``exp(-x^p)`` with ``p > 1``.  Releases at
several levels are independent draws around the exact values, and their losses add up.

The worst shift.  The density is log-concave, so ``min(f(x), c f(x - s))`` is, jointly in
``x`` and ``s``, and its integral over ``x`` is log-concave in ``s`` (Prékopa 1973).  The
hockey-stick divergence is 1 minus that, so over a polytope of shifts it is largest at an
extreme point.  Those of ``|s|_1 <= Delta1, |s|_inf <= Dinf`` have as many values as fit
moving by ``Dinf`` and one by the rest; they are the same up to order and signs, which do
not affect the divergence.  So one of them dominates every shift, at every epsilon.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NoReturn, Self

from penstock.errors import InvalidInput
from penstock.mechanisms.families import Families
from penstock.mechanisms.generalized_gaussian.law import (
    expected_maximum,
    information,
    reach_of,
    renyi_divergence,
    standard_deviation,
)
from penstock.mechanisms.generalized_gaussian.loss_distribution import (
    Shifted,
    epsilon_of,
    rough_epsilon,
)
from penstock.mechanisms.generalized_gaussian.tails import below
from penstock.mechanisms.lattice import (
    DEVIATIONS,
    LARGEST_STEPS,
    check_confidence,
    check_granularity,
    check_plan,
    finest_common_power,
    floor_log2,
    halfway_points,
    reaching_ladder,
    rounded_up,
)
from penstock.mechanisms.process import Distribution, IntVector, NumericalCharge, Whole
from penstock.privacy.guarantee import Cost, Definition, ErrorBars, Guarantee
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.randomness.generalized_gaussian import (
    ERROR,
    LARGEST_SCALE,
    check_power,
    generalized_gaussian,
)
from penstock.randomness.stream import Stream

ROOM_TO_RAISE = 8
"""The most accurate registered scale over that of rung 0."""

STEPS_A_SCALE = 10
"""Binary logarithm of the least number of lattice steps in the scale at rung 0."""

UNITS_A_STEP = 1 << 20
"""Scales are multiples of a lattice step divided by this."""


@dataclass(frozen=True)
class GeneralizedGaussian(Whole):
    """Draw generalized Gaussian noise; the level is the scale, in units of values.

    Every power has its own class, its *family*: ``GeneralizedGaussian.of(power)``.
    This class has the power 2, which is normal noise of variance ``scale^2 / 2``.
    """

    granularity: Fraction

    name: ClassVar[str] = "generalized_gaussian"
    parameter: ClassVar[str] = "scale"
    power: ClassVar[Fraction] = Fraction(2)

    def __post_init__(self) -> None:
        check_granularity(self.granularity)

    @staticmethod
    def of(power: Fraction | float | None) -> "type[GeneralizedGaussian]":
        """Return the family of one power.  Raises ``InvalidInput`` unless it is from 1 to 16."""
        if power is None:
            raise InvalidInput(
                "Generalized Gaussian noise needs its power p, from 1 to 16; 4 suits thousands"
                " of values.",
                pointer="/p",
            )
        if not math.isfinite(power):
            raise InvalidInput(f"The power p is a finite number, not {power}.", pointer="/p")
        exact = Fraction(power)
        check_power(exact)
        return _FAMILIES.of(exact)

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Choose the lattice and the ladder of a query; see ``Mechanism.plan``."""
        check_plan("scale", ceiling, bound)
        finest = ceiling / ROOM_TO_RAISE
        fine_enough = Fraction(2) ** (floor_log2(finest) - STEPS_A_SCALE)
        granularity = min(fine_enough, finest_common_power(step))
        widest = (LARGEST_STEPS * granularity - bound) / DEVIATIONS
        widest /= Fraction(standard_deviation(float(cls.power)))
        noisiest = min(widest, LARGEST_SCALE * granularity)
        if noisiest < ceiling:
            raise InvalidInput(
                f"Values up to {float(bound):g} and noise of scale {float(ceiling):g} do not"
                f" fit the integers in steps of {granularity}; choose a coarser step or a"
                " smaller bound."
            )
        unit = granularity / UNITS_A_STEP
        return cls(granularity), reaching_ladder(math.floor(finest / unit), unit, noisiest)

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        """Draw ``X(noisy)``, ``accurate`` being 0; see ``Mechanism.increment``.

        Raises ``InvalidInput`` for an ``accurate`` above 0, which has no increments, and
        for scales outside of 2^6 to 2^46 steps.
        """
        if accurate != 0:
            raise self._no_path()
        return generalized_gaussian(noisy / self.granularity, self.power, size, stream)

    def bridge(
        self,
        accurate: Fraction,  # noqa: ARG002 - no bridge exists for any arguments
        noisy: Fraction,  # noqa: ARG002
        difference: IntVector,  # noqa: ARG002
        level: Fraction,  # noqa: ARG002
        stream: Stream,  # noqa: ARG002
    ) -> NoReturn:
        """Raise ``InvalidInput``: releases at several levels are independent."""
        raise self._no_path()

    def bias(self, level: Fraction) -> Fraction:  # noqa: ARG002 - the protocol passes it
        """Return 0: the noise has mean 0 at any level."""
        return Fraction(0)

    def guarantee(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> Guarantee:
        """Return the guarantee at ``delta``, by the exact hockey-stick divergence.

        The shift is the worst under ``Delta1`` and ``Dinf``, for every vector.  Raises
        ``InvalidInput`` for a ``delta`` outside of (0, 1).
        """
        epsilon = epsilon_of(self.worst_shift(level, sensitivity), delta)
        return Guarantee(Definition.APPROXIMATE, epsilon=epsilon, delta=delta)

    def rough_epsilon(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> float:
        """Return about the guarantee's epsilon, where a search for a level may begin."""
        return rough_epsilon(self.worst_shift(level, sensitivity), delta)

    def cost(self, level: Fraction, sensitivity: Sensitivity, order: float) -> Cost:
        """Return the exact Rényi divergence at the worst shift, with failure 0.

        A divergence is a mean of hockey-stick divergences over epsilons (Sason, Verdú 2016),
        and so largest at the same shift.
        """
        loss = math.fsum(
            kind.times * renyi_divergence(order, kind.power, kind.shift)
            for kind in self.worst_shift(level, sensitivity)
        )
        return Cost(loss=math.nextafter(loss, math.inf), failure=0.0)

    def worst_shift(self, level: Fraction, sensitivity: Sensitivity) -> tuple[Shifted, ...]:
        """Return the shift that loses most: how many values move, and how far in scales."""
        whole = sensitivity.l1 // sensitivity.linf
        rest = sensitivity.l1 - whole * sensitivity.linf
        power = float(self.power)
        kinds = [Shifted(power, rounded_up(sensitivity.linf / level), whole)]
        if rest:
            kinds.append(Shifted(power, rounded_up(rest / level), 1))
        return tuple(kinds)

    def numerical_charges(
        self,
        ladder: Ladder,  # noqa: ARG002 - the sampler is as good at every rung
        dimension: int,
        level_count: int,  # noqa: ARG002 - every level is a separate release, charged as such
        order: float,  # noqa: ARG002 - charged by probability alone
        epsilon: float,
    ) -> Sequence[NumericalCharge]:
        """Return the sampler's distance from its law over the ``dimension`` draws of a release.

        A law within ``tau`` of an ``(epsilon, delta)``-private one in total variation is
        ``(epsilon, delta + (1 + e^epsilon) tau)``-private.
        """
        inflation = 1 + math.exp(epsilon) if epsilon < 700 else math.inf
        return (NumericalCharge(1.0, inflation * dimension * ERROR),)

    def error(self, level: Fraction, confidence: float) -> ErrorBars:
        """Return the error bars of the lattice law; the interval ends on a lattice point.

        Raises ``InvalidInput`` for a confidence outside of (0, 1).
        """
        check_confidence(confidence)
        scale, step = float(level), float(self.granularity)
        # Rounding adds a twelfth of a step squared (Sheppard 1898).
        deviation = math.hypot(scale * standard_deviation(float(self.power)), step / math.sqrt(12))
        reach = scale * reach_of(float(self.power), confidence)
        return ErrorBars(deviation, confidence, math.ceil(reach / step - 0.5) * step)

    def distribution(self, level: Fraction) -> Distribution:
        """Return the law of rounded generalized Gaussian noise at ``level``."""
        scale, power = float(level), float(self.power)
        values = halfway_points(scale * reach_of(power, 1 - 1e-9), self.granularity)
        return Distribution(values, below(values / scale, power))

    def expected_maximum(self, level: Fraction, dimension: int) -> float:
        """Return the expected largest error of ``dimension`` values, in units of values."""
        return float(level) * expected_maximum(float(self.power), dimension)

    @classmethod
    def level_of_variance(cls, variance: float) -> float:
        """Estimate the scale that loses as much as Gaussian noise of ``variance``."""
        return math.sqrt(variance * information(float(cls.power)))

    def _no_path(self) -> InvalidInput:
        return InvalidInput(
            f"Generalized Gaussian noise of power {float(self.power):g} has no lossless levels: no"
            " release can be drawn from another one. Draw each around the exact values and add up"
            " what they lose, or take power 2 (gaussian) or 1 (laplace)."
        )


def _family(power: Fraction) -> type[GeneralizedGaussian]:
    members = {"power": power, "__doc__": f"Generalized Gaussian noise of power {power}."}
    return type(f"GeneralizedGaussian_{power}", (GeneralizedGaussian,), members)


_FAMILIES = Families(_family)
