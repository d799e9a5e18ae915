from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from penstock.errors import InvalidInput
from penstock.mechanisms.lattice import (
    LARGEST_STEPS,
    check_confidence,
    check_granularity,
    check_increasing,
    finest_common_power,
    floor_log2,
    lattice_steps,
    reaching_ladder,
    rounded_up,
)
from penstock.privacy import Ladder

positive_fractions = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12)


@given(positive_fractions)
def test_floor_log2_brackets_its_argument(value: Fraction) -> None:
    power = Fraction(2) ** floor_log2(value)
    assert power <= value < 2 * power


@given(st.integers(min_value=1, max_value=10**9), st.integers(min_value=-40, max_value=40))
def test_the_common_power_divides_the_step_and_its_double_does_not(odd: int, power: int) -> None:
    step = odd * Fraction(2) ** power
    common = finest_common_power(step)
    assert (step / common).denominator == 1
    assert (step / (2 * common)).denominator == 2


@pytest.mark.parametrize("step", [Fraction(1, 3), Fraction(1, 100), Fraction(0), Fraction(-1)])
def test_steps_that_no_power_of_two_divides_are_refused(step: Fraction) -> None:
    with pytest.raises(InvalidInput, match="1/64 in place of 1/100"):
        finest_common_power(step)


@pytest.mark.parametrize("granularity", [Fraction(3), Fraction(3, 4), Fraction(0), Fraction(-1)])
def test_granularities_other_than_powers_of_two_are_refused(granularity: Fraction) -> None:
    with pytest.raises(InvalidInput):
        check_granularity(granularity)


@given(positive_fractions)
def test_rounding_up_gives_the_least_float_that_is_no_less(value: Fraction) -> None:
    rounded = rounded_up(value)
    assert Fraction(rounded) >= value
    assert Fraction(np.nextafter(rounded, 0.0)) < value


@pytest.mark.parametrize("levels", [(1, 1), (2, 1), (0, 2, 2), (-1, 1)])
def test_levels_out_of_order_are_refused(levels: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="must increase"):
        check_increasing(*map(Fraction, levels))


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_confidences_outside_of_the_open_unit_interval_are_refused(confidence: float) -> None:
    with pytest.raises(InvalidInput):
        check_confidence(confidence)


@given(st.integers(min_value=1, max_value=10**6), st.integers(min_value=0, max_value=60))
def test_a_ladder_reaches_as_far_as_allowed_and_not_a_rung_further(finest: int, much: int) -> None:
    unit = Fraction(1, 1 << 20)
    noisiest = finest * unit * Fraction(1 << much) * Fraction(3, 2)
    ladder = reaching_ladder(finest, unit, noisiest)
    assert ladder.value(ladder.last) <= noisiest
    assert Ladder(finest, unit, ladder.last + 1).value(ladder.last + 1) > noisiest


def test_a_ladder_that_cannot_hold_its_first_rung_is_refused() -> None:
    with pytest.raises(InvalidInput, match="coarser step"):
        reaching_ladder(10, Fraction(1), Fraction(9))


@given(
    st.lists(st.integers(min_value=-(2**30), max_value=2**30), min_size=1, max_size=20),
    st.integers(min_value=-20, max_value=20),
)
def test_floats_and_integers_on_the_lattice_become_their_steps(
    steps: list[int], power: int
) -> None:
    granularity = Fraction(2) ** power
    floats = [step * float(granularity) for step in steps]
    assert lattice_steps(floats, granularity).tolist() == steps
    if power >= 0:
        integers = [step * granularity.numerator for step in steps]
        assert lattice_steps(integers, granularity).tolist() == steps
    elif max(map(abs, steps)) << -power <= LARGEST_STEPS:
        assert lattice_steps(steps, granularity).tolist() == [step << -power for step in steps]


@pytest.mark.parametrize(
    ("values", "granularity"),
    [
        ([0.3], Fraction(1, 4)),
        ([0.25], Fraction(1)),
        ([1, 2, 3], Fraction(2)),
        ([float("nan")], Fraction(1)),
        ([float("inf"), 1.0], Fraction(1)),
        ([-float("inf")], Fraction(1, 1024)),
        ([2.0**52 + 1], Fraction(1)),
        ([2**52 + 1], Fraction(1)),
        ([-(2**52) - 1], Fraction(1)),
        ([2**63 - 1], Fraction(1, 1 << 60)),
        ([-(2**63)], Fraction(1)),
        ([1], Fraction(1, 1 << 53)),
        ([1], Fraction(1 << 70)),
        ([5e-324], Fraction(1 << 60)),
        ([1e308], Fraction(1, 1 << 60)),
        (np.array([2**64 - 1], dtype=np.uint64), Fraction(1)),
    ],
)
def test_values_off_the_lattice_are_refused_without_being_shown(
    values: ArrayLike, granularity: Fraction
) -> None:
    with pytest.raises(InvalidInput, match="clamp and round") as refusal:
        lattice_steps(values, granularity)
    other = np.full(np.shape(values), np.nan)
    with pytest.raises(InvalidInput) as same:
        lattice_steps(other, granularity)
    assert refusal.value.detail == same.value.detail


@pytest.mark.parametrize(
    "values", [[], [[1, 2]], 3, ["a"], [True], [1j], [None], np.array([1], dtype=np.longdouble)]
)
def test_what_is_no_vector_of_numbers_is_refused(values: ArrayLike) -> None:
    with pytest.raises(InvalidInput, match="vector"):
        lattice_steps(values, Fraction(1))


def test_the_steps_are_a_copy() -> None:
    values = np.array([1, 2, 3])
    steps = lattice_steps(values, Fraction(1))
    steps[0] = 99
    assert values[0] == 1
