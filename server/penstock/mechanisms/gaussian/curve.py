"""Compute the privacy curve of one normal release: ``delta`` as a function of ``epsilon``.

For ``mu = Delta2 / sigma`` it is
``delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``
(Balle, Wang 2018, Theorem 8; Dong, Roth, Su 2022, Corollary 2.13).
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from penstock.errors import InvalidInput

_SAFETY = 1e-12
"""A bound on the relative error of the special functions."""

_CANCELLATION = 2e-14
"""Relative, over ``mu``: two tails that are ``mu`` apart cancel except for a part of that order."""


_ROOT = math.sqrt(2)

_FARTHEST = math.sqrt(800)


def check_delta(delta: float) -> None:
    """Raise ``InvalidInput`` unless ``delta`` is between 0 and 1."""
    if not 0 < delta < 1:
        raise InvalidInput(f"Gaussian noise needs a delta between 0 and 1, not {delta:g}.")


def delta_at(epsilon: float, mu: float) -> float:
    """Return the least ``delta`` for which the release is ``(epsilon, delta)``-private."""
    erfcx, ndtr = _special()
    low, high = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if low > _FARTHEST:
        return 0.0
    # e^epsilon Phi(-high), written so that neither factor leaves the range of floats
    density = math.exp(-low * low / 2) / 2
    if low > 0:
        return float(density * (erfcx(low / _ROOT) - erfcx(high / _ROOT)))
    return float(ndtr(-low) - density * erfcx(high / _ROOT))


def epsilon_at(delta: float, mu: float) -> float:
    """Return the least ``epsilon`` at which the release keeps ``delta``, rounded up.

    Raises ``InvalidInput`` for a ``delta`` outside of (0, 1): no normal release is
    private at 0.
    """
    check_delta(delta)
    goal = _goal(delta, mu)
    if delta_at(0.0, mu) <= goal:
        return 0.0
    rho = mu * mu / 2
    low, high = 0.0, rho + 2 * math.sqrt(rho * math.log(1 / goal))
    while high - low > _SAFETY * high:
        middle = (low + high) / 2
        if delta_at(middle, mu) <= goal:
            high = middle
        else:
            low = middle
    return high


def mu_at(epsilon: float, delta: float) -> float:
    """Return the largest ``mu`` that is ``(epsilon, delta)``-private, rounded down.

    ``Delta2 / mu`` is the least standard deviation for a target.  Raises ``InvalidInput``
    for a ``delta`` outside of (0, 1) and an ``epsilon`` that is negative or not finite.
    """
    check_delta(delta)
    if not 0 <= epsilon < math.inf:
        raise InvalidInput(f"An epsilon is at least 0 and finite, not {epsilon:g}.")
    low, high = 0.0, 1.0
    while delta_at(epsilon, high) <= _goal(delta, high):
        low, high = high, 2 * high
    while high - low > _SAFETY * high:
        middle = (low + high) / 2
        kept = delta_at(epsilon, middle) <= _goal(delta, middle)
        low, high = (middle, high) if kept else (low, middle)
    return low


def _goal(delta: float, mu: float) -> float:
    return delta * (1 - min(_SAFETY + _CANCELLATION / mu, 0.5))


@cache
def _special() -> tuple[Callable[[float], Any], Callable[[float], Any]]:
    """Return ``erfcx`` and ``ndtr``, imported once and late: the module is slow to import."""
    from scipy.special import erfcx, ndtr

    return erfcx, ndtr
