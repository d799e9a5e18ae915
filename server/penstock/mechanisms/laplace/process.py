"""Draw Laplace noise on the lattice: a process that moves by rare jumps.

From scale ``a`` to ``b`` the noise stays unchanged with probability ``w(a, b)``; otherwise a
discrete Laplace draw of scale ``b`` is added (the continuous form is Andersson, Retschmeier,
Nelson, Pagh 2025, Lemma F.5).  "Unchanged" means equality of integers, on which the guarantee for
several readers depends: if equal releases were ever distinguished, it would be by more than the
noise.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.laplace.law import Bridge, half_width_steps, renyi_divergence, unchanged
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
from penstock.mechanisms.shifts import Shifts
from penstock.privacy.guarantee import Cost, Definition, ErrorBars, Guarantee
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.randomness.bernoulli import CHUNK, PRECISION, THRESHOLD_BITS, Threshold, bernoulli
from penstock.randomness.geometric import ERROR as GEOMETRIC_ERROR
from penstock.randomness.geometric import Geometric
from penstock.randomness.pieces import in_pieces
from penstock.randomness.stream import Stream

ROOM_TO_RAISE = 8
"""The ceiling's scale over that of rung 0."""

STEPS_A_SCALE = 10
"""Binary logarithm of the least number of lattice steps in the scale at rung 0."""

UNITS_A_STEP = 1 << 20
"""Scales are multiples of a lattice step divided by this."""

LARGEST_SCALE = 1 << 41
"""In steps.  A draw is then within 2^49 steps, and 4,096 chained draws within int64."""

SMALLEST_SCALE = Fraction(1, 32)
"""In steps, on the lattice of the values: noise is then 0 except with probability 2.6e-14."""

_SCALES = 22
"""Noise is further than so many scales from 0 with probability 3e-10."""

_EVENTS_A_DRAW = 4
"""Events besides the digits of two geometric draws, at most."""


