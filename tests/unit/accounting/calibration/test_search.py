"""Test that the search comes back with a good level that is hardly above the least good one."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.accounting.calibration.search import PRECISION, NoneIsGood, least, least_rung


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.floats(0.1, 3))
def test_a_power_law_is_inverted(root: float, guess: float, power: float) -> None:
    def excess(level: Fraction) -> float:
        return -power * math.log(level / Fraction(root))

    found = least(excess, guess, 0.0, 1e9)
    assert excess(found) <= 0
    assert found <= Fraction(root) * (1 + Fraction(3 * PRECISION))


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_a_curve_made_of_steps_is_inverted(root: float, guess: float) -> None:
    def excess(level: Fraction) -> float:
        return 1.0 if level < root else -1.0

    found = least(excess, guess, 0.0, 1e9)
    assert root <= found <= root * (1 + 3 * PRECISION)


def test_an_infinite_excess_is_left_behind() -> None:
    found = least(lambda level: math.inf if level < 5 else -math.inf, 1.0, 0.0, 1e9)
    assert 5 <= found <= 5 * (1 + 3 * PRECISION)


def test_few_tries_are_needed_from_a_close_guess() -> None:
    tries = []

    def excess(level: Fraction) -> float:
        tries.append(level)
        return 3 - math.log(level) ** 2 / 10

    least(excess, math.exp(math.sqrt(30)) * 1.01, 0.0, 1e9)
    assert len(tries) <= 9


def test_where_nothing_is_good_it_says_up_to_which_level() -> None:
    with pytest.raises(NoneIsGood, match="the most that can be drawn, 1000"):
        least(lambda _: 1.0, 3.0, 0.0, 1e3)


def test_nothing_below_the_least_level_is_tried() -> None:
    def excess(level: Fraction) -> float:
        assert level >= 1
        return -1.0

    assert least(excess, 7.0, 1.0, 1e9) == 1


@given(st.integers(0, 40_000), st.integers(0, 40_000), st.floats(0.1, 3), st.integers(0, 40_000))
def test_the_least_good_rung_of_a_power_law_is_found(
    root: int, guess: int, power: float, last: int
) -> None:
    def excess(rung: int) -> float:
        assert 0 <= rung <= last
        return power * (root - rung) / 1023

    assert least_rung(excess, guess, last) == min(root, last + 1)


@given(st.integers(0, 40_000), st.integers(0, 40_000), st.sampled_from([1.0, math.inf]))
def test_the_least_good_rung_of_steps_is_found(root: int, guess: int, above: float) -> None:
    def excess(rung: int) -> float:
        return above if rung < root else -math.inf

    assert least_rung(excess, guess, 40_000) == root


def test_a_close_guess_is_tried_with_its_neighbors_alone() -> None:
    for guess in (999, 1000, 1001):
        tries = []

        def excess(rung: int) -> float:
            tries.append(rung)  # noqa: B023 - it is called in this round
            return (999.5 - rung) / 1023

        assert least_rung(excess, guess, 40_000) == 1000
        assert len(tries) <= 4


def test_where_no_rung_is_good_the_one_after_the_last_says_so() -> None:
    assert least_rung(lambda _: 1.0, 3, 40_000) == 40_001
    assert least_rung(lambda _: math.inf, 0, 0) == 1
