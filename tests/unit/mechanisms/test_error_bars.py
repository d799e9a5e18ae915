"""Test that error bars hold what they say under the lattice law itself, enumerated, and no more."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from penstock.mechanisms import MECHANISMS

Floats = NDArray[np.float64]


def _normalized(logs: Floats) -> Floats:
    masses = np.exp(logs - logs.max())
    return np.asarray(masses / masses.sum())


def _gaussian(steps: Floats, level: float) -> Floats:
    return _normalized(-(steps**2) / (2 * level))


def _laplace(steps: Floats, level: float) -> Floats:
    return _normalized(-np.abs(steps) / level)


def _poisson(steps: Floats, level: float) -> Floats:
    """Return probabilities around the mean, which is taken off what is handed out."""
    return np.asarray(stats.poisson.pmf(steps, level))


def _skellam(steps: Floats, level: float) -> Floats:
    return np.asarray(stats.skellam.pmf(steps, level / 2, level / 2))


LAWS: Mapping[str, Callable[[Floats, float], Floats]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "poisson": _poisson,
    "skellam": _skellam,
}


STEPS = np.arange(-40_000.0, 40_000.0)


@cache
def _masses(name: str, level: Fraction) -> Floats:
    return LAWS[name](STEPS, float(level))


def test_every_mechanism_has_a_law_here() -> None:
    assert set(LAWS) == set(MECHANISMS)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.5, 0.683, 0.95, 0.999])
@pytest.mark.parametrize("level", [Fraction(9), Fraction(101, 2), Fraction(1291)])
@pytest.mark.parametrize("name", sorted(LAWS))
def test_error_bars_cover_their_confidence_and_hardly_more(
    name: str, level: Fraction, confidence: float
) -> None:
    mechanism = MECHANISMS[name](Fraction(1))
    masses = _masses(name, level)
    away = np.abs(STEPS - float(mechanism.bias(level)))
    bars = mechanism.error(level, confidence)
    assert bars.confidence == confidence
    assert masses[away <= bars.half_width * (1 + 1e-9)].sum() >= confidence - 1e-12
    assert masses[away < bars.half_width * (1 - 1e-6)].sum() < confidence
    variance = float(masses @ away**2)
    assert bars.standard_deviation == pytest.approx(math.sqrt(variance), rel=1e-6)


@pytest.mark.parametrize("name", sorted(LAWS))
def test_bars_that_are_a_tenth_too_narrow_are_found_out(name: str) -> None:
    mechanism, level = MECHANISMS[name](Fraction(1)), Fraction(1291)
    away = np.abs(STEPS - float(mechanism.bias(level)))
    narrow = 0.9 * mechanism.error(level, 0.95).half_width
    assert _masses(name, level)[away <= narrow].sum() < 0.94


@pytest.mark.parametrize("name", sorted(LAWS))
def test_bars_are_in_units_of_values(name: str) -> None:
    step = Fraction(1, 8)
    # A Poisson mean counts steps; a Laplace scale is in units, variances in their squares.
    scaling = {"poisson": Fraction(1), "laplace": step}.get(name, step * step)
    coarse = MECHANISMS[name](Fraction(1)).error(Fraction(400), 0.9)
    fine = MECHANISMS[name](step).error(400 * scaling, 0.9)
    assert fine.half_width == pytest.approx(coarse.half_width / 8)
    assert fine.standard_deviation == pytest.approx(coarse.standard_deviation / 8)
