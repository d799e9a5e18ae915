"""Compute errors and Rényi divergences of the density ``exp(-|z|^p) / (2 Gamma(1 + 1/p))``.

``z`` is in units of the scale.  All arithmetic is in floats; nothing is drawn here.
"""

import math
from functools import lru_cache
from typing import Final

import numpy as np

from penstock.randomness.saddle_point import Floats

_SAFETY: Final = 1e-7
"""A relative margin far above the error of a divergence's quadrature."""

_NODES: Final = 16
_FINEST_PANEL: Final = 1e-9
_EVEN_PANELS: Final = 240
_PEAK_PANELS: Final = 96
_PEAK_DEVIATIONS: Final = 12

_SMALL: Final = 1e-2
"""Below this exponent a series is summed, since the closed form would cancel."""


def standard_deviation(power: float) -> float:
    """Return the standard deviation at scale 1: ``sqrt(Gamma(3/p) / Gamma(1/p))``."""
    return math.exp((math.lgamma(3 / power) - math.lgamma(1 / power)) / 2)


def reach_of(power: float, confidence: float) -> float:
    """Return the ``t`` with ``P(|Z| <= t) = confidence``."""
    from scipy.special import gammaincinv  # imported late: slow to import

    return float(gammaincinv(1 / power, confidence) ** (1 / power))


@lru_cache(maxsize=1024)
def expected_maximum(power: float, dimension: int) -> float:
    """Return ``E max |Z_i|`` of ``dimension`` values: ``integral of 1 - P(|Z| <= t)^dimension``."""
    from scipy.special import gammaincc  # imported late: slow to import

    nodes, weights = panels(np.linspace(0.0, (math.log(dimension) + 45) ** (1 / power), 65))
    within = dimension * np.log1p(-gammaincc(1 / power, nodes**power))
    return float(np.sum(weights * -np.expm1(within)))


def information(power: float) -> float:
    """Return ``E[(d log density / dz)^2]`` at scale 1: ``p^2 Gamma(2 - 1/p) / Gamma(1/p)``.

    The loss of a small shift ``r`` has mean ``r^2 / 2`` and variance ``r^2`` times that.
    """
    return power**2 * math.exp(math.lgamma(2 - 1 / power) - math.lgamma(1 / power))


def loss(z: Floats, power: float, shift: float) -> Floats:
    """Return the privacy loss at ``z`` under ``shift``: ``|z - shift|^p - |z|^p``."""
    difference: Floats = np.abs(z - shift) ** power - np.abs(z) ** power
    away = np.maximum(-z, z - shift)
    far = away > shift
    away = away[far]
    # Compute the difference of two large, close numbers without losing digits.
    size = away**power * np.expm1(power * np.log1p(shift / away))
    difference[far] = np.where(z[far] < 0, size, -size)
    return difference


@lru_cache(maxsize=4096)
def renyi_divergence(order: float, power: float, shift: float) -> float:
    """Return the divergence of the law from itself ``shift`` scales away; symmetric, rounded up.

    It is ``1/(order-1) ln E[e^((order-1) L)]``, by Gauss-Legendre quadrature, which is refined
    towards the kinks at 0 and ``shift`` and around the largest value.  Since ``E[e^-L] = 1``, the
    integrand may be ``e^((order-1) L) - 1 + (order-1) (e^-L - 1)``, which is never negative and
    loses no digits if losses are small.
    """
    above = order - 1
    if math.isinf(order):
        return shift if power == 1 else math.inf
    nodes, weights = panels(_edges(above, power, shift))
    losses = loss(nodes, power, shift)
    logs = _log_excess(losses, above) - np.abs(nodes) ** power
    peak = float(logs.max())
    total = peak + math.log(float(np.sum(weights * np.exp(logs - peak))))
    total -= math.log(2) + math.lgamma(1 + 1 / power)
    log_moment = total if total > 50 else math.log1p(math.exp(total))
    return log_moment / above * (1 + _SAFETY)


def _edges(above: float, power: float, shift: float) -> Floats:
    """Return where the panels of a divergence of order ``1 + above`` begin and end."""
    far = 2 * above * power * shift + shift + 100 ** (1 / power)
    fine = np.geomspace(_FINEST_PANEL, far + shift, 120)
    even = np.linspace(-far, far, _EVEN_PANELS)
    edges = [even, -fine, fine, shift - fine, shift + fine, np.array([0.0, shift])]
    if power > 1:
        # The integrand's exponent, above (|z| + shift)^p - (1 + above) |z|^p, at its largest.
        growth = math.log1p(1 / above) / (power - 1)
        top = shift / math.expm1(growth) if growth < 700 else 0.0
        if top > 0:
            bend = (1 + above) * top ** (power - 2) - above * (top + shift) ** (power - 2)
            width = 1 / math.sqrt(power * (power - 1) * max(bend, 1e-300))
            deviations = np.linspace(-_PEAK_DEVIATIONS, _PEAK_DEVIATIONS, _PEAK_PANELS)
            edges.append(width * deviations - top)
    return np.unique(np.clip(np.concatenate(edges), -far, far))


def _log_excess(losses: Floats, above: float) -> Floats:
    """Return ``ln(e^(above L) - 1 + above (e^-L - 1))``, ``-inf`` at 0."""
    rising = above * losses
    # Beyond an exponent of 100 only one of the two terms matters.
    excess = np.expm1(np.minimum(rising, 100)) + above * np.expm1(np.minimum(-losses, 100))
    small = np.maximum(np.abs(rising), np.abs(losses)) < _SMALL
    # By Horner's rule: numpy's powers of an array took most of a divergence's time.
    tiny, series = losses[small], 0.0
    for n in range(7, 1, -1):
        series = series * tiny + (above**n + above * (-1) ** n) / math.factorial(n)
    excess[small] = series * tiny * tiny
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.maximum(excess, 0.0))
    logs = np.where(rising > 100, rising, logs)
    return np.where(losses < -100, math.log(above) - losses, logs)


@lru_cache(maxsize=1024)
def moments(power: float, shift: float) -> tuple[float, float]:
    """Return the mean and variance of one value's loss."""
    fine = np.geomspace(1e-9, 100 ** (1 / power) + shift, 80)
    nodes, weights = panels(np.unique(np.concatenate((-fine, [0.0], shift - fine, shift + fine))))
    masses = weights * np.exp(-(np.abs(nodes) ** power))
    masses /= masses.sum()
    losses = loss(nodes, power, shift)
    mean = float(np.sum(masses * losses))
    return mean, float(np.sum(masses * (losses - mean) ** 2))


def panels(edges: Floats) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights between each two of the rising ``edges``."""
    nodes, weights = _rule()
    half = np.diff(edges) / 2
    middle = edges[:-1] + half
    return (
        (middle[:, None] + half[:, None] * nodes).ravel(),
        (half[:, None] * weights).ravel(),
    )


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights
