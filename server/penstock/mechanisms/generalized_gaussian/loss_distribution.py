"""Compute the exact privacy loss of generalized Gaussian noise over many shifted values.

A value's loss ``L(z) = |z - r|^p - |z|^p`` decreases in ``z``, so the outcomes of a cell of
the grid of losses are an interval, whose mass under both hypotheses is a difference of
incomplete gamma functions.  The mass is split between the two ends of the cell so that both
hypotheses keep theirs (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022); then no delta is
below the true one.

Sums over values are powers of a Fourier transform, of the masses times ``e^(t L)`` with
the ``t`` that brings the mean to the epsilon in question (Esscher 1932): the relevant masses
are then not lost among rounding errors, however small delta is.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.generalized_gaussian.law import loss, moments, renyi_divergence
from penstock.mechanisms.generalized_gaussian.tails import below, between
from penstock.mechanisms.loss_sums import raised_to
from penstock.mechanisms.loss_table import LossTable, Profile, divergences, split_cells
from penstock.randomness.saddle_point import Floats

CELLS_A_DEVIATION: Final = 128
"""Cells per deviation of one value's loss: splitting masses raises its variance by under 2^-15."""

FEWEST_CELLS: Final = 1 << 13
MOST_CELLS: Final = 1 << 22
DEVIATIONS: Final = 13
"""The standard deviations of the sum's loss on either side of the epsilon in question."""

_CUT: Final = 2.0**-20
"""The part of delta that may be cut off, over all values."""

_FOURIER_NOISE: Final = 2.0**-46
"""An engineering bound on the relative error of a delta, for each value summed."""

_MANY: Final = 1 << 14
"""The number of values from which a sum of losses is practically normal."""

_NEWTON_STEPS: Final = 60
_RECENTERINGS: Final = 12
_COARSER: Final = 16
"""How much coarser a grid for a first guess is."""

_SETTLED_ROOT: Final = 1e-10
"""The largest relative step of Newton's that may be taken for rounding."""

_TILT_STEPS: Final = 40
_LEAP: Final = 4.0
"""The most by which a step of the search for a tilt multiplies or divides it, on one side known."""

_CLOSE: Final = 1e-6
"""How close a tilt comes to the best one: any tilt gives a bound, and the best one the least."""

_BLOCK: Final = 128
"""The number of powers that are multiplied by one more power at once."""

_SETTLED: Final = 8.0
"""The most nats by which a tilted mass may fall between the center and the point that is read."""

_STEEPEST: Final = 2.0**24
"""The largest tilt, over the inverse of the deviation."""

_ORDERS: Final = (1.1, 1.5, 2.0, 3.0, 5.0, 8.0, 16.0, 32.0, 64.0, 256.0)
_REACH: Final = 700.0
"""Losses are computed only up to a density of ``e^-700``."""

_LARGE: Final = 350.0
"""From this epsilon on a bound by divergences is computed first: tables might not reach it."""


class Shifted(NamedTuple):
    """Hold values of one kind: the power, the shift in scales, and how many there are."""

    power: float
    shift: float
    times: int


def loss_table(power: float, shift: float, width: float, tail: float) -> LossTable:
    """Return the losses of one value moved ``shift`` scales; up to ``tail`` mass is at infinity."""
    from scipy.special import gammainccinv  # imported late: slow to import

    far = -(min(float(gammainccinv(1 / power, min(2 * tail, 1.0))), _REACH) ** (1 / power))
    highest = float(loss(np.array([far]), power, shift)[0])
    cells = width * np.arange(math.floor(highest / width) + 1, dtype=np.float64)
    ends = _where(cells, power, shift)
    if power == 1:
        # All outcomes below 0 have the one largest loss, which belongs to the last cell.
        ends, infinite = np.append(ends, -np.inf), 0.0
    else:
        ends = np.append(ends, min(far, float(ends[-1])))
        infinite = float(below(ends[-1:], power)[0])
    others = np.exp(np.minimum(cells, _REACH)) * between(ends - shift, power)
    # This far out the second hypothesis' part of a cell is negligible: all of the cell is raised.
    others[cells > _REACH] = 0.0
    return LossTable(width, split_cells(between(ends, power), others, width), infinite)