@dataclass(frozen=True)
class Laplace(Whole):
    """Draw discrete Laplace noise; the level is the scale ``b``, in units of values.

    ``P(X = k g)`` is proportional to ``exp(-|k| g / b)``, ``g`` being the granularity.
    """

    granularity: Fraction

    name: ClassVar[str] = "laplace"
    parameter: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        check_granularity(self.granularity)

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Choose the lattice and the ladder of a query; see ``Mechanism.plan``."""
        check_plan("scale", ceiling, bound)
        fine_enough = Fraction(2) ** (floor_log2(ceiling / ROOM_TO_RAISE) - STEPS_A_SCALE)
        return cls._planned(min(fine_enough, finest_common_power(step)), ceiling, bound)

    @classmethod
    def _planned(
        cls, granularity: Fraction, ceiling: Fraction, bound: Fraction
    ) -> tuple[Self, Ladder]:
        finest = ceiling / ROOM_TO_RAISE
        # Two decimals above the square root of 2, the standard deviation at scale 1.
        widest = (LARGEST_STEPS * granularity - bound) / DEVIATIONS / Fraction("1.42")
        noisiest = min(widest, LARGEST_SCALE * granularity)
        if noisiest < ceiling:
            raise InvalidInput(
                f"Values up to {float(bound):g} and noise of scale {float(ceiling):g} do not"
                f" fit the integers in steps of {granularity}; choose a coarser step or a"
                " smaller bound."
            )
        unit = min(granularity, Fraction(2) ** floor_log2(finest)) / UNITS_A_STEP
        return cls(granularity), reaching_ladder(math.floor(finest / unit), unit, noisiest)

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

        Raises ``InvalidInput`` as ``increment`` does.
        """
        check_increasing(accurate, level, noisy)
        first = self._rate(accurate) if accurate else None
        rule = _bridge_rule(first, self._rate(level), self._rate(noisy))
        out = np.zeros(len(difference), dtype=np.int64)

        def piece(at: slice, stream: Stream) -> None:
            for start in range(at.start, at.stop, CHUNK):
                chunk = slice(start, min(start + CHUNK, at.stop))
                rule.fill(difference[chunk], out[chunk], stream)

        in_pieces(len(out), piece, stream)
        return out

    def bias(self, level: Fraction) -> Fraction:  # noqa: ARG002 - the protocol passes it
        """Return 0: the noise has mean 0 at any level."""
        return Fraction(0)

    def guarantee(
        self,
        level: Fraction,
        sensitivity: Sensitivity,
        delta: float,  # noqa: ARG002 - a pure guarantee is the same at every delta
    ) -> Guarantee:
        """Return pure ``Delta1 / b``, on the lattice too (Dwork, McSherry, Nissim, Smith 2006)."""
        return Guarantee(Definition.PURE, epsilon=rounded_up(sensitivity.l1 / level), delta=0.0)

    def cost(self, level: Fraction, sensitivity: Sensitivity, order: float) -> Cost:
        """Return the exact divergence of the lattice law under the worst shift, with failure 0.

        The divergence is convex in the shift of a coordinate (the logarithm of a sum of
        exponentials of it), so the worst vector within ``Delta1`` has as many coordinates
        at ``Delta_inf`` as fit, and one with the rest.  Per unit of shift it is concave:
        by Jensen's inequality vectors within ``Delta2`` lose at most what ``Delta1 / s``
        shifts of ``s = Delta2^2 / Delta1`` would.  If ``s`` is below a step of the lattice, its
        place is taken by one step, and that of ``Delta1`` by ``Delta2^2`` over a step: whole steps
        have no larger sum, as none is above its square.  The least is returned of these and, if
        shifts are few steps, of the largest sum over vectors of whole steps (``Shifts``).
        """
        if math.isinf(order):
            return Cost(loss=rounded_up(sensitivity.l1 / level), failure=0.0)
        step = float(self.granularity / level)

        def divergence(shift: Fraction) -> float:
            return renyi_divergence(order, rounded_up(shift / level), step)

        whole = sensitivity.l1 // sensitivity.linf
        rest = sensitivity.l1 - whole * sensitivity.linf
        loss = whole * divergence(sensitivity.linf) + (divergence(rest) if rest else 0.0)
        unit = self.granularity
        if sensitivity.l2_squared < sensitivity.l1 * sensitivity.linf and unit <= sensitivity.linf:
            even = max(sensitivity.l2_squared / sensitivity.l1, unit)
            loss = min(loss, rounded_up(sensitivity.l2_squared / even**2) * divergence(even))
            loss = min(loss, _of_whole_steps(sensitivity, unit, divergence))
        return Cost(loss=min(loss, rounded_up(sensitivity.l1 / level)), failure=0.0)

    def numerical_charges(
        self,
        ladder: Ladder,  # noqa: ARG002 - thresholds are as long at every rung
        dimension: int,
        level_count: int,
        order: float,
        epsilon: float,
    ) -> Sequence[NumericalCharge]:
        """Charge only for the rounding of thresholds to multiples of 2^-192.

        A draw is two geometric ones and up to four events, each within ``tau`` of its law
        in total variation; over draws that adds up, given all earlier ones.  A law within
        ``tau`` of an ``(epsilon, delta)``-private one is
        ``(epsilon, delta + (1 + e^epsilon) tau)``-private.  No float takes part in a draw.

        At infinite order, where no failure is allowed, none is charged either: the thresholds go on
        for as long as it takes (``Threshold``, ``Geometric.at_rate``), so that a draw has its law,
        on all integers.  For finite orders the charge covers what would be lost if they did not.
        """
        if math.isinf(order):
            return (NumericalCharge(1.0, 0.0),)
        events = _EVENTS_A_DRAW * 2.0 ** -(THRESHOLD_BITS + 1)
        distance = dimension * level_count * (2 * GEOMETRIC_ERROR + events)
        inflation = 1 + math.exp(epsilon) if epsilon < 700 else math.inf
        return (NumericalCharge(1.0, inflation * distance),)

    def error(self, level: Fraction, confidence: float) -> ErrorBars:
        """Return the error bars of the lattice law; the interval ends on a lattice point.

        Raises ``InvalidInput`` for a confidence outside of (0, 1).
        """
        check_confidence(confidence)
        unit, step = float(self.granularity), float(self.granularity / level)
        # the variance is 2p / (1-p)^2
        deviation = unit / (math.sqrt(2) * math.sinh(step / 2)) if step < 700 else 0.0
        return ErrorBars(deviation, confidence, half_width_steps(step, confidence) * unit)

    def distribution(self, level: Fraction) -> Distribution:
        """Return the law of discrete Laplace noise at ``level``."""
        scale, step = float(level), float(self.granularity / level)
        values = halfway_points(_SCALES * scale, self.granularity)
        # P(X > k) = p^(k+1) / (1 + p) from k = -1 on, and k is half a step below the value
        tails = np.exp(-np.abs(values) / scale - step / 2) / (1 + math.exp(-step))
        return Distribution(values, np.where(values > 0, 1 - tails, tails))

    def _rate(self, level: Fraction) -> Fraction:
        """Return ``ln(1/p)`` at ``level``."""
        if level > LARGEST_SCALE * self.granularity:
            raise InvalidInput(
                f"A scale of {float(level):g} is above 2^41 steps of {self.granularity}, where"
                " sums of draws could leave the integers; choose a coarser granularity."
            )
        return self.granularity / level


