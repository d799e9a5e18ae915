"""Draw exponential noise on the lattice: a process that only rises, by rare jumps.

From scale ``a`` to ``b`` the noise stays unchanged with a probability near ``a/b``; otherwise an
exponential draw of scale ``b`` is added to it (Andersson, Retschmeier, Nelson, Pagh 2025, Claim
F.7, of which this is the form on the integers).

Added to a value it is poor protection, and says so: a release below the neighbor's exact value
tells the two apart.  It is a part of other mechanisms, such as the largest of noisy scores (Ding,
Kifer, Saghaian, Steinke, Wang, Xiao, Zhang 2021), whose readers get nothing else.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.exponential.law import Bridge, half_width_steps, moved
from penstock.mechanisms.laplace.process import LARGEST_SCALE, Laplace
from penstock.mechanisms.lattice import (
    check_confidence,
    check_granularity,
    check_increasing,
    halfway_points,
    rounded_up,
)
from penstock.mechanisms.process import Distribution, IntVector, NumericalCharge, Whole
from penstock.privacy.guarantee import Cost, Definition, ErrorBars, Guarantee
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.randomness.bernoulli import CHUNK, PRECISION, THRESHOLD_BITS, Threshold, bernoulli
from penstock.randomness.geometric import ERROR as GEOMETRIC_ERROR
from penstock.randomness.geometric import Geometric
from penstock.randomness.pieces import in_pieces
from penstock.randomness.stream import Stream

_SCALES = 22
"""Noise is above so many scales with probability 3e-10."""

_SAFETY = 1e-15
"""A bound on the relative rounding error of a probability."""


@dataclass(frozen=True)
class Exponential(Whole):
    """Draw geometric noise; the level is the scale ``b``, in units of values.

    ``P(X = k g)`` is proportional to ``exp(-k g / b)`` for ``k >= 0``, ``g`` being the granularity.
    """

    granularity: Fraction

    name: ClassVar[str] = "exponential"
    parameter: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        check_granularity(self.granularity)

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Choose those of Laplace noise of this scale, which is wider; see ``Mechanism.plan``."""
        wider, ladder = Laplace.plan(ceiling, step, bound)
        return cls(wider.granularity), ladder

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        """Draw ``X(noisy) - X(accurate)``; see ``Mechanism.increment``.

        Raises ``InvalidInput`` for levels out of order or above 2^41 steps.
        """
        check_increasing(accurate, noisy)
        rule = _step_rule(self._rate(accurate) if accurate else None, self._rate(noisy))
        out = np.zeros(size, dtype=np.int64)

        def piece(at: slice, stream: Stream) -> None:
            for start in range(at.start, at.stop, CHUNK):
                rule.fill(out[start : min(start + CHUNK, at.stop)], stream)

        in_pieces(size, piece, stream)
        return out

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        """Draw ``X(level) - X(accurate)`` given ``difference``; see ``Mechanism.bridge``.

        Raises ``InvalidInput`` as ``increment`` does, and for a negative difference, which two
        releases of one query never have.
        """
        check_increasing(accurate, level, noisy)
        if len(difference) and int(difference.min()) < 0:
            raise InvalidInput("Exponential noise only rises, and a difference is below 0.")
        first = self._rate(accurate) if accurate else None
        rule = _bridge_rule(first, self._rate(level), self._rate(noisy))
        out = np.zeros(len(difference), dtype=np.int64)

        def piece(at: slice, stream: Stream) -> None:
            for start in range(at.start, at.stop, CHUNK):
                chunk = slice(start, min(start + CHUNK, at.stop))
                rule.fill_within(difference[chunk], out[chunk], stream)

        in_pieces(len(out), piece, stream)
        return out

    def bias(self, level: Fraction) -> Fraction:
        """Return the mean of the lattice law, ``g / (exp(g/b) - 1)``, to 100 digits."""
        with localcontext(PRECISION):
            p = _parameter(self._rate(level))
            return self.granularity * Fraction(p / (1 - p))

    def guarantee(self, level: Fraction, sensitivity: Sensitivity, delta: float) -> Guarantee:
        """Return epsilon 0 if ``delta`` is at least ``1 - exp(-Delta1/b)``, and infinity below it.

        Let the exact values of one dataset be above its neighbor's by ``u`` in sum in some places,
        and below by ``v`` in sum in the others.  Its releases leave the neighbor's range, below an
        exact value of it, with probability ``1 - exp(-v/b)``.  All others are ``exp((u-v)/b)``
        times as likely as the neighbor's, so that an epsilon needs the delta
        ``max(1 - exp(-v/b), 1 - exp(epsilon - u/b))``: the most is where ``v`` is ``Delta1``.
        """
        distance = self._beyond(level, sensitivity)
        epsilon = 0.0 if distance <= delta else math.inf
        return Guarantee(Definition.APPROXIMATE, epsilon=epsilon, delta=delta)

    def cost(self, level: Fraction, sensitivity: Sensitivity, order: float) -> Cost:  # noqa: ARG002
        """Return the loss ``Delta1/b``, the same at every order, and the chance to leave the range.

        Within the range of both neighbors the ratio of their chances is the same everywhere, and at
        most ``exp(Delta1/b)`` (see ``guarantee``).
        """
        loss = rounded_up(sensitivity.l1 / level)
        return Cost(loss=loss, failure=self._beyond(level, sensitivity))

    def numerical_charges(
        self,
        ladder: Ladder,  # noqa: ARG002 - thresholds are as long at every rung
        dimension: int,
        level_count: int,
        order: float,
        epsilon: float,
    ) -> Sequence[NumericalCharge]:
        """Charge for thresholds as ``Laplace`` does: a draw is a geometric one and an event."""
        if math.isinf(order):
            return (NumericalCharge(1.0, 0.0),)
        distance = dimension * level_count * (GEOMETRIC_ERROR + 2.0 ** -(THRESHOLD_BITS + 1))
        inflation = 1 + math.exp(epsilon) if epsilon < 700 else math.inf
        return (NumericalCharge(1.0, inflation * distance),)

    def error(self, level: Fraction, confidence: float) -> ErrorBars:
        """Return the error bars of the law around its mean, which ``bias`` subtracts.

        Raises ``InvalidInput`` for a confidence outside of (0, 1).
        """
        check_confidence(confidence)
        unit, step = float(self.granularity), float(self.granularity / level)
        # the variance is p / (1-p)^2
        deviation = unit / (2 * math.sinh(step / 2)) if step < 700 else 0.0
        return ErrorBars(deviation, confidence, half_width_steps(step, confidence) * unit)

    def distribution(self, level: Fraction) -> Distribution:
        """Return the law of the noise less its mean at ``level``."""
        scale, unit = float(level), float(self.granularity)
        points = halfway_points(_SCALES * scale, self.granularity)
        values = np.concatenate(([-unit / 2], points[points > 0]))
        # P(X > k) = p^(k+1) from k = -1 on, and k is half a step below the value
        at_most = -np.expm1(-(values + unit / 2) / scale)
        return Distribution(values - float(self.bias(level)), at_most)

    def _beyond(self, level: Fraction, sensitivity: Sensitivity) -> float:
        return -math.expm1(-rounded_up(sensitivity.l1 / level)) * (1 + _SAFETY)

    def _rate(self, level: Fraction) -> Fraction:
        """Return ``ln(1/p)`` at ``level``."""
        if level > LARGEST_SCALE * self.granularity:
            raise InvalidInput(
                f"A scale of {float(level):g} is above 2^41 steps of {self.granularity}, where"
                " sums of draws could leave the integers; choose a coarser granularity."
            )
        return self.granularity / level


