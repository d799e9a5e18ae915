"""Release generalized Gaussian counts, and answer the worst few of them again.

The second mechanism of Ganesh, Zhao 2021 (*Privately Answering Counting Queries with
Generalized Gaussian Mechanisms*), after Steinke, Ullman 2017.  All values are released with
generalized Gaussian noise; the sparse vector technique then looks for at most ``cutoff`` of
them whose answer is off by more than a threshold, and these are answered once more.  One
privacy unit moves the gap between a value and its public answer by at most as much as the
value itself, upwards or downwards, whatever the answer is.

What is proved.  Given the answers the search is purely private, and every such mechanism is
dominated by randomized response of its epsilon (Kairouz, Oh, Viswanath 2015).  Given answers
and places, what is answered again is generalized Gaussian noise on at most ``cutoff`` values.
The product of dominating pairs dominates adaptive composition (Zhu, Dong, Wang 2022), so that
the divergence of all three steps at ``epsilon`` is, ``s`` being the search's epsilon,

    D(epsilon - s) e^s / (1 + e^s) + D(epsilon + s) / (1 + e^s),

``D`` being that of all noisy values together at their worst shifts. It is never above that of the
simple sum, ``D(epsilon - s)``.

There are no tiers.  Where the search ends and what it finds depend on the exact values, and
noise of powers other than 1 and 2 has no path between levels; two such releases are independent
and their losses add up.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms.generalized_gaussian.law import standard_deviation
from penstock.mechanisms.generalized_gaussian.loss_distribution import Shifted, delta_of, epsilon_of
from penstock.mechanisms.generalized_gaussian.mechanism import STEPS_A_SCALE, GeneralizedGaussian
from penstock.mechanisms.generalized_gaussian.sparse_vector import SparseVector
from penstock.mechanisms.generalized_gaussian.sparse_vector_error import (
    Noise,
    Search,
    expected_maximum,
)
from penstock.mechanisms.lattice import (
    DEVIATIONS,
    LARGEST_STEPS,
    finest_common_power,
    floor_log2,
    lattice_steps,
    rounded_up,
)
from penstock.mechanisms.process import IntVector
from penstock.privacy.guarantee import Definition, Guarantee
from penstock.privacy.sensitivity import Sensitivity
from penstock.randomness.generalized_gaussian import ERROR, LARGEST_SCALE
from penstock.randomness.stream import Stream

_BEYOND: Final = 2.0**-1000
"""More than the chance that noise of a threshold leaves 2^60 steps: ``exp(-2^19)``."""

_TRIES: Final = 24
_CLOSE: Final = 1e-6


class Corrected(NamedTuple):
    """Hold values in their own units, and the places that were answered again: both public."""

    values: NDArray[np.float64]
    anew: IntVector


@dataclass(frozen=True)
class SparseVectorCorrection:
    """Release many values once: ``first`` for all, ``search``, and ``anew`` for a few.

    Scales are in units of values, the numbers of ``search`` in steps of the common granularity.
    """

    first: GeneralizedGaussian
    scale: Fraction
    search: SparseVector
    anew: GeneralizedGaussian
    anew_scale: Fraction
    sensitivity: Sensitivity

    def __post_init__(self) -> None:
        """Raise ``InvalidInput`` for two lattices, and if ``search`` has too small a shift."""
        step = self.first.granularity
        if self.anew.granularity != step:
            raise InvalidInput(
                f"First and new answers lie on one lattice, not on steps of {step} and"
                f" {self.anew.granularity}."
            )
        moved = self.sensitivity.linf // step
        if not 1 <= moved <= self.search.shift:
            raise InvalidInput(
                f"A linf sensitivity of {float(self.sensitivity.linf):g} is {moved} whole lattice"
                f" steps of {step}, and the search is private for 1 to {self.search.shift}; state"
                " both alike, in whole steps."
            )

    @classmethod
    def plan(
        cls,
        first: tuple[Fraction, Fraction],
        search: tuple[Fraction, int, Fraction, Fraction],
        anew: tuple[Fraction, Fraction],
        sensitivity: Sensitivity,
        *,
        step: Fraction,
        bound: Fraction,
    ) -> Self:
        """Choose a lattice that is fine enough for both noises, from public numbers alone.

        ``first`` and ``anew`` are power and scale of the noise of all values and of those
        answered again; ``search`` is threshold, cutoff, and epsilon of threshold and of values.
        ``step`` is the spacing of the exact values, ``bound`` the largest absolute one.  Raises
        ``InvalidInput`` if values, noise or search do not fit the integers.
        """
        least, most = sorted((first[1], anew[1]))
        if least <= 0 or bound < 0:
            raise InvalidInput(
                f"Scales are above 0 and a bound is at least 0, not {float(first[1]):g},"
                f" {float(anew[1]):g} and {float(bound):g}."
            )
        threshold, cutoff, *epsilons = search
        families = [GeneralizedGaussian.of(power) for power, _ in (first, anew)]
        fine_enough = Fraction(2) ** (floor_log2(least) - STEPS_A_SCALE)
        granularity = min(fine_enough, finest_common_power(step))
        widest = max(scale * Fraction(standard_deviation(float(p))) for p, scale in (first, anew))
        if bound + DEVIATIONS * widest > LARGEST_STEPS * granularity or (
            most > LARGEST_SCALE * granularity
        ):
            raise InvalidInput(
                f"Values up to {float(bound):g} and noise of scale {float(most):g} do not fit the"
                f" integers in steps of {granularity}; choose a coarser step, a smaller bound, or"
                " scales that are closer to each other."
            )
        moved = max(sensitivity.linf // granularity, 1)
        return cls(
            first=families[0](granularity),
            scale=first[1],
            search=SparseVector(moved, round(threshold / granularity), cutoff, *epsilons),
            anew=families[1](granularity),
            anew_scale=anew[1],
            sensitivity=sensitivity,
        )

    def release(self, values: ArrayLike, stream: Stream) -> Corrected:
        """Return the whole release; ``values`` has shape ``(size,)`` and lies on the lattice.

        Every call is a separate release, with its own charge.  Raises ``InvalidInput``
        for fewer values than the cutoff and for values off the lattice.
        """
        exact = lattice_steps(values, self.first.granularity)
        if len(exact) < self.search.cutoff:
            raise InvalidInput(
                f"The cutoff of {self.search.cutoff} is above the number of values,"
                f" {len(exact)}; take a smaller cutoff."
            )
        answers = exact + self.first.increment(Fraction(0), self.scale, len(exact), stream)
        places = self.search.above(np.abs(exact - answers), stream)
        again = self.anew.increment(Fraction(0), self.anew_scale, self.search.cutoff, stream)
        answers[places] = exact[places] + again[: len(places)]
        released = answers.astype(np.float64)
        released *= float(self.first.granularity)
        return Corrected(released, places)

    def delta(self, epsilon: float) -> float:
        """Return the delta of the three steps at ``epsilon``, never below the true figure."""
        search = rounded_up(self.search.epsilon)
        likely = 1 / (1 + math.exp(-search))
        return likely * self._divergence(epsilon - search) + (1 - likely) * self._divergence(
            epsilon + search
        )

    def guarantee(self, delta: float) -> Guarantee:
        """Return the least epsilon at ``delta``, rounded up; at most the sum of the parts'.

        Raises ``InvalidInput`` for a ``delta`` outside of (0, 1).
        """
        low = epsilon_of(self._shifted, delta)
        high = low + rounded_up(self.search.epsilon)
        above, below = (math.log(self.delta(at) / delta) for at in (low, high))
        for _ in range(_TRIES):
            if high - low <= _CLOSE * high or not above > 0 > below:
                break
            middle = low + (high - low) * min(max(above / (above - below), 0.01), 0.99)
            excess = math.log(self.delta(middle) / delta)
            # The Illinois rule: an end that stays counts half.
            if excess > 0:
                low, above, below = middle, excess, below / 2
            else:
                high, below, above = middle, excess, above / 2
        return Guarantee(Definition.APPROXIMATE, epsilon=high, delta=delta)

    def numerical_charge(self, dimension: int, epsilon: float) -> float:
        """Return how much the samplers' errors add to delta in a release of ``dimension`` values.

        Both generalized Gaussian draws are within ``ERROR`` of their law; those of the search are
        exact except that noise ends at 2^61 steps, which gives the same decisions as unbounded
        noise unless that of the threshold is beyond 2^60.
        """
        distance = (dimension + self.search.cutoff) * ERROR + _BEYOND
        return (1 + math.exp(epsilon)) * distance if epsilon < 700 else math.inf

    def expected_maximum(self, dimension: int) -> float:
        """Return the expected largest error of ``dimension`` values, in units of values."""
        step = float(self.first.granularity)
        return expected_maximum(
            dimension,
            Noise(float(self.first.power), float(self.scale)),
            Search(
                self.search.threshold * step,
                float(self.search.threshold_scale) * step,
                float(self.search.query_scale) * step,
                self.search.cutoff,
            ),
            Noise(float(self.anew.power), float(self.anew_scale)),
        )

    @cached_property
    def _shifted(self) -> tuple[Shifted, ...]:
        """Return the worst shifts of all values, and of those that are answered again."""
        few = self.search.cutoff * self.sensitivity.linf
        of_few = Sensitivity(
            min(self.sensitivity.l1, few),
            min(self.sensitivity.l2_squared, few * self.sensitivity.linf),
            self.sensitivity.linf,
        )
        return (
            *self.first.worst_shift(self.scale, self.sensitivity),
            *self.anew.worst_shift(self.anew_scale, of_few),
        )

    def _divergence(self, epsilon: float) -> float:
        """Return the divergence of all noisy values; symmetric noise has the same both ways."""
        at = abs(epsilon)
        delta = delta_of(self._shifted, at)
        return delta if epsilon >= 0 else math.exp(epsilon) * delta - math.expm1(epsilon)
