"""Provide noise processes of small queries, for tests of what is computed from public numbers."""

from fractions import Fraction

from penstock.mechanisms import Gaussian, Laplace
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.privacy import Sensitivity
from penstock.services.noise.kinds.vector import VectorKind

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))


def gaussian() -> VectorKind:
    """Return a Gaussian vector of sensitivity 1, whose ladder begins at variance 4."""
    return VectorKind(*Gaussian.plan(Fraction(4), Fraction(1), Fraction(100)), ONE)


def laplace(calibration: int) -> VectorKind:
    """Return a hundred Laplace values that move by 1, of a query of that calibration."""
    moved = Sensitivity(Fraction(100), Fraction(100), Fraction(1))
    planned = Laplace.plan(Fraction(8), Fraction(1), Fraction(100))
    return VectorKind(*planned, moved, calibration=calibration)


def of_separate_draws() -> VectorKind:
    """Return a generalized Gaussian vector with p = 4: its levels are draws of their own."""
    family = GeneralizedGaussian.of(Fraction(4))
    return VectorKind(*family.plan(Fraction(4), Fraction(1), Fraction(100)), ONE)
