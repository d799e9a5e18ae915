"""Compute the privacy of several independent values together, from the losses of each.

Losses are added up on a grid whose masses are placed so that the curve can only move up
(Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "Connect the dots").
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.saddle_point import Floats

SAFETY = 1e-11
"""An allowance for rounding in the sums of probabilities, added to epsilon.

It is an engineering bound.  Negative masses are cut off, so that rounding raises epsilon rather
than lowering it: at a delta of 1e-9 a fine grid was seen to raise it by 1e-8 of it, and at 1e-12 by
2e-4.
"""

_GRID = 1 << 17

ROUGH_GRID = 1 << 12
"""The points of a grid that is fine enough for a first guess, and not for a statement."""


BOUNDING_GRID = 1 << 13
"""The points of a grid that is coarse enough to be quick, and close enough to rule out losses."""

_ROUNDING = 1e-9
"""A relative margin for rounding between epsilons of two grids, besides ``SAFETY``."""

_ROUNDED_MASS, _BOUNDING_MARGIN = 1e-14, 1e-5
"""A probability, and a share of epsilon, by which a coarse grid's epsilon is raised to bound a fine
one's.

A fine grid rounds more often, so that its epsilon may be above that of a coarse one.  Without the
share that was so in 3 of 1,500 random sums, by at most 2e-7 of epsilon: the margins are measured,
not proved.
"""


@dataclass(frozen=True)
class Losses:
    """Hold one coordinate's privacy loss: atoms, their probabilities, and the infinite part."""

    loss: Floats
    mass: Floats
    lost: float

    @property
    def mean(self) -> float:
        return float(self.mass @ self.loss)

    @property
    def variance(self) -> float:
        return float(self.mass @ (self.loss - self.mean) ** 2)

    def on_grid(self, unit: float, size: int) -> Floats:
        """Return the masses on multiples of ``unit``, congruent modulo ``size`` of them.

        Each atom goes to the two points around it, so that its probability under both
        laws is kept.
        """
        under = np.floor(self.loss / unit)
        gap = self.loss - under * unit
        upper = self.mass * (-np.expm1(-gap) / -math.expm1(-unit))
        at = under.astype(np.int64)
        lower = np.bincount(at % size, self.mass - upper, size)
        return np.asarray(lower + np.bincount((at + 1) % size, upper, size), dtype=np.float64)

    def log_moment(self, tilt: float) -> float:
        """Return ``ln E[exp(tilt * loss)]``."""
        exponent = tilt * self.loss
        peak = float(exponent.max())
        return peak + math.log(float(self.mass @ np.exp(exponent - peak)))


def epsilon_of_sum(
    losses: Sequence[Losses], counts: Sequence[int], delta: float, size: int = _GRID
) -> float:
    """Return the least epsilon at ``delta`` of independent values, ``counts`` of each kind.

    It is infinite if their infinite parts alone exceed ``delta``.  ``size`` is that of the grid.
    """
    kept = sum(n * math.log1p(-part.lost) for part, n in zip(losses, counts, strict=True))
    left = delta + math.expm1(kept)
    if left <= 0:
        return math.inf
    start, width = _window(losses, counts)
    unit = width / size
    # The first by itself: a product with ones would be another pass over many megabytes.
    spectrum, *others = (
        raised_to(np.fft.rfft(part.on_grid(unit, size)), count)
        for part, count in zip(losses, counts, strict=True)
    )
    for other in others:
        spectrum *= other
    first = math.floor(start / unit)
    # Circular: index i holds the loss in the window that is congruent to it.  Only losses above 0
    # matter to an epsilon of at least 0.
    lowest = max(first, 1)
    mass = np.roll(np.fft.irfft(spectrum, size), -lowest)[: max(first + size - lowest, 0)]
    np.maximum(mass, 0.0, out=mass)
    loss = np.arange(lowest, lowest + len(mass)) * unit
    likely = np.cumsum(mass[::-1])[::-1]
    unlikely = np.cumsum((mass * np.exp(-loss))[::-1])[::-1]
    tests = np.count_nonzero(likely > left)  # it falls
    likely, unlikely = likely[:tests], unlikely[:tests]
    with np.errstate(divide="ignore", over="ignore"):  # infinite ratios are told apart below
        ratios = (likely - left) / unlikely
    # Logarithms are slow, and only those of the largest ratios matter.
    near = ratios >= ratios.max(initial=0.0) * (1 - _ROUNDING)
    bounds = best_ratios(likely[near], unlikely[near], left)
    return max(float(bounds.max(initial=0.0)), 0.0) + SAFETY


