"""Compute the privacy of several independent values together, from the losses of each.

Losses are added up on a grid whose masses are placed so that the curve can only move up
(Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "Connect the dots").
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.saddle_point import Floats

SAFETY = 1e-11
"""The absolute amount by which rounding in the sums of probabilities may move epsilon."""

_GRID = 1 << 17


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

    def on_grid(self, unit: float) -> Floats:
        """Return the masses on multiples of ``unit``, congruent modulo the grid.

        Each atom goes to the two points around it, so that its probability under both
        laws is kept.
        """
        under = np.floor(self.loss / unit)
        gap = self.loss - under * unit
        upper = self.mass * (-np.expm1(-gap) / -math.expm1(-unit))
        at = under.astype(np.int64)
        grid = np.zeros(_GRID)
        grid += np.bincount(at % _GRID, self.mass - upper, _GRID)
        grid += np.bincount((at + 1) % _GRID, upper, _GRID)
        return grid

    def log_moment(self, tilt: float) -> float:
        """Return ``ln E[exp(tilt * loss)]``."""
        exponent = tilt * self.loss
        peak = float(exponent.max())
        return peak + math.log(float(self.mass @ np.exp(exponent - peak)))


def epsilon_of_sum(losses: Sequence[Losses], counts: Sequence[int], delta: float) -> float:
    """Return the least epsilon at ``delta`` of independent values, ``counts`` of each kind.

    It is infinite if their infinite parts alone exceed ``delta``.
    """
    kept = sum(n * math.log1p(-part.lost) for part, n in zip(losses, counts, strict=True))
    left = delta + math.expm1(kept)
    if left <= 0:
        return math.inf
    start, width = _window(losses, counts)
    unit = width / _GRID
    spectrum = np.ones(_GRID // 2 + 1, dtype=np.complex128)
    for part, count in zip(losses, counts, strict=True):
        spectrum *= raised_to(np.fft.rfft(part.on_grid(unit)), count)
    first = math.floor(start / unit)
    # Circular: index i holds the loss in the window that is congruent to it.
    mass = np.maximum(np.roll(np.fft.irfft(spectrum, _GRID), -first), 0.0)
    loss = (first + np.arange(_GRID)) * unit
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
    low, high = (
        sign
        * min(
            (sum(n * p.log_moment(sign * t) for p, n in parts) + math.log(1e18)) / t for t in tilts
        )
        for sign in (-1.0, 1.0)
    )
    low, high = min(low, center), max(high, center)
    return low, (high - low) * (1 + 2 / _GRID)
