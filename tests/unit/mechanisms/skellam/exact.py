"""Provide probabilities of Skellam noise in many digits."""

from collections.abc import Callable

import mpmath


def exact_mass(variance: float) -> Callable[[int], mpmath.mpf]:
    """Return the probability of an integer, to the digits of mpmath's context."""
    known: dict[int, mpmath.mpf] = {}

    def mass(k: int) -> mpmath.mpf:
        k = abs(k)
        if k not in known:
            known[k] = mpmath.besseli(k, variance) * mpmath.exp(-mpmath.mpf(variance))
        return known[k]

    return mass
