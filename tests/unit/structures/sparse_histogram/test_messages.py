"""Test messages along the levels, against what normal distribution functions say in closed form."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from penstock.structures.sparse_histogram.messages import (
    LOWEST,
    Limit,
    Messages,
    axis_below,
    narrowest_kernel,
    normal_density,
)

UNIT = 1000.0
"""Steps a unit."""

FIRST, SECOND = Limit(UNIT**2, 1.5 * UNIT), Limit(2 * UNIT**2, 2.2 * UNIT)
POINTS = np.linspace(-3 * UNIT, 4 * UNIT, 9)


def test_without_limits_nothing_is_told() -> None:
    messages = Messages([], UNIT**2, 1)
    assert messages.forward(0, POINTS, UNIT**2) == pytest.approx(norm.pdf(POINTS, scale=UNIT))
    assert (messages.backward(0, POINTS, UNIT**2) == 1).all()


def test_forward_is_the_density_with_silence_before() -> None:
    """Of ``X(s)`` at ``x``; given it, ``X(a)`` is normal around ``x a / s``."""
    variance = 3 * UNIT**2
    messages = Messages([FIRST], variance, 1)
    a = FIRST.variance
    between = math.sqrt(a * (variance - a) / variance)
    silent = norm.cdf(FIRST.at, POINTS * a / variance, between)
    exact = norm.pdf(POINTS, scale=math.sqrt(variance)) * silent
    assert messages.forward(1, POINTS, variance) == pytest.approx(exact, rel=1e-10)


def test_backward_is_the_chance_of_silence_afterwards() -> None:
    variance = 0.5 * UNIT**2
    messages = Messages([FIRST, SECOND], variance, 1)
    gaps = np.array([limit.variance - variance for limit in (FIRST, SECOND)])
    for x in POINTS:
        ends = np.array([FIRST.at - x, SECOND.at - x]) / UNIT
        covariance = np.minimum.outer(gaps, gaps) / UNIT**2
        exact = multivariate_normal.cdf(ends, np.zeros(2), covariance)
        found = messages.backward(0, np.array([x]), variance)[0]
        assert found == pytest.approx(exact, rel=1e-6, abs=1e-9)
    last = messages.backward(1, POINTS, FIRST.variance)
    assert last == pytest.approx(norm.cdf((SECOND.at - POINTS) / UNIT), rel=1e-10)


def test_an_axis_ends_at_its_limit_and_begins_where_no_mass_is_left() -> None:
    axis = axis_below(FIRST, [0.0, FIRST.variance, SECOND.variance], 1)
    assert (axis.edges[0], axis.edges[-1]) == (-LOWEST * UNIT, FIRST.at)
    mass = axis.integral(normal_density(axis.nodes, FIRST.variance))
    assert mass == pytest.approx(norm.cdf(1.5), rel=1e-13)
    assert norm.cdf(-LOWEST) < 2.0**-55


def test_the_narrowest_kernel_leads_to_the_nearest_other_level() -> None:
    assert narrowest_kernel(4.0, [0.0, 4.0, 4.25, 20.0]) == 0.5
    assert narrowest_kernel(4.0, [0.0, 4.0, 20.0]) == 2.0
