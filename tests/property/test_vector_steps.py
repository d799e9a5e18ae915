"""Test pushed values against exact fractions."""

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.connectors.vector import vector_steps
from penstock.errors import InvalidInput

steps = st.one_of(
    st.integers(1, 2**40).map(Fraction),
    st.integers(-40, 40).map(lambda power: Fraction(2) ** power),
)
numbers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-100, 100),
    st.floats(),
    st.floats(-8, 8, width=16),
    st.integers(-100, 100).map(lambda number: number / 4),
)


def _exactly(values: list[int | float], step: Fraction, bound: Fraction) -> list[int] | int:
    """Return the counts of steps, or the place of the first value that is refused."""
    counts = []
    for place, value in enumerate(values):
        if isinstance(value, float) and not float("-inf") < value < float("inf"):
            return place
        count = Fraction(value) / step
        if count.denominator > 1 or abs(Fraction(value)) > bound:
            return place
        counts.append(int(count))
    return counts


@given(st.lists(numbers, min_size=1, max_size=8), steps, st.integers(1, 2**61))
@example([2.0**53, 2**53 + 1], Fraction(1), 2**53)
@example([5e-324], Fraction(2**40), 2**61)
def test_steps_are_exact_or_a_wrong_value_is_named(
    values: list[int | float], step: Fraction, most: int
) -> None:
    bound = min(most * step, Fraction(2**62))
    expected = _exactly(values, step, bound)
    if isinstance(expected, list):
        assert vector_steps(values, step, bound).tolist() == expected
        return
    with pytest.raises(InvalidInput) as caught:
        vector_steps(values, step, bound)
    assert caught.value.errors[0][0] == f"/values/{expected}"
