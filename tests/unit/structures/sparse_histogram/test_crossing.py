"""Test a silent key's chance to be reported, and its noise, against other computations."""

import math
from collections.abc import Sequence
from hashlib import sha256

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest, multivariate_normal

from penstock.errors import InvalidInput
from penstock.randomness import Stream
from penstock.structures.sparse_histogram.crossing import Crossing
from penstock.structures.sparse_histogram.messages import Limit

UNIT = 2.0**26
"""Steps a unit, so that the lattice does not show in what is computed for real noise."""

Levels = Sequence[tuple[float, float]]


def limit(variance: float, threshold: float) -> Limit:
    return Limit(variance * UNIT * UNIT, threshold * UNIT)


def crossing(limits: Levels, variance: float, threshold: float) -> Crossing:
    return Crossing([limit(*one) for one in limits], limit(variance, threshold), 1)


NEAR: Levels = [(1, 1.5), (2, 2.2), (4, 3.0)]
FAR: Levels = [(1, 7), (2, 10), (4, 14)]


@pytest.mark.parametrize(
    ("variance", "threshold", "known"),
    [(3, 2, 0.0502555), (0.5, 1, 0.0448791), (6, 3.5, 0.0344844)],
)
def test_chances_have_their_known_values(variance: float, threshold: float, known: float) -> None:
    assert crossing(NEAR, variance, threshold).probability == pytest.approx(known, abs=6e-8)


def test_a_far_tail_has_its_known_chance() -> None:
    assert crossing(FAR, 3, 12).probability == pytest.approx(2.00968247e-12, rel=3e-9)


def _between(
    low: tuple[float, float], new: tuple[float, float], high: tuple[float, float]
) -> float:
    """Return the probability by a single integral, in 30 digits: one bound on either side."""
    (a, below), (s, tau), (b, above) = low, new, high

    def weight(x: mpmath.mpf) -> mpmath.mpf:
        back = mpmath.ncdf((below - x * a / s) / mpmath.sqrt(mpmath.mpf(a) * (s - a) / s))
        onward = mpmath.ncdf((above - x) / mpmath.sqrt(mpmath.mpf(b) - s))
        return mpmath.npdf(x, 0, mpmath.sqrt(s)) * back * onward

    with mpmath.workdps(30):
        scale = mpmath.sqrt(s)
        up = [tau + scale * k / 8 for k in range(41)]
        down = [tau - scale * k / 4 for k in range(81)][::-1]
        reported, silent = mpmath.quad(weight, up), mpmath.quad(weight, down)
        return float(reported / (reported + silent))


AT_EVERY_CHANGE = {(1.3, 6.0)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ratio", "z"),
    [
        pytest.param(ratio, z, marks=[] if (ratio, z) in AT_EVERY_CHANGE else pytest.mark.nightly)
        for ratio in (1.01, 1.3, 64.0)
        for z in (2.0, 6.0, 9.0)
    ],
)
def test_between_two_limits_the_chance_is_the_single_integral(z: float, ratio: float) -> None:
    levels = [(s, z * math.sqrt(s)) for s in (1 / ratio, 1.0, ratio)]
    found = crossing([levels[0], levels[2]], *levels[1]).probability
    assert found == pytest.approx(_between(levels[0], levels[1], levels[2]), rel=1e-12)


@pytest.mark.slow
def test_thresholds_that_differ_much_between_tiers_do_no_harm() -> None:
    levels = [(1 / 1.01, 8.0), (1.0, 9.5), (1.01, 8.2)]
    found = crossing([levels[0], levels[2]], *levels[1]).probability
    assert found == pytest.approx(_between(levels[0], levels[1], levels[2]), rel=1e-12)