def _of_whole_steps(
    sensitivity: Sensitivity, unit: Fraction, divergence: Callable[[Fraction], float]
) -> float:
    shifts = Shifts.of(sensitivity, unit)
    return shifts.largest_sum(lambda steps: divergence(steps * unit))


@dataclass(frozen=True)
class DiscreteLaplace(Laplace):
    """Draw Laplace noise on the lattice of the values.

    For integers it has granularity 1 and gives integers.  Its guarantee is the same; if a scale is
    few steps, its Rényi divergence is up to a tenth above the continuous law's.
    """

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Choose the lattice and the ladder of a query; see ``Mechanism.plan``."""
        granularity = finest_common_power(step)
        if ceiling < SMALLEST_SCALE * granularity or bound < 0:
            raise InvalidInput(
                f"On the lattice of the values, multiples of {granularity}, a scale is at least"
                f" {float(SMALLEST_SCALE * granularity):g} and a bound at least 0, not"
                f" {float(ceiling):g} and {float(bound):g}; take more noise, or leave the"
                " granularity out."
            )
        return cls._planned(granularity, ceiling, bound)


@dataclass(frozen=True)
class _StepRule:
    """Hold the thresholds of an increment: 0, or ``1 + G`` in either direction."""

    moves: int
    far: Geometric

    def fill(self, out: IntVector, stream: Stream) -> None:
        moved = np.flatnonzero(bernoulli(self.moves, len(out), stream))
        size = self.far.draw(len(moved), stream)
        size += 1
        out[moved] = _either_sign(size, stream)


@dataclass(frozen=True)
class _BridgeRule:
    """Hold the thresholds of ``Bridge``, each given that the ones before it did not decide."""

    parted: int
    forward: int
    backward: int
    arrived: int
    inner: Geometric
    outer: Geometric

    def fill(self, difference: IntVector, out: IntVector, stream: Stream) -> None:
        together = np.flatnonzero(difference == 0)
        together = together[bernoulli(self.parted, len(together), stream)]
        beside = self.outer.draw(len(together), stream)
        beside += 1
        out[together] = _either_sign(beside, stream)

        apart = np.flatnonzero(difference)
        ahead = bernoulli(self.forward, len(apart), stream)
        self._forward(apart[ahead], difference, out, stream)
        right = apart[~ahead]
        right = right[bernoulli(self.backward, len(right), stream)]
        back = self.outer.draw(len(right), stream)
        back += 1
        out[right] = np.where(difference[right] > 0, -back, back)

    def _forward(
        self, at: IntVector, difference: IntVector, out: IntVector, stream: Stream
    ) -> None:
        goal = difference[at]
        length = np.abs(goal)
        way = self.inner.draw(len(at), stream)
        over = np.flatnonzero(way > length)
        way[over] = length[over]
        over = over[~bernoulli(self.arrived, len(over), stream)]
        way[over] += self.outer.draw(len(over), stream) + 1
        out[at] = np.where(goal > 0, way, -way)


def _either_sign(size: IntVector, stream: Stream) -> IntVector:
    """Return ``size`` with fair signs, by two's complement: ``-x = ~x + 1``."""
    flip = np.empty(len(size), dtype=np.int8)
    stream.raw_into(flip)
    flip >>= 7
    size ^= flip
    size -= flip
    return size


@lru_cache(maxsize=512)
def _step_rule(accurate: Fraction | None, noisy: Fraction) -> _StepRule:
    def moves() -> Decimal:
        p, q = _parameter(accurate), _parameter(noisy)
        return (1 - unchanged(p, q)) * 2 * q / (1 + q)

    with localcontext(PRECISION):
        return _StepRule(Threshold.of(moves(), moves), Geometric.at_rate(noisy))


@lru_cache(maxsize=512)
def _bridge_rule(accurate: Fraction | None, level: Fraction, noisy: Fraction) -> _BridgeRule:
    def between() -> Bridge[Decimal]:
        return Bridge.between(_parameter(accurate), _parameter(level), _parameter(noisy))

    def exact(chance: Callable[[Bridge[Decimal]], Decimal]) -> Threshold:
        return Threshold.of(chance(law), lambda: chance(between()))

    with localcontext(PRECISION):
        law = between()
        return _BridgeRule(
            parted=exact(lambda law: law.parted),
            forward=exact(lambda law: 1 - law.still - law.backward),
            backward=exact(lambda law: law.backward / (law.still + law.backward)),
            arrived=exact(lambda law: law.arrived),
            inner=Geometric.at_rate(level - noisy),
            outer=Geometric.at_rate(level + noisy),
        )


def _parameter(rate: Fraction | None) -> Decimal:
    if rate is None:
        return Decimal(0)
    return (Decimal(-rate.numerator) / Decimal(rate.denominator)).exp()
