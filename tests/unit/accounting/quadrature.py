"""Provide composed privacy losses by an integral: no grid, no convolution, nothing of the report's.

For ``c > 0``, ``delta(epsilon)`` is what is infinite, and

``1/(2 pi i) * integral over c + i t of M(z) e^(-z epsilon) / (z (z+1)) dz``,

``M(z) = E[e^(z L)]`` being the moments of the finite losses, which multiply over releases
(the Laplace transform of ``(1 - e^(epsilon - L))_+``; Alghamdi et al. 2022).  Integrated by
the trapezoid rule, which converges faster than any power where ``M`` decays.  It does not
where all losses lie on a lattice: those are for enumerations.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from tests.unit.accounting.exact_losses import Pair

Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Losses:
    """Hold ``ln E[e^(z L)]`` over the finite losses, and the mass of the infinite one."""

    log_moment: Callable[[Complex], Complex]
    infinite: float = 0.0

    def times(self, count: int) -> "Losses":
        """Return the law of as many of them, independently."""
        return Losses(lambda z: count * self.log_moment(z), 1 - (1 - self.infinite) ** count)


def gaussian(mu: float) -> Losses:
    return Losses(lambda z: mu * mu / 2 * (z + z * z))


def laplace(decay: float, shift: int) -> Losses:
    """Return the losses of discrete Laplace noise: the sum over the lattice in closed form."""
    p, epsilon = math.exp(-decay), decay * shift

    def log_moment(z: Complex) -> Complex:
        r = np.exp(-(2 * z + 1) * decay)
        up = 1 / (1 - p) + r / (1 - r)
        down = 1 / (1 - p) - 1 / (1 - r)
        inner = up + down * np.exp(-(2 * z + 1) * epsilon)
        return np.asarray(z * epsilon + np.log((1 - p) / (1 + p) * inner))

    return Losses(log_moment)


def table(pair: Pair) -> Losses:
    """Return a law that is listed outcome by outcome."""
    first, second = pair
    finite = (first > 0) & (second > 0)
    mass, loss = first[finite], np.log(first[finite] / second[finite])

    def log_moment(z: Complex) -> Complex:
        exponents = np.log(mass) + np.outer(z, loss)
        peaks = exponents.real.max(axis=1, keepdims=True)
        return np.asarray(peaks[:, 0] + np.log(np.exp(exponents - peaks).sum(axis=1)))

    return Losses(log_moment, float(first[(first > 0) & (second == 0)].sum()))


def delta_at(losses: Sequence[Losses], epsilon: float, reach: float, points: int = 1024) -> float:
    """Return ``delta`` at ``epsilon``, the integral being cut at ``t = reach``."""

    def exponent(z: Complex) -> Complex:
        total = sum((one.log_moment(z) for one in losses), start=np.zeros(len(z), complex))
        return np.asarray(total - z * epsilon)

    def height(log_c: float) -> float:
        c = math.exp(log_c)
        return float(exponent(np.array([c + 0j]))[0].real) - math.log(c * (c + 1))

    c = math.exp(minimize_scalar(height, bounds=(-6, 6), method="bounded").x)
    z = np.asarray(c + 1j * np.linspace(0, reach, points), dtype=np.complex128)
    values = (np.exp(exponent(z)) / (z * (z + 1))).real
    integral = (values.sum() - values[0] / 2) * reach / (points - 1)
    kept = math.prod(1 - one.infinite for one in losses)
    return 1 - kept + float(integral) / math.pi
