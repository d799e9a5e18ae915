"""Draw Gaussian noise on the lattice: Brownian motion in the variance.

``X(b) - X(a)`` is ``N(0, b - a)``, and given its value ``v`` the part up to ``t`` is ``N(v
(t-a)/(b-a), (t-a)(b-t)/(b-a))`` (Andersson, Retschmeier, Nelson, Pagh 2025, Lemma 3.3, after time
inversion).  On the integers both are discrete Gaussians with real centers: these are closed under
convolution and bridging up to ``4 exp(-2 pi^2 s^2)`` in log-probability, ``s`` being the standard
deviation of the narrowest draw in steps, which is negligible at 2^8.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import ClassVar, Self

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import check_delta, epsilon_at
from penstock.mechanisms.lattice import (
    DEVIATIONS,
    LARGEST_STEPS,
    check_confidence,
    check_granularity,
    check_increasing,
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
from penstock.randomness.normal import rounded_bridge, rounded_normal
from penstock.randomness.stream import Stream

ROOM_TO_RAISE = 64
"""The ceiling's variance over that of rung 0: an eighth of the standard deviation."""

STEPS_A_DEVIATION = 14
"""Binary logarithm of the least number of steps in one standard deviation at rung 0.

Adjacent rungs then leave a bridge of at least ``2^14 2^-5.5 > 2^8`` steps.
"""

HIGHEST_ORDER = 2.0**10
"""The Rényi order up to which the sampler's divergence from the ideal law is bounded."""

DEVIATIONS_CLAIMED = 10
"""The number of standard deviations beyond which nothing is claimed of the sampler."""


TAIL_A_DRAW = 2.0**-75
"""The failure for each draw, which may be where nothing is claimed."""

LOSS_A_DRAW = 2.0**-59
"""The loss for each draw, times a part that depends on the order: see ``numerical_charges``."""


