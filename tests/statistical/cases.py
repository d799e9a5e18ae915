"""Provide the mechanisms that every statistical test runs on, each with its exact law."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.statistical.checks import Pmf

from penstock.mechanisms import Gaussian, Laplace, Mechanism, Poisson, Skellam


@dataclass(frozen=True)
class Case:
    """Hold a mechanism, levels to release at, and the law that it has to follow.

    ``levels`` are six, ``coalition`` seventeen, both increasing.  ``law(a, b)`` is the
    exact law of ``X(b) - X(a)`` in lattice steps; it is written down here, on its own,
    and never taken from the mechanism.
    """

    name: str
    mechanism: Mechanism
    levels: tuple[Fraction, ...]
    coalition: tuple[Fraction, ...]
    law: Callable[[Fraction, Fraction], Pmf]


def discrete_gaussian(accurate: Fraction, noisy: Fraction) -> Pmf:
    """Return the discrete Gaussian of variance ``noisy - accurate``, on steps of 1."""
    variance = float(noisy - accurate)
    reach = int(9 * variance**0.5)
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    masses = np.exp(-(values**2) / (2 * variance))
    return Pmf(-reach, masses / masses.sum())


def discrete_laplace(accurate: Fraction, noisy: Fraction) -> Pmf:
    """Return the law of an increment of discrete Laplace noise, in steps of 1.

    It is 0 with probability ``p/q ((1-q)/(1-p))^2``, else ``q^|k|``, normalized.
    """
    q = float(np.exp(-1 / float(noisy)))
    p = float(np.exp(-1 / float(accurate))) if accurate else 0.0
    reach = int(40 * noisy)
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    stays = p / q * ((1 - q) / (1 - p)) ** 2
    masses = (1 - stays) * q ** np.abs(values)
    masses *= (1 - q) / (1 + q)
    masses[reach] += stays
    return Pmf(-reach, masses)


def poisson_counts(accurate: Fraction, noisy: Fraction) -> Pmf:
    """Return the Poisson law of mean ``noisy - accurate``."""
    mean = float(noisy - accurate)
    return Pmf(0, stats.poisson.pmf(np.arange(int(mean + 12 * mean**0.5 + 40)), mean))


def skellam(accurate: Fraction, noisy: Fraction) -> Pmf:
    """Return the difference of two Poisson integers of mean ``(noisy - accurate) / 2``."""
    mean = float(noisy - accurate) / 2
    reach = int(13 * mean**0.5 + 40)
    return Pmf(-reach, stats.skellam.pmf(np.arange(-reach, reach + 1), mean, mean))


def _multiples(unit: Fraction, *factors: int) -> tuple[Fraction, ...]:
    return tuple(unit * factor for factor in factors)


GAUSSIAN = Case(
    name="gaussian",
    mechanism=Gaussian(granularity=Fraction(1)),
    levels=_multiples(Fraction(1 << 18), 1, 2, 3, 5, 8, 16),
    coalition=_multiples(Fraction(1 << 18), *range(1, 18)),
    law=discrete_gaussian,
)

LAPLACE = Case(
    name="laplace",
    mechanism=Laplace(granularity=Fraction(1)),
    levels=_multiples(Fraction(3, 2), 1, 2, 3, 5, 8, 16),
    coalition=_multiples(Fraction(3, 2), *range(1, 18)),
    law=discrete_laplace,
)

POISSON = Case(
    name="poisson",
    mechanism=Poisson(granularity=Fraction(1)),
    levels=_multiples(Fraction(21, 2), 1, 2, 3, 5, 8, 16),
    coalition=_multiples(Fraction(21, 2), *range(1, 18)),
    law=poisson_counts,
)
"""Among its draws are small and large means, and chances on both sides of a half."""

SKELLAM = Case(
    name="skellam",
    mechanism=Skellam(granularity=Fraction(1)),
    levels=_multiples(Fraction(43, 2), 1, 2, 3, 5, 8, 16),
    coalition=_multiples(Fraction(43, 2), *range(1, 18)),
    law=skellam,
)
"""Raising its ceiling draws from tables and by rejection."""

CASES = (GAUSSIAN, LAPLACE, POISSON, SKELLAM)

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
