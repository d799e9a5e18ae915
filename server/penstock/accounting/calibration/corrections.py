"""Lay out a correction by sparse vector search, and find whether it gains anything.

The layout is the cutoff, the search's part of epsilon and its own split, the threshold, and how
accurate new answers are compared with the first ones.  Layouts are compared by normal approximation
of the noise's losses, and the best is then calibrated exactly.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

from penstock.accounting.calibration.search import least
from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import delta_at, mu_at
from penstock.mechanisms.generalized_gaussian.law import information
from penstock.mechanisms.generalized_gaussian.sparse_vector_correction import SparseVectorCorrection
from penstock.mechanisms.generalized_gaussian.sparse_vector_error import (
    Noise,
    Search,
    expected_maximum,
)
from penstock.mechanisms.lattice import floor_log2
from penstock.privacy.sensitivity import Sensitivity

CUTOFFS: Final[Sequence[int]] = (1, 2, 4, 8, 16, 32, 64)

LEAST_SHARE: Final = 0.01
"""The least share of epsilon for the search: with less it finds values by chance only."""

_ANEW_POWER: Final = Fraction(2)
_FIRST_STRIDE: Final = 0.5
_LAST_STRIDE: Final = 0.01
_HALVINGS: Final = 60
_WIDEST: Final = 1e30


@dataclass(frozen=True)
class CorrectionChoice:
    """Hold a correction that keeps the epsilon, and the expected largest error."""

    correction: SparseVectorCorrection
    expected_maximum: float


class _Layout(NamedTuple):
    """Hold a layout: ``search`` is a share of epsilon, ``split`` the threshold's share of that.

    ``threshold`` and ``anew`` are in scales of the first noise.
    """

    search: float
    split: float
    threshold: float
    anew: float


@dataclass(frozen=True)
class _Task:
    """Hold the guarantee to keep, with noise of one power and a search of one cutoff."""

    power: Fraction
    cutoff: int
    sensitivity: Sensitivity
    dimension: int
    epsilon: float
    delta: float

    @property
    def first_layout(self) -> _Layout:
        split = 1 / (1 + (2 * self.cutoff) ** (2 / 3))
        return _Layout(0.05, split, 0.9 * self._typical, 0.6)

    @property
    def _typical(self) -> float:
        """Return the approximate size of the largest of all errors, in scales."""
        return float(math.log(max(self.dimension, 3)) ** (1 / self.power))

    def admits(self, layout: _Layout) -> bool:
        return (
            LEAST_SHARE <= layout.search <= 0.9
            and 0.02 <= layout.split <= 0.9
            and 0.05 <= layout.threshold / self._typical <= 2
            and 0.02 <= layout.anew <= 4
        )

    def scale(self, layout: _Layout) -> float:
        """Return the approximate scale of the first noise that keeps epsilon at delta."""
        whole, rest = divmod(self.sensitivity.l1, self.sensitivity.linf)
        square = float(self.sensitivity.linf) ** 2
        moved = float(whole) * square + float(rest) ** 2
        anew = min(self.cutoff * square, moved) * information(float(_ANEW_POWER)) / layout.anew**2
        mu = _mu_beside(layout.search * self.epsilon, self.epsilon, self.delta)
        return math.sqrt(moved * information(float(self.power)) + anew) / mu

    def error(self, layout: _Layout) -> float:
        """Return the expected largest error."""
        scale, search = self.scale(layout), layout.search * self.epsilon
        moved = float(self.sensitivity.linf)
        return expected_maximum(
            self.dimension,
            Noise(float(self.power), scale),
            Search(
                layout.threshold * scale,
                moved / (layout.split * search),
                2 * self.cutoff * moved / ((1 - layout.split) * search),
                self.cutoff,
            ),
            Noise(float(_ANEW_POWER), layout.anew * scale),
        )

    def planned(self, layout: _Layout, scale: Fraction) -> SparseVectorCorrection:
        search = Fraction(layout.search * self.epsilon)
        split = Fraction(layout.split)
        return SparseVectorCorrection.plan(
            (self.power, scale),
            (Fraction(layout.threshold) * scale, self.cutoff, split * search, (1 - split) * search),
            (_ANEW_POWER, Fraction(layout.anew) * scale),
            self.sensitivity,
            step=Fraction(2) ** floor_log2(self.sensitivity.linf),
            bound=Fraction(0),
        )

    def calibrated(self, layout: _Layout) -> CorrectionChoice:
        """Return the least scale that keeps epsilon at delta, exactly."""

        def excess(scale: Fraction) -> float:
            return math.log(self.planned(layout, scale).delta(self.epsilon) / self.delta)

        plan = self.planned(layout, least(excess, self.scale(layout), 0.0, _WIDEST))
        return CorrectionChoice(plan, plan.expected_maximum(self.dimension))


def best_correction(
    power: Fraction,
    sensitivity: Sensitivity,
    dimension: int,
    epsilon: float,
    delta: float,
    cutoffs: Sequence[int] = CUTOFFS,
) -> CorrectionChoice:
    """Return the layout with the least expected largest error, among those that have a search.

    At least a hundredth of epsilon goes to the search, and at least one value may be answered
    again; compare the result with ``power_choice``, which has no search.  Cutoffs above a quarter
    of the dimension are not tried.  Raises ``InvalidInput`` for an epsilon that is not above 0, a
    delta outside (0, 1), and fewer than four values.
    """
    if dimension < 4:
        raise InvalidInput(
            f"A correction takes at least 4 values, not {dimension}; answer fewer with plain"
            " noise.",
            pointer="/dimension",
        )
    if not (math.isfinite(epsilon) and epsilon > 0 and 0 < delta < 1):
        raise InvalidInput(
            f"An epsilon is above 0 and a delta between 0 and 1, not {epsilon:g} and {delta:g}."
        )
    tasks = [
        _Task(power, cutoff, sensitivity, dimension, epsilon, delta)
        for cutoff in cutoffs
        if cutoff <= dimension / 4
    ]
    descents = [(task, _downhill(task.error, task.admits, task.first_layout)) for task in tasks]
    task, layout = min(descents, key=lambda pair: pair[0].error(pair[1]))
    return task.calibrated(layout)


def _downhill(
    error: Callable[[_Layout], float], admits: Callable[[_Layout], bool], first: _Layout
) -> _Layout:
    """Minimize along one parameter after the other by factors, smaller ones when none is better."""
    at, least_error, stride = first, error(first), _FIRST_STRIDE
    while stride > _LAST_STRIDE:
        before = at
        for field in _Layout._fields:
            for factor in (math.exp(stride), math.exp(-stride)):
                tried = at._replace(**{field: getattr(at, field) * factor})
                if admits(tried) and (tried_error := error(tried)) < least_error:
                    at, least_error = tried, tried_error
                    break
        if at == before:
            stride /= 2
    return at


def _mu_beside(search: float, epsilon: float, delta: float) -> float:
    """Return the mu of normal noise that, after the search, keeps epsilon at delta."""
    likely = 1 / (1 + math.exp(-search))
    low, high = 0.0, mu_at(epsilon, delta)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        delta_of_mu = partial(delta_at, mu=middle)
        kept = (
            likely * delta_of_mu(epsilon - search) + (1 - likely) * delta_of_mu(epsilon + search)
            <= delta
        )
        low, high = (middle, high) if kept else (low, middle)
    return low