@dataclass(frozen=True)
class _StepRule:
    """Hold the threshold of an increment: 0, or ``1 + G``."""

    moves: int
    far: Geometric

    def fill(self, out: IntVector, stream: Stream) -> None:
        places = np.flatnonzero(bernoulli(self.moves, len(out), stream))
        out[places] = self.far.draw(len(places), stream) + 1

    def fill_within(self, difference: IntVector, out: IntVector, stream: Stream) -> None:
        """Fill ``out`` where ``difference`` is not 0, and with no more than it is."""
        apart = np.flatnonzero(difference)
        places = apart[bernoulli(self.moves, len(apart), stream)]
        way = self.far.draw(len(places), stream) + 1
        out[places] = np.minimum(way, difference[places])


@lru_cache(maxsize=512)
def _step_rule(accurate: Fraction | None, noisy: Fraction) -> _StepRule:
    def moves() -> Decimal:
        return moved(_parameter(accurate), _parameter(noisy))

    with localcontext(PRECISION):
        return _StepRule(Threshold.of(moves(), moves), Geometric.at_rate(noisy))


@lru_cache(maxsize=512)
def _bridge_rule(accurate: Fraction | None, level: Fraction, noisy: Fraction) -> _StepRule:
    def left() -> Decimal:
        return Bridge.between(_parameter(accurate), _parameter(level), _parameter(noisy)).left

    with localcontext(PRECISION):
        return _StepRule(Threshold.of(left(), left), Geometric.at_rate(level - noisy))


def _parameter(rate: Fraction | None) -> Decimal:
    if rate is None:
        return Decimal(0)
    return (Decimal(-rate.numerator) / Decimal(rate.denominator)).exp()
