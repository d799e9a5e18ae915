"""Test the tight report of Skellam releases, against two other ways to the same figure."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from penstock.accounting import PlacedRelease, composed_epsilon
from penstock.accounting.reporting.losses import skellam_table
from penstock.mechanisms import Skellam
from penstock.mechanisms.skellam.curve import epsilon_of_shape
from penstock.privacy import Sensitivity

DELTA = 1e-6


def _sensitivity(l1: int, l2_squared: int, linf: int) -> Sensitivity:
    return Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))


def _placed(variance: float, sensitivity: Sensitivity) -> PlacedRelease:
    return PlacedRelease("skellam", Fraction(1), Fraction(variance), sensitivity)


@pytest.mark.parametrize(("variance", "shift"), [(1000, 1), (200, 3), (10**9, 40)])
def test_one_release_has_the_epsilon_of_its_guarantee(variance: int, shift: int) -> None:
    sensitivity = _sensitivity(shift, shift**2, shift)
    composed = composed_epsilon([_placed(variance, sensitivity)], DELTA)
    alone = Skellam(Fraction(1)).guarantee(Fraction(variance), sensitivity, DELTA).epsilon
    assert alone * (1 - 1e-9) <= composed < alone * (1 + 1e-3)


def test_ten_releases_compose_as_ten_values_of_one() -> None:
    composed = composed_epsilon([_placed(1000, _sensitivity(1, 1, 1))] * 10, DELTA)
    together = epsilon_of_shape(1000.0, ((1, 10),), DELTA)
    assert together * (1 - 1e-6) <= composed < together * (1 + 1e-3)


def test_a_value_on_a_fine_lattice_is_in_its_own_steps() -> None:
    fine = PlacedRelease("skellam", Fraction(1, 4), Fraction(1000, 16), _sensitivity(1, 1, 1))
    same = _placed(1000, _sensitivity(4, 16, 4))
    assert composed_epsilon([fine], DELTA) == composed_epsilon([same], DELTA)


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_the_table_is_never_below_the_sum_over_outcomes(shift: int) -> None:
    width, variance = 1e-4, 60.0
    profile = skellam_table(variance, shift, width, 1e-14).profile(70_000)
    values = np.arange(-200, 200)
    law = stats.skellam(variance / 2, variance / 2)
    for place in (0, 1000, 5000, 15_000):
        gain = law.pmf(values) - np.exp(place * width) * law.pmf(values - shift)
        exact = gain[gain > 0].sum()
        assert exact <= profile[place] + 1e-13
        assert profile[place] == pytest.approx(exact, rel=1e-3, abs=2e-14)


def test_mass_that_is_cut_off_counts_as_lost() -> None:
    tail = 0.05
    table = skellam_table(60.0, 2, 1e-3, tail)
    assert table.infinite == tail
    values = np.arange(-200, 200)
    law = stats.skellam(30.0, 30.0)
    for place in (100, 400, 900):
        gain = law.pmf(values) - np.exp(place * 1e-3) * law.pmf(values - 2)
        assert gain[gain > 0].sum() <= table.profile(2000)[place]


@pytest.mark.parametrize("variance", [1.0, 400.0])
def test_a_vector_is_composed_at_the_worst_of_its_shapes(variance: float) -> None:
    """Even shifts where the noise is few steps wide, concentrated ones where it is wide."""
    placed = _placed(variance, _sensitivity(40, 160, 10))
    promised = placed.law.guarantee(placed.level, placed.sensitivity, 1e-6).epsilon
    assert promised <= composed_epsilon([placed], 1e-6) * (1 + 1e-9)
    shapes = placed.shifts.worst
    assert len(shapes) == 2
    both = composed_epsilon([placed, placed], 1e-6)
    twice = [tuple((shift, 2 * count) for shift, count in shape) for shape in shapes]
    least = max(epsilon_of_shape(variance, shape, 1e-6) for shape in twice)
    assert least * (1 - 1e-9) <= both <= least * 1.03