def test_with_many_limits_chances_are_those_of_the_normal_law_of_them_all() -> None:
    levels = [*NEAR, (6.0, 3.5)]
    variances = np.array([level for level, _ in levels])
    limits = np.array([at for _, at in levels])
    covariance = np.minimum.outer(variances, variances)
    # The one law marks the last level free, the other one not.
    silent, everywhere = (
        float(multivariate_normal.cdf(ends, np.zeros(4), covariance, abseps=1e-7, maxpts=10**6))
        for ends in (np.append(limits[:3], np.inf), limits)
    )
    assert crossing(NEAR, 6, 3.5).probability == pytest.approx(1 - everywhere / silent, abs=1e-6)


def _on_the_lattice(limits: Sequence[tuple[float, int]], place: int) -> float:
    """Return the chance by sums over all integers.

    The new level is at ``place`` of ``limits``.
    """
    axes = []
    for i, (variance, last) in enumerate(limits):
        end = last if i != place else int(math.sqrt(last**2 + 80 * variance))
        axes.append(np.arange(int(-8.5 * math.sqrt(variance)), end + 1, dtype=np.float64))
    reported = axes[place] > limits[place][1]
    mass: NDArray[np.float64] = np.exp(axes[0] ** 2 / (-2 * limits[0][0]))[:, None]
    for i in range(len(limits)):
        if i:
            gap = limits[i][0] - limits[i - 1][0]
            mass = np.exp((axes[i][:, None] - axes[i - 1]) ** 2 / (-2 * gap)) @ mass
        if i == place:
            mass = np.hstack([mass * reported[:, None], mass])
    return float(mass[:, 0].sum() / mass[:, 1].sum())


@pytest.mark.slow
@pytest.mark.parametrize("z", [3.0, 9.0])
@pytest.mark.parametrize(("ratio", "worst"), [(1.0101, 4e-10), (2.0, 6e-11)])
def test_integrals_up_to_half_a_step_are_sums_over_the_lattice(
    z: float, ratio: float, worst: float
) -> None:
    """At a deviation of ``2^8`` steps; what is left falls with its square, down to ``worst``."""
    deviation = 1 << 8
    variances = [deviation**2 / ratio, deviation**2, deviation**2 * ratio]
    limits = [(variance, int(z * math.sqrt(variance))) for variance in variances]
    exact = _on_the_lattice(limits, 1)

    def chance(half: float) -> float:
        low, new, high = (Limit(variance, last + half) for variance, last in limits)
        return Crossing([low, high], new, 1).probability

    assert abs(chance(0.5) / exact - 1) * (deviation / 2**18) ** 2 < worst
    assert abs(chance(0.0) / exact - 1) > 0.005, "without half a step it would be off"


def test_noise_is_drawn_from_its_law_at_every_level() -> None:
    size, limits = 20_000, [*NEAR]
    found = crossing(limits, 3, 2).draw(size, Stream.from_key(sha256(b"noise").digest())) / UNIT
    assert found.shape == (4, size)
    for row, at in zip(found[[0, 1, 3]], (1.5, 2.2, 3.0), strict=True):
        assert (row <= at).all()
    assert (found[2] > 2).all()
    # Rejection from the whole path, which knows no messages.
    steps = np.sqrt(np.diff([0.0, 1, 2, 3, 4]))[:, None]
    noise = Stream.from_key(sha256(b"paths").digest()).generator.standard_normal((4, 800_000))
    paths = np.cumsum(noise * steps, axis=0)
    ends = np.array([1.5, 2.2, np.inf, 3.0])[:, None]
    kept = paths[:, (paths <= ends).all(axis=0) & (paths[2] > 2)]
    for row, other in zip(found, kept, strict=True):
        assert kstest(row, other).pvalue > 1e-6
    assert np.allclose(np.corrcoef(found), np.corrcoef(kept), atol=0.03)


def test_levels_too_close_for_quadrature_are_refused() -> None:
    with pytest.raises(InvalidInput, match="whose rungs are at least"):
        crossing([(1.0, 9.0), (1.0 + 1e-9, 9.0)], 1.0 + 5e-10, 9.0)
