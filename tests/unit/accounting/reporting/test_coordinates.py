"""Test that the worst shift of a Laplace vector is composed whole.

The largest steps, and what is left.
"""

from collections import Counter
from fractions import Fraction

from penstock.accounting import PlacedRelease, composed_epsilon
from penstock.accounting.reporting.coordinates import WORST, LaplaceLoss
from penstock.privacy import Sensitivity

STEP = Fraction(1, 64)


def placed(l1: int, l2_squared: int, linf: int) -> PlacedRelease:
    sensitivity = Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))
    return PlacedRelease("laplace", STEP, Fraction(4), sensitivity)


def test_what_is_left_of_a_shift_is_a_coordinate_of_its_own() -> None:
    decay = float(STEP / 4)
    shape = WORST["laplace"](placed(5, 9, 2))
    assert shape == Counter({LaplaceLoss(decay, 128): 2, LaplaceLoss(decay, 64): 1})
    assert WORST["laplace"](placed(4, 8, 2)) == Counter({LaplaceLoss(decay, 128): 2})


def test_what_is_left_of_a_shift_costs() -> None:
    whole, rest = (composed_epsilon([placed(*norms)], 1e-6) for norms in ((4, 8, 2), (5, 9, 2)))
    assert rest > whole * 1.1
