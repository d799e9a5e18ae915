"""Test how far the difference of two noises reaches, against exact laws of the difference."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from penstock.mechanisms import Mechanism, family_of
from penstock.structures.noise_difference import reaches

CONFIDENCE = 0.95
POWER = Fraction(4)
RATIOS = np.linspace(-1, 1, 33)

SCALES = [Fraction(3), Fraction(40), Fraction(5000)]
LEVELS = {
    "gaussian": lambda scale: scale * scale,
    "laplace": lambda scale: scale,
    "poisson": lambda scale: scale * scale,
    "skellam": lambda scale: scale * scale,
    "generalized_gaussian": lambda scale: scale,
}


def mechanism_at(name: str, scale: Fraction) -> tuple[Mechanism, Fraction]:
    """Return a mechanism on values in steps of 1, and its level at a scale."""
    family = family_of(name, POWER if name == "generalized_gaussian" else None)
    mechanism, ladder = family.plan(LEVELS[name](scale), Fraction(1), Fraction(2**20))
    return mechanism, ladder.value(ladder.rung_at_or_above(LEVELS[name](scale)))


def cumulative(
    name: str, level: Fraction, step: Fraction, x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the chance of noise up to ``x``, from scipy's laws."""
    size = float(level)
    laws = {
        "gaussian": lambda: stats.norm.cdf(x, scale=math.sqrt(size)),
        "laplace": lambda: stats.dlaplace.cdf(np.floor(x / float(step)), float(step / level)),
        "poisson": lambda: stats.poisson.cdf(np.floor(x + size + 1e-6), size),
        "skellam": lambda: stats.skellam.cdf(np.floor(x), size / 2, size / 2),
        "generalized_gaussian": lambda: stats.gennorm.cdf(x, float(POWER), scale=size),
    }
    return np.asarray(laws[name]())


@pytest.mark.parametrize("name", sorted(LEVELS))
@pytest.mark.parametrize("scale", SCALES)
def test_a_distribution_is_that_of_the_noise(name: str, scale: Fraction) -> None:
    mechanism, level = mechanism_at(name, scale)
    law = mechanism.distribution(level)
    expected = cumulative(name, level, mechanism.granularity, law.values)
    assert np.all(np.diff(law.values) > 0)
    assert np.all(np.diff(law.at_most) >= 0)
    # scipy's own Skellam and Poisson laws are good to about 1e-7 here.
    assert np.abs(law.at_most - expected).max() < 1e-6
    assert law.at_most[0] < 1e-9
    assert law.at_most[-1] > 1 - 1e-9
    assert np.interp(0, law.values, law.at_most) == pytest.approx(0.5, abs=0.1)


def test_two_normal_noises_reach_as_far_as_their_deviation_says() -> None:
    mechanism, level = mechanism_at("gaussian", Fraction(40))
    found = reaches(mechanism.distribution(level), 0.0, RATIOS, CONFIDENCE)
    quantile = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    assert found == pytest.approx(quantile * 40 * np.hypot(1, RATIOS), rel=1e-4)


def test_two_laplace_noises_reach_as_far_as_their_law_says() -> None:
    """Compare with ``P(|E_1 - r E_2| > t) = (e^-t - r^2 e^(-t/r)) / (1 - r^2)`` at scale 1."""
    mechanism, level = mechanism_at("laplace", Fraction(5000))
    ratios = np.array([0.0, 0.25, 0.5, 0.75, 0.9])
    t = reaches(mechanism.distribution(level), 0.0, ratios, CONFIDENCE) / 5000
    with np.errstate(divide="ignore"):
        rest = np.where(ratios > 0, ratios**2 * np.exp(-t / ratios), 0)
    assert (np.exp(-t) - rest) / (1 - ratios**2) == pytest.approx(1 - CONFIDENCE, rel=1e-3)


def exact_coverage(name: str, scale: Fraction, ratio: float, reach: float) -> float:
    """Return ``P(|E_1 - ratio E_2| <= reach)`` by a sum over all pairs of integers."""
    mechanism, level = mechanism_at(name, scale)
    law = {
        "poisson": stats.poisson(float(level), loc=-float(level)),
        "skellam": stats.skellam(float(level) / 2, float(level) / 2),
    }[name]
    noise = np.arange(-60, 61) + (0.0 if name == "skellam" else -float(level % 1))
    masses = law.pmf(noise)
    inside = np.abs(noise[:, None] - ratio * noise) <= reach * (1 + 1e-12)
    assert mechanism.granularity == 1
    assert masses.sum() == pytest.approx(1, abs=1e-9)
    return float(masses @ inside @ masses)


@pytest.mark.parametrize("name", ["poisson", "skellam"])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(2), Fraction(6)])
def test_noise_of_few_steps_reaches_no_further_at_any_ratio(name: str, scale: Fraction) -> None:
    mechanism, level = mechanism_at(name, scale)
    ratios = np.linspace(-1, 1, 201)
    found = np.interp(
        ratios, RATIOS, reaches(mechanism.distribution(level), 1.0, RATIOS, CONFIDENCE)
    )
    covered = [exact_coverage(name, scale, *pair) for pair in zip(ratios, found, strict=True)]
    assert min(covered) >= CONFIDENCE


def test_without_the_step_that_is_added_noise_of_few_steps_reaches_further() -> None:
    mechanism, level = mechanism_at("skellam", Fraction(1))
    ratios = np.linspace(-1, 1, 201)
    found = reaches(mechanism.distribution(level), 0.0, ratios, CONFIDENCE)
    covered = [exact_coverage("skellam", Fraction(1), *p) for p in zip(ratios, found, strict=True)]
    assert min(covered) < CONFIDENCE


@pytest.mark.parametrize("name", sorted(LEVELS))
@pytest.mark.parametrize("scale", SCALES)
def test_the_line_between_two_ratios_lies_above_what_is_between(name: str, scale: Fraction) -> None:
    mechanism, level = mechanism_at(name, scale)
    law, step = mechanism.distribution(level), float(mechanism.granularity)
    ends = reaches(law, step, RATIOS, CONFIDENCE)
    middles = reaches(law, step, (RATIOS[:-1] + RATIOS[1:]) / 2, CONFIDENCE)
    lines = (ends[:-1] + ends[1:]) / 2
    assert np.all(middles <= lines * (1 + 1e-5))
    assert np.all(lines <= middles * (1 + 1 / 1000))
