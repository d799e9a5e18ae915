"""Read Laplace noise as approximate privacy in closed form, by the l2 sensitivity.

A coordinate that moves by ``s`` is purely ``s/b``-private, on the lattice as over the reals, and
pure guarantees compose (Kairouz, Oh, Viswanath 2015, Theorem 3.5).  From this follow Andersson,
Pagh, Steiner, Torkamani 2024 ("Count on Your Elders"), Theorem 1.3, Lemma 5.4 and Corollary 5.5.
All are upper bounds: the exact loss of a long vector is lower.
"""

import math

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import mu_at

_ROUNDING = 1e-14
"""A bound on the relative error of the few operations below."""


def l2_epsilon(l2: float, scale: float, delta: float) -> float:
    """Return the second branch of Theorem 1.3: ``l2^2/(2 b^2) + (l2/b) sqrt(2 ln(1/delta))``.

    Raises ``InvalidInput`` for a ``delta`` outside of (0, 1), and norms or scales that
    are not above 0.
    """
    _check(l2, scale, delta)
    ratio = l2 / scale
    epsilon = ratio * ratio / 2 + ratio * math.sqrt(2 * math.log(1 / delta))
    return epsilon * (1 + _ROUNDING)


def theorem_epsilon(l1: float, l2: float, scale: float, delta: float) -> float:
    """Return Theorem 1.3's ``min{l1/b, l2^2/(2 b^2) + (l2/b) sqrt(2 ln(1/delta))}``.

    Raises ``InvalidInput`` as ``l2_epsilon`` does.
    """
    _check(l1, scale, delta)
    return min(l1 / scale * (1 + _ROUNDING), l2_epsilon(l2, scale, delta))


def theorem_scale(l1: float, l2: float, epsilon: float, delta: float) -> float:
    """Return the least scale that Theorem 1.3 allows for ``(epsilon, delta)``.

    The smaller of ``l1/epsilon`` and Lemma 5.4's
    ``l2 (sqrt(ln(1/delta) + epsilon) + sqrt(ln(1/delta))) / (sqrt(2) epsilon)``.  Raises
    ``InvalidInput`` as ``l2_epsilon`` does.
    """
    _check(min(l1, l2), epsilon, delta)
    tail = math.log(1 / delta)
    by_l2 = l2 * (math.sqrt(tail + epsilon) + math.sqrt(tail)) / (math.sqrt(2) * epsilon)
    return min(l1 / epsilon, by_l2) * (1 + _ROUNDING)


def variance_over_gaussian(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the variance at Lemma 5.4's scale over that of Gaussian noise for equal l2.

    The first ratio is over the classical ``2 ln(1.25/delta) / epsilon^2``, which tends to 2 as
    ``delta`` falls (Corollary 5.5); the second is over that of the analytic curve, which is the
    fair and less favorable comparison.  Raises ``InvalidInput`` as ``l2_epsilon`` does.
    """
    variance = 2 * theorem_scale(math.inf, 1.0, epsilon, delta) ** 2
    classical = 2 * math.log(1.25 / delta) / epsilon**2
    return variance / classical, variance * mu_at(epsilon, delta) ** 2


def _check(norm: float, scale: float, delta: float) -> None:
    if not 0 < delta < 1:
        raise InvalidInput(
            f"Reading Laplace noise by l2 needs a delta between 0 and 1, not {delta:g}; at"
            " delta 0 it is l1/b."
        )
    if not (norm > 0 and scale > 0):
        raise InvalidInput(f"Norms, scales and epsilons are above 0, not {norm:g} and {scale:g}.")
