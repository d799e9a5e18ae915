"""Provide generalized Gaussian losses by integrals.

No grid of losses, nothing of the product's own.
"""

import math

import mpmath
import numpy as np
from mpmath import mpf
from tests.unit.accounting import quadrature


def loss_at(z: mpf, power: mpf, shift: mpf) -> mpf:
    return abs(z - shift) ** power - abs(z) ** power


def one_delta(power: float, shift: float, epsilon: float) -> float:
    """Return delta of one value: the integral of ``(f(z) - e^epsilon f(z - shift))_+``.

    It has 30 digits.

    The loss falls in ``z``, so it is from below up to the outcome whose loss is ``epsilon``.
    """
    with mpmath.workdps(30):
        p, r, e = mpf(power), mpf(shift), mpf(epsilon)
        low = -mpf(2)
        while loss_at(low, p, r) < e and low > -(10**9):
            low *= 2
        high = r
        if loss_at(low, p, r) < e:
            return 0.0
        for _ in range(110):
            middle = (low + high) / 2
            low, high = (middle, high) if loss_at(middle, p, r) >= e else (low, middle)
        normal = 2 * mpmath.gamma(1 + 1 / p)

        def above(z: mpf) -> mpf:
            density = mpmath.exp(-(abs(z) ** p))
            return (density - mpmath.exp(e - abs(z - r) ** p)) / normal

        steps = [low - mpf(j * j) / 64 for j in range(33)][::-1]
        kinks = [kink for kink in (mpf(0), r) if steps[0] < kink < low]
        return float(mpmath.quad(above, [-mpmath.inf, *sorted([*steps, *kinks])]))


def losses(power: float, shift: float) -> quadrature.Losses:
    """Return losses of one value, for sums of ten and more.

    Their moments are by Gauss-Legendre quadrature.
    """
    far = 130 ** (1 / power) + 40 * shift
    graded = np.geomspace(1e-7, far + shift, 90)
    even = np.linspace(-3 - shift, 3 + shift, 241)
    edges = np.unique(np.concatenate((-graded, graded, shift - graded, shift + graded, even)))
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges) / 2
    z = ((edges[:-1] + half)[:, None] + half[:, None] * nodes).ravel()
    logs = np.log((half[:, None] * weights).ravel()) - np.abs(z) ** power
    logs -= math.log(2) + math.lgamma(1 + 1 / power)
    loss = np.abs(z - shift) ** power - np.abs(z) ** power
    kept = logs > -400
    logs, loss = logs[kept], loss[kept]

    def log_moment(at: quadrature.Complex) -> quadrature.Complex:
        exponents = logs + np.outer(at, loss)
        peaks = exponents.real.max(axis=1, keepdims=True)
        return np.asarray(peaks[:, 0] + np.log(np.exp(exponents - peaks).sum(axis=1)))

    return quadrature.Losses(log_moment)


def delta_of_sum(power: float, shift: float, count: int, epsilon: float) -> float:
    """Return delta of ``count`` values, ten or more, that all move by ``shift``."""
    deviation = shift * math.sqrt(count * power**2 * math.gamma(2 - 1 / power))
    deviation /= math.sqrt(math.gamma(1 / power))
    each = losses(power, shift).times(count)
    return quadrature.delta_at([each], epsilon, 40 / deviation, 256)
