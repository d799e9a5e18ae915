"""What shifts of Poisson noise cost: exact hockey-stick and Rényi divergences.

For one coordinate the likelihood ratio of ``X + s`` to ``X`` increases, so the best test
is a threshold and the privacy curve a ratio of tail probabilities.  For several, their
privacy losses are added up on a grid whose masses are placed so that the curve can only
move up (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "Connect the dots").

Below its shift ``X + s`` has no mass: where ``X`` falls there the loss is infinite.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.saddle_point import Floats, log_poisson

Shape = tuple[tuple[int, int], ...]
"""A vector of shifts, up to order: pairs of a shift and its number of coordinates."""

_SAFETY = 1e-12
"""Absolute: what the ratios of scipy's tail probabilities may move epsilon by."""

_REACH = 40
_ATOMS = 1 << 14
_GRID = 1 << 17
_LOST = 1e-22
"""The mass beyond either end of a coordinate's atoms that counts as infinite loss."""

_POINTS_A_DEVIATION = 128


@dataclass(frozen=True)
class Shifts:
    """The integer vectors between neighbors: bounds on their norms, in lattice steps."""

    l1: int
    l2_squared: int
    linf: int

    @property
    def largest(self) -> int:
        """The largest single shift that all three norms admit."""
        return min(self.linf, self.l1, math.isqrt(self.l2_squared))

    def concentrated(self, largest: int) -> Shape:
        """As many shifts of ``largest`` as fit, then as large ones as still fit, to the end."""
        shape: list[tuple[int, int]] = []
        l1, l2_squared = self.l1, self.l2_squared
        while (shift := min(largest, l1, math.isqrt(l2_squared))) > 0:
            count = min(l1 // shift, l2_squared // (shift * shift))
            shape.append((shift, count))
            l1 -= count * shift
            l2_squared -= count * shift * shift
        return tuple(shape)

    def extreme(self) -> tuple[Shape, ...]:
        """The concentrated shapes that may be the worst for epsilon.

        Where l2 does not bind it is the one with the largest shifts.  Where it does, some
        shapes of smaller shifts use more of it up and are candidates too.  That no other
        shape is worse is an engineering bound (convexity in the squares of the shifts).
        """
        worst = self.concentrated(self.largest)
        if self.l2_squared >= self.l1 * self.largest:
            return (worst,)
        starts = {self.largest - 1, self.largest - 2, self.largest // 2, 1} - {0, -1}
        shapes = {worst, *(self.concentrated(start) for start in starts)}
        most = max(_squares(shape) for shape in shapes)
        return tuple(shape for shape in shapes if 10 * _squares(shape) >= 9 * most)

    def largest_sum(self, part: Callable[[int], float]) -> float:
        """An upper bound on ``sum(part(s_i))`` over all admitted vectors.

        For a ``part`` that is 0 at 0 and convex in ``s`` and in ``s^2``: by l1 the sum is
        at most that of the concentrated vector, and by l2 likewise with the remainder of
        the squares taken between its neighboring squares.
        """
        top = self.largest
        count, rest = divmod(self.l1, top)
        peak = part(top)
        by_l1 = count * peak + (part(rest) if rest else 0.0)
        if self.l2_squared >= self.l1 * top:
            return by_l1
        count, rest = divmod(self.l2_squared, top * top)
        root = math.isqrt(rest)
        low, high = part(root) if root else 0.0, part(root + 1)
        weight = (rest - root * root) / (2 * root + 1)
        return min(by_l1, count * peak + low + weight * (high - low))


def _squares(shape: Shape) -> int:
    return sum(count * shift * shift for shift, count in shape)


def epsilon_of_shape(mean: float, shape: Shape, delta: float) -> float:
    """The least epsilon at ``delta`` for noise shifted by ``shape``, in both directions.

    Shifts of one sign are the worst for given sizes, and which sign is which direction.
    Infinite where the support's end alone exceeds ``delta``.
    """
    if sum(count for _, count in shape) == 1:
        return max(_single(mean, shape[0][0], delta, up) for up in (True, False))
    return max(_several(mean, shape, delta, up) for up in (True, False))


def _single(mean: float, shift: int, delta: float, up: bool) -> float:
    """The largest ``ln((P(S) - delta) / Q(S))`` over thresholds ``S``."""
    from scipy.special import pdtr, pdtrc  # imported late: slow to import

    def bounds(y: Floats) -> Floats:
        # up: P = X + s against Q = X on {y, y+1, ...}; down: X against X + s on {.., y}
        if up:
            likely, unlikely = pdtrc(y - shift - 1, mean), pdtrc(y - 1, mean)
            likely = np.where(y - shift < 1, 1.0, likely)
        else:
            likely = pdtr(y, mean)
            unlikely = np.where(y < shift, 0.0, pdtr(np.maximum(y - shift, 0), mean))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.maximum(likely - delta, 0)) - np.log(unlikely)
        return np.where(likely > delta, logs, -np.inf)

    reach = _REACH * (math.sqrt(mean) + 1)
    low, high = max(math.floor(mean - reach), 1 if up else 0), math.ceil(mean + reach) + shift
    while True:
        y = np.unique(np.rint(np.linspace(low, high, _ATOMS)))
        values = bounds(y)
        best = int(np.argmax(values))
        if high - low < _ATOMS or values[best] == np.inf:
            return max(float(values[best]), 0.0) + _SAFETY
        low, high = int(y[max(best - 2, 0)]), int(y[min(best + 2, len(y) - 1)])


def _several(mean: float, shape: Shape, delta: float, up: bool) -> float:
    losses = [_losses(mean, shift, up) for shift, _ in shape]
    counts = [count for _, count in shape]
    finite = math.exp(
        sum(n * math.log1p(-part.lost) for part, n in zip(losses, counts, strict=True))
    )
    left = delta - (1 - finite)
    if left <= 0:
        return math.inf
    start, width = _window(losses, counts)
    unit = width / _GRID
    spectrum = np.ones(_GRID // 2 + 1, dtype=np.complex128)
    for part, count in zip(losses, counts, strict=True):
        spectrum *= _power(np.fft.rfft(part.on_grid(unit)), count)
    first = math.floor(start / unit)
    # Circular: index i holds the loss that is congruent to it in the window.
    mass = np.maximum(np.roll(np.fft.irfft(spectrum, _GRID), -first), 0.0)
    loss = (first + np.arange(_GRID)) * unit
    mass, loss = mass[loss > 0], loss[loss > 0]
    likely = np.cumsum(mass[::-1])[::-1]
    unlikely = np.cumsum((mass * np.exp(-loss))[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.where(likely > left, np.log(likely - left) - np.log(unlikely), 0.0)
    return max(float(bounds.max(initial=0.0)), 0.0) + _SAFETY


@dataclass(frozen=True)
class _Losses:
    """One coordinate's privacy loss: atoms, their probabilities, and the infinite part."""

    loss: Floats
    mass: Floats
    lost: float

    def on_grid(self, unit: float) -> Floats:
        """Masses on multiples of ``unit``, congruent modulo the grid.

        Each atom goes to the two points around it, so that its probability under both
        laws is kept.
        """
        below = np.floor(self.loss / unit)
        gap = self.loss - below * unit
        upper = self.mass * (-np.expm1(-gap) / -math.expm1(-unit))
        at = below.astype(np.int64)
        grid = np.zeros(_GRID)
        grid += np.bincount(at % _GRID, self.mass - upper, _GRID)
        grid += np.bincount((at + 1) % _GRID, upper, _GRID)
        return grid


def _power(base: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """By squaring: numpy's own power of complex numbers is slow, and less exact."""
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result *= base
        exponent >>= 1
        base = base * base
    return result


def _losses(mean: float, shift: int, up: bool) -> _Losses:
    from scipy.special import pdtr, pdtrc  # imported late: slow to import

    reach = 10.5 * math.sqrt(mean) + 30
    low, high = max(math.floor(mean - reach), 0), math.ceil(mean + reach)
    stride = max(1, (high - low) // _ATOMS)
    x = np.arange(low if up else max(low, shift), high, stride, dtype=np.float64)
    other = x + shift if up else x - shift
    own = log_poisson(x, mean, x - mean)
    ratio = own - log_poisson(other, mean, other - mean)
    mass = np.exp(own) * stride
    lost = float(pdtrc(high - 1, mean)) + (float(pdtr(x[0] - 1, mean)) if x[0] >= 1 else 0.0)
    # Where atoms stand for several integers, their sum is 1 up to the trapezoid's error.
    return _Losses(ratio, mass * ((1 - lost) / mass.sum()), max(lost, _LOST))


def _window(losses: Sequence[_Losses], counts: Sequence[int]) -> tuple[float, float]:
    """Where the total loss is but for 1e-18 on either side (Chernoff), and how wide that is."""
    ends = []
    center = sum(n * float(part.mass @ part.loss) for part, n in zip(losses, counts, strict=True))
    spread = math.sqrt(
        sum(
            n * float(part.mass @ (part.loss - part.mass @ part.loss) ** 2)
            for part, n in zip(losses, counts, strict=True)
        )
    )
    for sign in (-1.0, 1.0):
        reaches = []
        for tilt in np.geomspace(0.5, 50, 24) / spread:
            moment = 0.0
            for part, n in zip(losses, counts, strict=True):
                exponent = sign * tilt * part.loss
                peak = float(exponent.max())
                moment += n * (peak + math.log(float(part.mass @ np.exp(exponent - peak))))
            reaches.append((moment + math.log(1e18)) / tilt)
        ends.append(sign * min(reaches))
    low, high = min(ends[0], center), max(ends[1], center)
    return low, (high - low) * (1 + 2 / _GRID) + 1e-300


def renyi_divergence(mean: float, shift: int, order: float) -> float:
    """Divergence of the noise, given that it is at least ``shift``, from itself shifted.

    The larger of both directions, rounded up; infinite where it would be beyond any use
    (``order * shift`` more than about a fifth of a mean above 2^14).
    """
    deviation = math.sqrt(mean)
    stride = max(1, math.floor(deviation / _POINTS_A_DEVIATION))
    tilt = order * shift
    if stride > 1 and tilt > mean / 5:
        return math.inf
    high = mean + 2 * tilt if tilt < mean else 4 * tilt
    low = mean - 2 * tilt if 5 * tilt < mean else 0
    first = max(math.floor(low - 16 * deviation), shift)
    y = np.arange(first, high + 16 * math.sqrt(high) + 60, stride, dtype=np.float64)
    plain = log_poisson(y, mean, y - mean)
    moved = log_poisson(y - shift, mean, y - shift - mean)
    below = failure(mean, shift)
    up = _log_moment(moved, (order - 1) * (moved - plain), stride, 0.0)
    down = _log_moment(plain, (order - 1) * (plain - moved), stride, below)
    inside = -math.log1p(-below) if below < 1 else math.inf
    loss = max(up / (order - 1) - inside, (down + order * inside) / (order - 1))
    return max(loss, 0.0) * (1 + 1e-10) + 1e-14


def _log_moment(log_mass: Floats, exponent: Floats, stride: int, missing: float) -> float:
    """``ln(sum(mass * exp(exponent)))`` for masses that add up to ``1 - missing``."""
    joint = log_mass + exponent
    peak = float(joint.max())
    if peak > 0 or float(exponent[log_mass > -80].max(initial=0.0)) > 30:
        return peak + math.log(float(np.exp(joint - peak).sum()) * stride)
    # Small moments are 1 plus what is left when the masses are taken off.
    excess = np.exp(joint) - np.exp(log_mass)
    small = np.abs(exponent) < 1
    excess[small] = np.exp(log_mass[small]) * np.expm1(exponent[small])
    return math.log1p(float(excess.sum()) * stride - missing)


def failure(mean: float, shift: int) -> float:
    """``P(X < shift)``: where the shifted noise has no mass."""
    from scipy.special import pdtr  # imported late: slow to import

    return float(pdtr(shift - 1, mean))


def theorem_epsilon(
    mean: float, l1: float, l2: float, linf: float, dimension: int, delta: float
) -> float | None:
    """The closed form of Andersson, Retschmeier, Nelson, Pagh 2025, Theorem E.2.

    An upper bound, several times the exact epsilon; norms in lattice steps.  ``None``
    where its condition ``mean >= max(23 ln(10 d/delta), 2 linf)`` fails.
    """
    if mean < max(23 * math.log(10 * dimension / delta), 2 * linf):
        return None
    tail = math.log(1.25 / delta)
    main = l2 * math.sqrt(2 * tail / mean)
    ten = math.log(10 / delta)
    cubic = (5 * math.sqrt(2) * l2 * math.sqrt(ten) + 5 / 3 * l1) / (mean * (1 - delta / 10))
    largest = 2 / 3 * linf * tail + 4 / 3 * linf * math.log(20 * dimension / delta) * ten
    return main + cubic + largest / mean


def half_width(mean: float, confidence: float) -> float:
    """The least ``h`` with ``P(|X - mean| <= h) >= confidence``, in steps, rounded up."""
    from scipy.special import pdtr  # imported late: slow to import

    def covers(h: float) -> bool:
        low = math.ceil(mean - h) - 1
        below = float(pdtr(low, mean)) if low >= 0 else 0.0
        return float(pdtr(math.floor(mean + h), mean)) - below >= confidence

    low, high = 0.0, 1.0 + math.sqrt(mean)
    while not covers(high):
        low, high = high, 2 * high
    while high - low > 1e-9 * max(high, 1.0):
        middle = (low + high) / 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high
