"""Test logarithms of Skellam probabilities, against Bessel functions in many digits."""

import mpmath
import numpy as np
import pytest
from tests.unit.mechanisms.skellam.exact import exact_mass

from penstock.mechanisms.skellam.tails import reach
from penstock.randomness.bessel import law
from penstock.randomness.bessel.law import EXPANDED, log_skellam


@pytest.mark.parametrize("variance", [0.3, 5.0, EXPANDED - 1e-9, EXPANDED, 300.0])
def test_logarithms_of_probabilities_are_right_to_1e_13(variance: float) -> None:
    orders = np.unique(np.rint(np.linspace(0, reach(variance), 12)))
    with mpmath.workdps(40):
        exact = [mpmath.log(exact_mass(variance)(int(k))) for k in orders]
        errors = np.array(
            [
                abs(float(a - mpmath.mpf(float(b))))
                for a, b in zip(exact, log_skellam(orders, variance), strict=True)
            ]
        )
    assert errors.max() < 1e-13


@pytest.mark.parametrize("variance", [EXPANDED, 700.0, 5e3, 1e5, 3e7, 1e12])
def test_terms_of_the_expansion_that_are_left_out_are_lost_in_rounding(
    variance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = np.rint(np.linspace(0, reach(variance), 2000))
    few = log_skellam(orders, variance)
    monkeypatch.setattr(law, "_NEGLIGIBLE", 0.0)
    assert (log_skellam(orders, variance) == few).all()


def test_most_terms_of_the_expansion_are_left_out_at_a_large_variance() -> None:
    assert [law._terms(variance) for variance in (EXPANDED, 1e5, 1e12)] == [8, 4, 1]