@lru_cache(maxsize=1024)
def epsilon_of(kinds: tuple[Shifted, ...], delta: float) -> float:
    """Return the least epsilon of all shifted values together at ``delta``, rounded up.

    Raises ``InvalidInput`` for a ``delta`` outside of (0, 1).
    """
    if not 0 < delta < 1:
        raise InvalidInput(f"A delta is between 0 and 1, not {delta}.", pointer="/delta")
    if not _mean(kinds) <= _LARGE and (simple := _by_renyi(kinds, delta)) > _REACH:
        return simple
    total = TotalLoss.of(kinds, delta)
    center = bound = total.converted(delta)
    if bound > _LARGE and (simple := _by_renyi(kinds, delta)) > _REACH:
        return simple
    for _ in range(_RECENTERINGS):
        tilt = total.tilt(center)
        epsilon = total.profile(center, tilt).epsilon(delta)
        if abs(epsilon - center) * max(tilt, 1 / total.deviation) <= _SETTLED:
            break
        center = min(epsilon, center + DEVIATIONS * total.deviation)
    if epsilon > bound:
        epsilon = min(epsilon, _by_renyi(kinds, delta))
    if all(kind.power == 1 for kind in kinds):
        epsilon = min(epsilon, math.fsum(kind.times * kind.shift for kind in kinds))
    return max(epsilon, 0.0)


def rough_epsilon(kinds: tuple[Shifted, ...], delta: float) -> float:
    """Return about ``epsilon_of``, for a first guess: on a coarse grid."""
    if not _mean(kinds) <= _LARGE:
        return _by_renyi(kinds, delta)
    total = TotalLoss.of(kinds, delta, _COARSER)
    center = total.converted(delta)
    epsilon = total.profile(center, total.tilt(center)).epsilon(delta)
    return max(min(epsilon, center), 0.0)


def delta_of(kinds: tuple[Shifted, ...], epsilon: float, smallest: float = 1e-12) -> float:
    """Return the delta of all shifted values together at ``epsilon``, never below the true one.

    Mass of up to a millionth of ``smallest`` is counted as lost.
    """
    total = TotalLoss.of(kinds, smallest)
    return min(total.profile(epsilon, total.tilt(epsilon)).delta(epsilon), 1.0)