def largest_epsilon(sums: Sequence[Sequence[Losses]], counts: Sequence[int], delta: float) -> float:
    """Return the largest ``epsilon_of_sum`` of several ``sums`` of the same ``counts``.

    A grid whose unit is a multiple of another's gives at least the other's epsilon, since its
    masses are those of the other moved apart once more.  So sums whose epsilon on a coarse grid is
    below the largest of the others need no fine one.  The coarse epsilons are those of a delta that
    is smaller by what rounding may add to a fine one's.
    """
    bounds = [bounding_epsilon(losses, counts, delta) for losses in sums]
    return largest_within(bounds, lambda place: epsilon_of_sum(sums[place], counts, delta))


def largest_within(bounds: Sequence[float], exact: Callable[[int], float]) -> float:
    """Return the largest ``exact(place)``, given ``bounds`` that they are not above."""
    largest = -math.inf
    for place in sorted(range(len(bounds)), key=lambda place: -bounds[place]):
        if bounds[place] >= largest:
            largest = max(largest, exact(place))
    return largest


def bounding_epsilon(losses: Sequence[Losses], counts: Sequence[int], delta: float) -> float:
    """Return an epsilon that ``epsilon_of_sum`` is not above, from a coarse grid."""
    if delta < 1000 * _ROUNDED_MASS:  # there rounding moves epsilon by more than the margin
        return math.inf
    coarse = epsilon_of_sum(losses, counts, delta - _ROUNDED_MASS, BOUNDING_GRID)
    return coarse * (1 + _BOUNDING_MARGIN) + SAFETY


def best_ratios(likely: Floats, unlikely: Floats, delta: float) -> Floats:
    """Return ``ln((likely - delta) / unlikely)`` of each test, ``-inf`` if delta covers it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.maximum(likely - delta, 0)) - np.log(np.maximum(unlikely, 0))
    return np.where(likely > delta, logs, -np.inf)


def raised_to(base: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """Raise to a power by squaring: numpy's own power of complex numbers is slow, and less exact.

    Squares are written over each other: arrays of many megabytes are slow to allocate.
    """
    square, result = base.copy(), None
    while exponent:
        if exponent & 1:
            result = square.copy() if result is None else np.multiply(result, square, out=result)
        exponent >>= 1
        if exponent:
            np.multiply(square, square, out=square)
    return np.ones_like(base) if result is None else result


def _window(losses: Sequence[Losses], counts: Sequence[int]) -> tuple[float, float]:
    """Return the lower end and the width of a window of the total loss.

    At most 1e-18 of the mass is outside on either side (Chernoff).
    """
    parts = list(zip(losses, counts, strict=True))
    center = sum(n * part.mean for part, n in parts)
    spread = math.sqrt(sum(n * part.variance for part, n in parts))
    tilts = np.geomspace(0.5, 50, 24) / spread

    def bound(place: int, sign: float) -> float:
        t = float(tilts[place])
        return (sum(n * p.log_moment(sign * t) for p, n in parts) + math.log(1e18)) / t

    low, high = (sign * _lowest(partial(bound, sign=sign), len(tilts)) for sign in (-1.0, 1.0))
    low, high = min(low, center), max(high, center)
    return low, (high - low) * (1 + 2 / _GRID)


def _lowest(value: Callable[[int], float], size: int) -> float:
    """Return the least of ``value(0), ..., value(size - 1)``, which fall and then rise.

    A bound ``(K(t) + c) / t`` does, since ``K`` is convex.
    """
    at = 3 * size // 5
    best = value(at)
    for way in (1, -1):
        begun = at
        while 0 <= at + way < size and (following := value(at + way)) < best:
            at, best = at + way, following
        if at != begun:
            break
    return best
