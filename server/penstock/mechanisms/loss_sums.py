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
"""The absolute amount by which rounding in the sums of probabilities may move epsilon."""

_GRID = 1 << 17

ROUGH_GRID = 1 << 12
"""The points of a grid that is fine enough for a first guess, and not for a statement."""


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
        grid = np.zeros(size)
        grid += np.bincount(at % size, self.mass - upper, size)
        grid += np.bincount((at + 1) % size, upper, size)
        return grid

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
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for part, count in zip(losses, counts, strict=True):
        spectrum *= raised_to(np.fft.rfft(part.on_grid(unit, size)), count)
    first = math.floor(start / unit)
    # Circular: index i holds the loss in the window that is congruent to it.
    mass = np.maximum(np.roll(np.fft.irfft(spectrum, size), -first), 0.0)
    loss = (first + np.arange(size)) * unit
    mass, loss = mass[loss > 0], loss[loss > 0]
    likely = np.cumsum(mass[::-1])[::-1]
    unlikely = np.cumsum((mass * np.exp(-loss))[::-1])[::-1]
    return max(float(best_ratios(likely, unlikely, left).max(initial=0.0)), 0.0) + SAFETY


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
