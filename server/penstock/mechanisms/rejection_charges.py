"""Compute the cost of the error of rejection sampling, in two ways.

They are engineering bounds, derived as for ``Gaussian``.  ``eta = 2^-42`` is the rms relative error
of a probability (``penstock.randomness.rejection``), and a draw is in tails of which nothing is
claimed with probability ``2^-59``, which covers the thresholds of smaller means as well.

*Pinsker.*  ``(1 + e^epsilon) (sqrt(n) eta / 2 + n 2^-59)`` of failure over ``n`` draws.

*Hölder.*  A factor ``1 + (5/4) 2 a^2 / ((a-1) (2^10 - 2a))`` at order ``a`` below 2^9, and
``n 2^-59`` of failure.  The 5/4 is for Rényi divergences that grow faster than the order;
``charged_loss`` ensures that it suffices.
"""

import math
from collections.abc import Callable

from penstock.mechanisms.process import NumericalCharge
from penstock.randomness.rejection import RELATIVE_ERROR, TAIL_ERROR

HIGHEST_ORDER = 2.0**10
"""The Rényi order up to which the sampler's divergence from the ideal law is bounded."""


def rejection_charges(draws: int, order: float, epsilon: float) -> tuple[NumericalCharge, ...]:
    """Return the valid charges for ``draws`` draws; the second only below an order of 2^9."""
    tail = draws * 2 * TAIL_ERROR
    inflation = 1 + math.exp(epsilon) if epsilon < 700 else math.inf
    total = inflation * (math.sqrt(draws) * RELATIVE_ERROR / 2 + tail)
    charges = [NumericalCharge(1.0, total)]
    if 1 < order < HIGHEST_ORDER / 2:
        charges.append(NumericalCharge(_factor(order), tail))
    return tuple(charges)


def charged_loss(divergence: Callable[[float], float], order: float) -> float:
    """Return the divergence of ``order``, raised until the factor above suffices for it.

    Hölder's inequality needs the moment at a higher order (see ``Gaussian``).
    """
    loss = divergence(order)
    if order >= HIGHEST_ORDER / 2:
        return loss
    exponent = HIGHEST_ORDER / order
    part = (exponent - 2) / exponent
    moment = part * (order / part - 1) * divergence(order / part)
    return max(loss, moment / (order - 1) / _factor(order))


def _factor(order: float) -> float:
    """Return the factor on a charge for the sampler's error; ``order`` is below 2^9."""
    return 1 + 2.5 * order**2 / ((order - 1) * (HIGHEST_ORDER - 2 * order))