@dataclass(frozen=True)
class Gaussian(Whole):
    """Draw discrete Gaussian noise; the level is the variance, in squared units of values."""

    granularity: Fraction

    name: ClassVar[str] = "gaussian"
    parameter: ClassVar[str] = "variance"

    def __post_init__(self) -> None:
        check_granularity(self.granularity)

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Choose the lattice and the ladder of a query; see ``Mechanism.plan``."""
        check_plan("variance", ceiling, bound)
        finest = ceiling / ROOM_TO_RAISE
        fine_enough = Fraction(2) ** (floor_log2(finest) // 2 - STEPS_A_DEVIATION)
        granularity = min(fine_enough, finest_common_power(step))
        unit = granularity * granularity
        deviation = (LARGEST_STEPS * granularity - bound) / DEVIATIONS
        if deviation <= 0 or deviation * deviation < ceiling:
            raise InvalidInput(
                f"Values up to {float(bound):g} and noise of variance {float(ceiling):g} do not"
                f" fit 2^52 steps of {granularity}; choose a coarser step or a smaller bound."
            )
        return cls(granularity), reaching_ladder(
            math.floor(finest / unit), unit, deviation * deviation
        )

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        """Draw ``X(noisy) - X(accurate)``; see ``Mechanism.increment``.

        Raises ``InvalidInput`` for levels out of order, and for levels that leave a standard
        deviation of less than 2^8 steps.
        """
        check_increasing(accurate, noisy)
        return rounded_normal(self._in_steps(noisy - accurate), size, stream)

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        """Draw ``X(level) - X(accurate)`` given ``difference``; see ``Mechanism.bridge``.

        Raises ``InvalidInput`` as ``increment`` does.
        """
        check_increasing(accurate, level, noisy)
        weight = (level - accurate) / (noisy - accurate)
        return rounded_bridge(difference, weight, self._in_steps(weight * (noisy - level)), stream)

    def bias(self, level: Fraction) -> Fraction:  # noqa: ARG002 - the protocol passes it
        """Return 0: the noise has mean 0 at any level."""
        return Fraction(0)

    def guarantee(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> Guarantee:
        """Return the guarantee of one release, epsilon read from the analytic curve at ``delta``.

        ``rho = Delta2^2 / (2 level)`` holds on the lattice as it does for real noise
        (Canonne, Kamath, Steinke 2020, Theorem 4, added over coordinates).  ``mu``
        and the curve are those of real noise, which on the lattice are off by at most
        ``1 + 4 (g/sigma)^2`` in ``delta``: an engineering bound, subtracted before reading.
        Raises ``InvalidInput`` for a ``delta`` outside of (0, 1).
        """
        check_delta(delta)
        mu = math.sqrt(rounded_up(sensitivity.l2_squared / level))
        inflation = 1 + 4 * float(self.granularity**2 / level)
        return Guarantee(
            definition=Definition.ZCDP,
            epsilon=epsilon_at(delta / inflation, mu),
            delta=delta,
            rho=rounded_up(sensitivity.l2_squared / (2 * level)),
            mu=mu,
        )

    def cost(self, level: Fraction, sensitivity: Sensitivity, order: float) -> Cost:
        """Return ``order * rho``, and the chance that a value is beyond the neighbor's sampler.

        The discrete Gaussian itself is zCDP.  The sampler is not, since its values end 12 standard
        deviations from its center: values of one data set beyond that cannot be explained by its
        neighbor.  So values beyond 10 of the neighbor's deviations count as failure.  Their
        probability is convex in the shift of a coordinate, and bounded by l1 like a cost.
        """
        failure = _beyond_neighbor(level, sensitivity)
        if math.isinf(order):
            return Cost(loss=math.inf, failure=failure)
        loss = Fraction(order) * sensitivity.l2_squared / (2 * level)
        return Cost(loss=rounded_up(loss), failure=failure)

    def numerical_charges(
        self,
        ladder: Ladder,  # noqa: ARG002 - the bounds below hold at every rung
        dimension: int,
        level_count: int,
        order: float,
        epsilon: float,
    ) -> Sequence[NumericalCharge]:
        """Return two valid charges for ``n = dimension * level_count`` draws by floats.

        Engineering bounds.  Let ``1 + e(k)`` be the ratio of the drawn to the ideal
        probability of ``k``.  The rms of ``e`` is taken as ``eta = 2^-39``: the box of
        ``penstock.randomness.normal`` contributes ``2^-41.2``, centers and deviations
        stored in 53 bits and the grid of the normals less than ``2^-43``.  Beyond 10
        standard deviations nothing is claimed of ``e``; a draw gets there with
        probability ``2^-75.8``, so the failure is ``n TAIL_A_DRAW``.  ``cost`` charges
        for values within 10 deviations of their own center but not of the neighbor's.

        *Pinsker.*  The relative entropy of a draw is ``eta^2/2``; over draws it adds up
        (chain rule, each law given the earlier draws), so the total variation is at most
        ``sqrt(n eta^2 / 4) = sqrt(n) 2^-40``.  A law within total variation ``tau`` of an
        ``(epsilon, delta)``-private one is ``(epsilon, delta + (1 + e^epsilon) tau)``-private.

        *Hölder.*  Let ``P, Q`` be the drawn and ``P*, Q*`` the ideal laws on neighboring
        data, ``A = P/P*``, ``R = P*/Q*``, ``B = Q*/Q``, and ``a`` the order.  Then
        ``exp((a-1) D_a(P|Q)) = E_Q*[R^a A^a B^(a-1)]``, which Hölder's inequality with
        exponents ``v/(v-2), v, v`` bounds by moments of the orders ``a v`` of ``A``,
        ``(a-1) v + 1`` of ``B``, and ``a' = (a v - 1)/(v - 2)`` of ``R``.  Take
        ``a v = 2^10`` and write ``h = 2^-10 (a/(a-1) + 1)``.  Since ``D_a'(P*|Q*) =
        a' rho``, the moment of ``R`` gives ``1 + 2 a^2 / ((a-1) (2^10 - 2a)) - h`` times
        ``a rho`` at most; the other two give at most ``2^19 n eta^2 h = n h LOSS_A_DRAW``, the
        divergence of a draw from its ideal law being below ``order * eta^2 / 2``.  That is added
        to the loss, and ``h`` left out of the factor.  The order must be below 2^9.
        """
        draws = dimension * level_count
        tail = draws * TAIL_A_DRAW
        inflation = 1 + math.exp(epsilon) if epsilon < 700 else math.inf
        charges = [NumericalCharge(1.0, inflation * (math.sqrt(draws) * 2.0**-40 + tail))]
        if 1 < order < HIGHEST_ORDER / 2:
            spread = 2 * order**2 / ((order - 1) * (HIGHEST_ORDER - 2 * order))
            part = (order / (order - 1) + 1) / HIGHEST_ORDER
            charges.append(NumericalCharge(1 + spread, tail, draws * LOSS_A_DRAW * part))
        return tuple(charges)

    def error(self, level: Fraction, confidence: float) -> ErrorBars:
        """Return the error bars of the lattice law; the interval ends on a lattice point.

        Raises ``InvalidInput`` for a confidence outside of (0, 1).
        """
        check_confidence(confidence)
        deviation = math.sqrt(level)
        step = float(self.granularity)
        reach = -NormalDist().inv_cdf((1 - confidence) / 2) * deviation
        return ErrorBars(deviation, confidence, math.ceil(reach / step - 0.5) * step)

    def distribution(self, level: Fraction) -> Distribution:
        """Return the law of rounded normal noise at ``level``."""
        from scipy.special import ndtr  # imported late: slow to import

        deviation = math.sqrt(level)
        values = halfway_points(DEVIATIONS_CLAIMED * deviation, self.granularity)
        return Distribution(values, np.asarray(ndtr(values / deviation)))

    def _in_steps(self, variance: Fraction) -> Fraction:
        return variance / self._unit

    @cached_property
    def _unit(self) -> Fraction:
        return self.granularity * self.granularity


def _beyond_neighbor(level: Fraction, sensitivity: Sensitivity) -> float:
    """Return how much a shift raises the chance of any value beyond 10 deviations."""
    largest = math.sqrt(rounded_up(sensitivity.linf**2 / level))
    if largest >= DEVIATIONS_CLAIMED:
        return 1.0
    here, moved = (
        math.erfc((DEVIATIONS_CLAIMED - shift) / math.sqrt(2)) / 2 for shift in (0.0, largest)
    )
    return min(rounded_up(sensitivity.l1 / sensitivity.linf) * (moved - here), 1.0)
