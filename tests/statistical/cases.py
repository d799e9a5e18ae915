"""The mechanisms that every statistical test runs on, each with its exact law."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.checks import Pmf

from penstock.mechanisms import Gaussian, Mechanism


@dataclass(frozen=True)
class Case:
    """A mechanism, levels to release at, and the law it has to follow.

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
    """The discrete Gaussian of variance ``noisy - accurate``, on steps of 1."""
    variance = float(noisy - accurate)
    reach = int(9 * variance**0.5)
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    masses = np.exp(-(values**2) / (2 * variance))
    return Pmf(-reach, masses / masses.sum())


def _multiples(unit: Fraction, *factors: int) -> tuple[Fraction, ...]:
    return tuple(unit * factor for factor in factors)


GAUSSIAN = Case(
    name="gaussian",
    mechanism=Gaussian(granularity=Fraction(1)),
    levels=_multiples(Fraction(1 << 18), 1, 2, 3, 5, 8, 16),
    coalition=_multiples(Fraction(1 << 18), *range(1, 18)),
    law=discrete_gaussian,
)

CASES = (GAUSSIAN,)

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
