"""Test what a more accurate Poisson release costs beside a noisier one.

The binomial law, enumerated.
"""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom, poisson

from penstock.mechanisms.poisson.refinement import fewest, refinement_divergence


def enumerated(trials: int, chance: float, shift: int, order: float) -> float:
    """Return the divergence of ``B(trials, chance)``, at least ``shift``, from the shifted law."""
    values = np.arange(shift, trials + 1)
    plain = binom.logpmf(values, trials, chance)
    plain -= logsumexp(plain)
    moved = binom.logpmf(values - shift, trials - shift, chance)
    ways = (order * plain + (1 - order) * moved, order * moved + (1 - order) * plain)
    return max(float(logsumexp(way)) for way in ways) / (order - 1)


BINOMIAL = [(100, 0.3, 2, 3.0), (50, 0.5, 1, 2.0), (200, 0.5, 4, 11.0), (3600, 0.5, 1, 7.2)]


@pytest.mark.parametrize("case", BINOMIAL)
def test_given_the_old_release_poisson_noise_is_binomial_and_costs_as_that(
    case: tuple[int, float, int, float],
) -> None:
    trials, chance, shift, order = case
    exact = enumerated(trials, chance, shift, order)
    charged = refinement_divergence(trials, chance, shift, order)
    assert charged == pytest.approx(exact, rel=1e-8)
    # The fewest trials that are likely at all are the worst.
    assert enumerated(trials + 1, chance, shift, order) < exact
    assert enumerated(2 * trials, chance, shift, order) < exact


@pytest.mark.parametrize("mean", [50.0, 4000.0, 1e7])
def test_the_fewest_likely_trials_are_no_more_than_said(mean: float) -> None:
    for tail in (1e-3, 1e-9, 1e-14):
        assert 0 <= poisson.cdf(fewest(mean, tail) - 1, mean) <= tail
