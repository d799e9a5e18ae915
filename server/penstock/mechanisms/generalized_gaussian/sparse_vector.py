"""Find which few of many numbers are above a threshold: the sparse vector technique.

Lyu, Su, Li 2017 (*Understanding the Sparse Vector Technique for Differential Privacy*),
Algorithm 1 with their general split of the budget.  The threshold gets noise once, every
number gets its own noise, numbers are compared one after the other, and the search ends
with the ``cutoff``-th that is found.  Its loss does not grow with the number of numbers.

Everything is integers in lattice steps, with discrete Laplace noise.  The proof of the paper
holds unchanged.  Let neighbors differ by at most ``shift`` steps in every number, and let
the threshold's noise be ``z`` on one side and ``z + shift`` on the other, which costs
``exp(threshold_epsilon)``.  Whatever was below then stays below.  What was found is found
again if its own noise is ``2 shift`` higher, which costs ``exp(query_epsilon / cutoff)``
each, as tails of the discrete Laplace law fall by at most ``exp(-1 / scale)`` a step, and at
most ``cutoff`` are found.  Shifts are whole steps, so no rounding is involved.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.laplace.process import LARGEST_SCALE, Laplace
from penstock.mechanisms.lattice import LARGEST_STEPS
from penstock.mechanisms.process import IntVector
from penstock.randomness.stream import Stream

_STEPS: Final = Laplace(Fraction(1))


@dataclass(frozen=True)
class SparseVector:
    """Hold a search for at most ``cutoff`` numbers at or above ``threshold``.

    ``shift`` is the most by which one privacy unit may move a number.  Both are in lattice
    steps.  The whole search is purely ``epsilon``-private.
    """

    shift: int
    threshold: int
    cutoff: int
    threshold_epsilon: Fraction
    query_epsilon: Fraction

    def __post_init__(self) -> None:
        """Raise ``InvalidInput`` for parameters out of range, and for noise that is too wide."""
        if self.shift < 1 or self.cutoff < 1 or not 0 <= self.threshold <= LARGEST_STEPS:
            raise InvalidInput(
                "A search takes a shift and a cutoff of at least 1 and a threshold from 0 to 2^52"
                f" steps, not {self.shift}, {self.cutoff} and {self.threshold}."
            )
        if min(self.threshold_epsilon, self.query_epsilon) <= 0:
            raise InvalidInput(
                "Threshold and numbers both need noise, so both parts of epsilon are above 0, not"
                f" {float(self.threshold_epsilon):g} and {float(self.query_epsilon):g}."
            )
        widest = max(self.threshold_scale, self.query_scale)
        if widest > LARGEST_SCALE:
            raise InvalidInput(
                f"The search needs noise of scale {float(widest):g} lattice steps, and at most 2^41"
                " can be drawn; take a coarser step, a larger epsilon or a smaller cutoff."
            )

    @classmethod
    def of(cls, shift: int, threshold: int, cutoff: int, epsilon: Fraction | float) -> Self:
        """Divide ``epsilon`` into the parts that leave the comparisons the least noise.

        That is ``1 : (2 cutoff)^(2/3)``, which minimizes the variance of the difference between
        a number's noise and the threshold's.  Raises ``InvalidInput`` as the class does.
        """
        if not math.isfinite(epsilon) or cutoff < 1:
            raise InvalidInput(
                "An epsilon is a finite number and a cutoff at least 1, not"
                f" {float(epsilon):g} and {cutoff}."
            )
        whole = Fraction(epsilon)
        part = whole / Fraction(1 + (2 * cutoff) ** (2 / 3))
        return cls(shift, threshold, cutoff, part, whole - part)

    @property
    def epsilon(self) -> Fraction:
        """Return the most that the search loses, with delta 0."""
        return self.threshold_epsilon + self.query_epsilon

    @property
    def threshold_scale(self) -> Fraction:
        """Return the scale of the noise on the threshold, in steps."""
        return self.shift / self.threshold_epsilon

    @property
    def query_scale(self) -> Fraction:
        """Return the scale of the noise on every number, in steps."""
        return 2 * self.cutoff * self.shift / self.query_epsilon

    def above(self, values: IntVector, stream: Stream) -> IntVector:
        """Return the places above the threshold, rising; ``values`` has shape ``(size,)``."""
        raised = _STEPS.increment(Fraction(0), self.threshold_scale, 1, stream)
        noise = _STEPS.increment(Fraction(0), self.query_scale, len(values), stream)
        return self.places_above(values, raised, noise)

    def places_above(self, values: IntVector, raised: IntVector, noise: IntVector) -> IntVector:
        """Return ``above`` for given noise: ``raised`` on the threshold, shape ``(1,)``.

        No draw is beyond 2^61 + 1 steps, and no sum beyond 2^63.
        """
        return np.flatnonzero(values + noise >= self.threshold + raised)[: self.cutoff]
