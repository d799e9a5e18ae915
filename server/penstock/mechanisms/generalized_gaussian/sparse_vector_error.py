"""Compute the expected largest error of searched and corrected counts, by quadrature.

Errors ``|e|`` of the first answers are independent, and so is the noise of every comparison,
given that of the threshold.  With ``A(t)`` the chance of an error up to ``t`` that is not found,
``B`` that of being found, ``F`` that of an error up to ``t`` and ``H`` that of one after being
answered again, the largest error of ``k`` values is at most ``t`` with probability

    sum over n < c of C(k, n) A^(k-n) (B H)^n
    + (B H)^c sum over j from c to k of C(j-1, c-1) A^(j-c) F^(k-j),

since after the ``c``-th that is found, at place ``j``, the search stops.  Both sums
are tails of binomial laws.  Noise is taken as continuous: its lattice is far finer.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from penstock.mechanisms.generalized_gaussian.law import panels
from penstock.randomness.saddle_point import Floats

_PANELS: Final = 240
_THRESHOLDS: Final = 16
"""Nodes on either side of the threshold's noise (Gauss, Laguerre)."""

_FAR: Final = 30.0
"""Beyond ``exp(-30)`` over the number of values, errors no longer count."""


class Noise(NamedTuple):
    """Hold the parameters of the noise: its power, and its scale in units of values."""

    power: float
    scale: float


class Search(NamedTuple):
    """Hold the parameters of a sparse vector search, in units of values."""

    threshold: float
    threshold_scale: float
    query_scale: float
    cutoff: int


def expected_maximum(dimension: int, first: Noise, search: Search, anew: Noise) -> float:
    """Return the expected largest error over ``dimension`` values, in their units."""
    far = max(
        noise.scale * (math.log(dimension) + _FAR) ** (1 / noise.power) for noise in (first, anew)
    )
    edges = np.linspace(0.0, far, _PANELS + 1)
    nodes, weights = panels(edges)
    masses = weights * _density(nodes, first)
    within, within_anew = _within(edges, first), _within(edges, anew)
    exceeding = np.zeros(len(edges))
    roots, shares = np.polynomial.laguerre.laggauss(_THRESHOLDS)
    for root, share in zip((*-roots, *roots), (*shares, *shares), strict=True):
        at = search.threshold + root * search.threshold_scale
        chance = masses * _laplace_below((nodes - at) / search.query_scale)
        detected = np.append(0.0, np.cumsum(chance.reshape(_PANELS, -1).sum(axis=1)))
        all_within = _all_within(dimension, search.cutoff, detected, within, within_anew)
        exceeding += share / 2 * (1 - all_within)
    simpson = np.full(len(edges), 2.0)
    simpson[1::2] = 4.0
    simpson[[0, -1]] = 1.0
    return float(simpson @ exceeding * edges[1]) / 3


def _all_within(
    dimension: int, cutoff: int, detected: Floats, within: Floats, within_anew: Floats
) -> Floats:
    """Return the chance that no error is above each edge, given the threshold's noise.

    ``detected`` is the chance of an error up to the edge that is found, ``within`` that of any.
    """
    from scipy.special import betainc  # imported late: slow to import

    kept = np.maximum(within - detected, 0.0)
    settled = detected[-1] * within_anew
    whole = kept + settled
    rest = dimension - cutoff + 1
    part = np.divide(kept, whole, out=np.zeros_like(kept), where=whole > 0)
    few = whole**dimension * betainc(rest, cutoff, part)
    missed = np.divide(detected, within, out=np.zeros_like(detected), where=within > 0)
    missed = np.minimum(missed, 1.0)
    # (B H / P(|e| <= t and found))^c F^k I(c, k - c + 1), in logarithms: the factors are extreme.
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = (
            cutoff * (np.log(settled) - np.log(detected))
            + dimension * np.log(within)
            + np.log(betainc(cutoff, rest, missed))
        )
    many = np.where((detected > 0) & np.isfinite(logs), np.exp(np.minimum(logs, 0.0)), 0.0)
    return np.asarray(np.minimum(few + many, 1.0), dtype=np.float64)


def _within(edges: Floats, noise: Noise) -> Floats:
    """Return the chance of an absolute error up to each edge."""
    from scipy.special import gammainc  # imported late: slow to import

    chances = gammainc(1 / noise.power, (edges / noise.scale) ** noise.power)
    return np.asarray(chances, dtype=np.float64)


def _density(nodes: Floats, noise: Noise) -> Floats:
    """Return the density of an absolute error."""
    constant = noise.scale * math.gamma(1 + 1 / noise.power)
    return np.asarray(np.exp(-((nodes / noise.scale) ** noise.power)) / constant, dtype=np.float64)


def _laplace_below(x: Floats) -> Floats:
    """Return the distribution function of Laplace noise of scale 1."""
    tail: Floats = np.asarray(np.exp(-np.abs(x)) / 2, dtype=np.float64)
    return np.where(x < 0, tail, 1 - tail)
