"""Test the lattice and the ladder of a histogram: what fits, and what a refusal offers."""

import math
from fractions import Fraction

import pytest
from tests.unit.structures.small_histogram import LADDER, MECHANISM

from penstock.errors import InvalidInput
from penstock.structures.sparse_histogram import plan

G = MECHANISM.granularity


def test_rungs_of_a_histogram_are_at_least_a_hundredth_apart() -> None:
    for rung in range(0, LADDER.last, 7):
        assert LADDER.value(rung + 1) / LADDER.value(rung) > Fraction(101, 100)


@pytest.mark.parametrize(
    ("ceiling", "bound"), [(Fraction(1, 100), 2**40), (Fraction(4), 2**50), (Fraction(1000), 2**45)]
)
def test_what_a_refused_plan_says_would_fit_does(ceiling: Fraction, bound: int) -> None:
    with pytest.raises(InvalidInput, match="What fits is counts up to") as caught:
        plan(ceiling, Fraction(1), Fraction(bound))
    largest = int(str(caught.value.data["largest_bound"]))
    deviation = Fraction(str(caught.value.data["least_deviation"]))
    for mechanism, ladder in (
        plan(ceiling, Fraction(1), Fraction(largest)),
        plan(deviation**2, Fraction(1), Fraction(bound)),
    ):
        assert ladder.value(0) / mechanism.granularity**2 >= 2**28
    with pytest.raises(InvalidInput, match="Take less noise"):
        plan(Fraction(10) ** 40, Fraction(1), Fraction(1))


def test_values_and_noise_fit_and_a_plan_that_cannot_is_refused() -> None:
    reach = 2**31 + 40 * math.sqrt(LADDER.value(LADDER.last))
    assert reach <= 2**52 * float(G)
    assert LADDER.value(0) / G**2 >= 2**36
    with pytest.raises(InvalidInput, match="do not fit"):
        plan(Fraction(1, 100), Fraction(1), Fraction(2**40))
    with pytest.raises(InvalidInput, match="A variance is above 0"):
        plan(Fraction(0), Fraction(1), Fraction(1))