@dataclass(frozen=True)
class _Values:
    """Hold independent values of one law: the finite losses with their masses, and how many.

    Losses are the multiples of ``width`` from ``first`` on.
    """

    width: float
    first: int
    masses: Floats
    infinite: float
    times: int

    @classmethod
    def of(cls, kind: Shifted, width: float, tail: float) -> "_Values":
        table = loss_table(kind.power, kind.shift, width, tail)
        first, masses = table.dense()
        return cls(width, first, masses, table.infinite, kind.times)

    @cached_property
    def losses(self) -> Floats:
        """Return the finite losses, which rise."""
        places = np.arange(self.first, self.first + len(self.masses), dtype=np.float64)
        return self.width * places

    def weights(self, tilt: float) -> Floats:
        """Return ``e^(tilt (L - largest L))`` for a ``tilt`` of at least 0, times the masses."""
        size = len(self.masses)
        within = np.exp(-tilt * self.width * np.arange(_BLOCK))
        blocks = np.exp(-tilt * self.width * _BLOCK * np.arange(-(-size // _BLOCK)))
        falling: Floats = np.multiply.outer(blocks, within).ravel()[:size]
        return self.masses * falling[::-1]

    def cumulant(self, tilt: float) -> float:
        """Return ``ln E[e^(tilt L)]`` of one value, over its finite losses."""
        return tilt * float(self.losses[-1]) + math.log(float(np.sum(self.weights(tilt))))

    def tilted(self, tilt: float) -> tuple[float, float, float]:
        """Return ``times * cumulant(tilt)`` and its first two derivatives.

        These are the mean and the variance of the sum under masses in proportion to
        ``e^(tilt L)``.
        """
        weights, losses = self.weights(tilt), self.losses
        total = float(np.sum(weights))
        mean = float(np.sum(weights * losses)) / total
        variance = float(np.sum(weights * (losses - mean) ** 2)) / total
        cumulant = tilt * float(losses[-1]) + math.log(total)
        return self.times * cumulant, self.times * mean, self.times * variance


@dataclass(frozen=True)
class TotalLoss:
    """Hold the loss of independent values, on one grid.

    ``deviation`` is its standard deviation, and ``cut`` a probability that is cut off.
    """

    parts: Sequence[_Values]
    width: float
    deviation: float
    cut: float

    @classmethod
    def of(cls, kinds: Sequence[Shifted], delta: float, coarser: int = 1) -> "TotalLoss":
        """Build the total loss on a grid that is fine enough for ``delta``, or ``coarser``."""
        count = sum(kind.times for kind in kinds)
        moments_of_kinds = [(kind.times, moments(kind.power, kind.shift)) for kind in kinds]
        mean = math.fsum(times * each for times, (each, _) in moments_of_kinds)
        deviation = math.sqrt(math.fsum(times * each for times, (_, each) in moments_of_kinds))
        whole = mean + 2 * DEVIATIONS * deviation
        width = min(deviation / math.sqrt(count) / CELLS_A_DEVIATION, whole / FEWEST_CELLS)
        width = coarser * max(width, whole / MOST_CELLS)
        cut = delta * _CUT
        parts = [_Values.of(kind, width, cut / count) for kind in kinds]
        return cls(parts, width, deviation, cut)

    def profile(self, center: float, tilt: float) -> Profile:
        """Return divergences around the epsilon ``center``: exact there, and never too small.

        ``tilt`` is that of ``center``.
        """
        reach = DEVIATIONS * self.deviation
        top = max(self.bound(self.cut), center + reach)
        start = math.floor((center - reach) / self.width)
        size = self._size(math.ceil(top / self.width - start))
        spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
        log_scale, lost = 0.0, self.cut
        for part in self.parts:
            cumulant = part.cumulant(tilt)
            tilted = part.masses * np.exp(tilt * part.losses - cumulant)
            half = len(part.masses) // 2
            places = np.arange(-half, half + 1) % size
            spectrum *= raised_to(np.fft.rfft(np.bincount(places, tilted, size)), part.times)
            log_scale += part.times * cumulant
            lost -= math.expm1(part.times * math.log1p(-part.infinite))
        sums = np.roll(np.fft.irfft(spectrum, size), -(start % size))
        losses = self.width * np.arange(start, start + size, dtype=np.float64)
        masses = np.maximum(sums, 0.0) * np.exp(np.minimum(log_scale - tilt * losses, _REACH))
        noise = 1 + _FOURIER_NOISE * sum(part.times for part in self.parts)
        at = divergences(masses[1:], self.width) + lost
        return Profile(self.width, float(losses[0]), noise * at)

    def _size(self, cells: int) -> int:
        """Return a number of cells, at least ``cells``, whose Fourier transform is fast.

        Mass beyond them wraps around to the other end.  For sums that are nearly normal it is
        negligible; sums of few values get room up to a power of two.
        """
        from scipy.fft import next_fast_len  # imported late: slow to import

        if sum(part.times for part in self.parts) >= _MANY:
            return 2 * int(next_fast_len(-(-cells // 2), real=True))
        return 1 << math.ceil(math.log2(max(cells, FEWEST_CELLS)))

    def tilt(self, center: float) -> float:
        """Return the ``t`` at which the tilted sum has mean ``center``; 0 below its own mean."""
        _, own, spread = self._tilted(0.0)
        if own >= center:
            return 0.0

        def off(t: float) -> tuple[float, float]:
            _, mean, variance = self._tilted(t)
            return mean - center, variance

        return self._where(off, (center - own) / spread, _CLOSE * self.deviation)

    def bound(self, chance: float) -> float:
        """Return a loss that the finite part reaches with at most ``chance`` (Chernoff 1952)."""
        nats = -math.log(chance)
        t = self._steepness(nats)
        return (self._tilted(t)[0] + nats) / t

    def converted(self, delta: float) -> float:
        """Return an epsilon of the finite part at ``delta``, 3% to 10% above the least.

        It is the conversion of Canonne, Kamath, Steinke (2020), Proposition 12, at the order
        ``1 + t`` of the best bound.
        """
        nats = -math.log(delta)
        t = self._steepness(nats)
        return (self._tilted(t)[0] + nats - math.log1p(t)) / t - math.log1p(1 / t)

    def _steepness(self, nats: float) -> float:
        """Return the ``t`` of the best bound on a loss of probability ``e^-nats``."""

        def off(t: float) -> tuple[float, float]:
            cumulant, mean, variance = self._tilted(t)
            return t * mean - cumulant - nats, t * variance

        return self._where(off, math.sqrt(2 * nats) / self.deviation, _CLOSE * nats)

    def _where(
        self, off: Callable[[float], tuple[float, float]], start: float, close: float
    ) -> float:
        """Return a ``t`` whose value is ``close`` to 0, or the steepest allowed.

        ``off`` returns the value and its slope; it rises with ``t``.  Newton's steps are taken
        where they halve the value, and steps of logarithms elsewhere.
        """
        low, high, last = 0.0, math.inf, math.inf
        steepest = _STEEPEST / self.deviation
        t = min(start, steepest)
        for _ in range(_TILT_STEPS):
            value, slope = off(t)
            if abs(value) <= close or (value < 0 and t == steepest):
                break
            low, high = (t, high) if value < 0 else (low, t)
            newton = t - value / slope if slope > 0 else math.inf
            if not low < newton < high or abs(value) > last / 2:
                newton = math.sqrt((low or t / _LEAP**2) * min(high, t * _LEAP**2))
            t, last = min(newton, steepest), abs(value)
        return t

    def _tilted(self, tilt: float) -> tuple[float, float, float]:
        """Return ``ln E[e^(tilt L)]`` of the sum over finite losses, and two derivatives."""
        values = [part.tilted(tilt) for part in self.parts]
        cumulant, mean, variance = (math.fsum(each) for each in zip(*values, strict=True))
        return cumulant, mean, variance


def _mean(kinds: Sequence[Shifted]) -> float:
    return math.fsum(kind.times * moments(kind.power, kind.shift)[0] for kind in kinds)


def _by_renyi(kinds: tuple[Shifted, ...], delta: float) -> float:
    """Return a bound from divergences of a few orders (Canonne, Kamath, Steinke 2020, Prop. 12)."""
    bounds = []
    for order in _ORDERS:
        divergence = math.fsum(
            kind.times * renyi_divergence(order, kind.power, kind.shift) for kind in kinds
        )
        above = order - 1
        bounds.append(divergence + math.log(1 / (delta * order)) / above + math.log1p(-1 / order))
    if all(kind.power == 1 for kind in kinds):
        bounds.append(math.fsum(kind.times * kind.shift for kind in kinds))
    return max(min(bounds), 0.0)


def _where(losses: Floats, power: float, shift: float) -> Floats:
    """Return the outcomes with these ``losses``, which are at least 0: from ``shift / 2`` down."""
    half = shift / 2
    if power == 1:
        return half - losses / 2
    reach = 1.0
    while (reach + half) ** power - abs(reach - half) ** power <= losses[-1]:
        reach *= 2
    points = min(4096, len(losses))
    coarse = np.concatenate(([0.0], np.geomspace(min(half, reach) * 1e-6, reach, points)))
    away = np.interp(losses, (coarse + half) ** power - np.abs(coarse - half) ** power, coarse)
    last = math.inf
    for _ in range(_NEWTON_STEPS):
        far, near = away + half, away - half
        grown, size = far ** (power - 1), np.abs(near)
        kept = np.copysign(size ** (power - 1), near)
        value = far * grown - near * kept - losses
        slope = power * (grown - kept)
        step = value / slope
        away = np.clip(away - step, 0.0, reach)
        # Newton's steps fall quadratically, until rounding keeps them from falling further.
        largest = float(np.max(np.abs(step)))
        if largest <= 1e-14 * reach or (largest >= last / 2 and largest <= _SETTLED_ROOT * reach):
            break
        last = largest
    return half - away
