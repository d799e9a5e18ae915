"""Test the ladder of levels: exact, increasing, and the same for everybody."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidInput
from penstock.privacy import Ladder
from penstock.privacy.level import _roots

ladders = st.builds(
    Ladder,
    finest=st.integers(2**11, 2**40),
    unit=st.integers(-60, 20).map(lambda exponent: Fraction(2) ** exponent),
    last=st.integers(0, 20_000),
)


@given(ladders, st.data())
def test_a_level_is_above_the_rung_before_its_own(ladder: Ladder, data: st.DataObject) -> None:
    rung = data.draw(st.integers(0, ladder.last))
    level = ladder.value(rung)
    assert ladder.rung_at_or_above(level) == rung
    if rung > 0:
        below = ladder.value(rung - 1)
        assert below < level
        assert ladder.rung_at_or_above((below + level) / 2) == rung
        assert ladder.rung_at_or_above(below) == rung - 1


@given(ladders)
def test_rungs_are_roots_of_powers_of_two_rounded_towards_noise(ladder: Ladder) -> None:
    rung = ladder.last
    steps = int(ladder.value(rung) / ladder.unit)
    power = ladder.finest**709 << rung
    assert steps**709 >= power
    # One unit of the result, and the root's own rounding at 64 binary digits.
    below = steps - 1 - Fraction(steps, 2**63)
    assert below.numerator**709 < power * below.denominator**709


def test_adjacent_rungs_are_a_thousandth_apart() -> None:
    ladder = Ladder(finest=2**28, unit=Fraction(1), last=709)
    for rung in range(709):
        ratio = ladder.value(rung + 1) / ladder.value(rung)
        assert 1 + Fraction(1, 1024) <= ratio < 1 + Fraction(1, 1022), rung


def test_seven_hundred_and_nine_rungs_double_the_level() -> None:
    ladder = Ladder(finest=4097, unit=Fraction(1, 8), last=7090)
    assert ladder.value(7090) == 1024 * ladder.value(0)


def test_anything_more_accurate_than_the_finest_is_the_finest() -> None:
    ladder = Ladder(finest=4096, unit=Fraction(1), last=10)
    assert ladder.rung_at_or_above(Fraction(1, 3)) == 0


def test_a_level_beyond_the_last_rung_is_refused_with_the_last() -> None:
    ladder = Ladder(finest=4096, unit=Fraction(1), last=3)
    with pytest.raises(InvalidInput, match="4109"):
        ladder.rung_at_or_above(ladder.value(3) + 1)


@pytest.mark.parametrize("rung", [-1, 4])
def test_a_rung_off_the_ladder_is_refused(rung: int) -> None:
    with pytest.raises(InvalidInput, match="rungs 0 to 3"):
        Ladder(finest=4096, unit=Fraction(1), last=3).value(rung)


def test_roots_are_those_of_powers_of_two_taken_one_by_one() -> None:
    """Each is the root before it times the first, and the products' errors never reach a digit."""
    context = Context(prec=80)
    for doubling in (1, 3, 709):
        for step, root in enumerate(_roots(doubling)):
            exponent = context.divide(Decimal(step), Decimal(doubling))
            exact = context.multiply(context.power(Decimal(2), exponent), Decimal(2**64))
            assert root == math.ceil(exact), (doubling, step)
