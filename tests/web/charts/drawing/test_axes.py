"""Test axes: monotone, within their ends, with round ticks whose labels have room."""

import itertools
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.web.charts.drawing.axes import Axis, counting, linear, logarithmic, upright, with_zero
from penstock.web.charts.drawing.lettering import width_of
from penstock.web.charts.drawing.values import LARGEST

FINITE = st.floats(-LARGEST, LARGEST)
ABOVE_ZERO = st.floats(1 / LARGEST, LARGEST)
START, END = 40.0, 300.0
Make = Callable[[float, float, float, float], Axis]


def kept(axis: Axis, numbers: list[float]) -> None:
    """Require what holds for every axis: order, its ends, and at least one tick between them."""
    places = [axis.at(number) for number in sorted(numbers)]
    assert all(START - 1e-6 <= place <= END + 1e-6 for place in places)
    assert all(a <= b + 1e-9 for a, b in itertools.pairwise(places))
    assert axis.ticks
    assert all(axis.low <= value <= axis.high for value, _ in axis.ticks)
    assert len({label for _, label in axis.ticks}) == len(axis.ticks)


@given(FINITE, FINITE, FINITE)
def test_linear_axes_hold_all_their_numbers_in_order(a: float, b: float, c: float) -> None:
    for make in (linear, upright):
        axis = make(min(a, b, c), max(a, b, c), START, END)
        assert axis.low <= min(a, b, c)
        assert axis.high >= max(a, b, c)
        kept(axis, [a, b, c])


@given(ABOVE_ZERO, ABOVE_ZERO, ABOVE_ZERO)
def test_logarithmic_axes_hold_all_their_numbers_in_order(a: float, b: float, c: float) -> None:
    kept(logarithmic(min(a, b, c), max(a, b, c), START, END), [a, b, c])


@given(st.integers(0, 2**53), st.integers(0, 2**53))
def test_counting_axes_have_whole_ticks(a: int, b: int) -> None:
    axis = counting(min(a, b), max(a, b), START, END)
    assert all(float(value).is_integer() for value, _ in axis.ticks)
    assert all(min(a, b) <= value <= max(a, b) for value, _ in axis.ticks)
    assert axis.at(max(a, b)) == END


@given(FINITE, FINITE)
def test_labels_of_an_axis_do_not_touch(a: float, b: float) -> None:
    for axis in (linear(min(a, b), max(a, b), START, END), log_of(a, b), counting(3, 999, 0, 90)):
        spans = [
            (axis.at(value) - width_of(label) / 2, axis.at(value) + width_of(label) / 2)
            for value, label in axis.ticks
        ]
        assert all(right < left for (_, right), (left, _) in itertools.pairwise(spans))


def log_of(a: float, b: float) -> Axis:
    low, high = sorted((max(abs(a), 1e-200), max(abs(b), 1e-200)))
    return logarithmic(low, high, START, END)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 5412, ["0", "2,000", "4,000"]),
        (1280, 1404, ["1,300", "1,350", "1,400"]),
        (-0.02, 0.06, ["−0.02", "0.00", "0.02", "0.04", "0.06"]),
        (1e-7, 4e-7, ["10⁻⁷", "2×10⁻⁷", "3×10⁻⁷", "4×10⁻⁷"]),
        (0, 3e14, ["0", "10¹⁴", "2×10¹⁴", "3×10¹⁴"]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, labels: list[str]) -> None:
    written = [label for _, label in linear(low, high, 0, 420, 5).ticks]
    assert [label.replace("0.00", "0") for label in written] == [
        label.replace("0.00", "0") for label in labels
    ]


def test_equal_factors_are_equally_far_on_a_logarithmic_axis() -> None:
    axis = logarithmic(1, 1000, 0, 150)
    steps = [b - a for a, b in itertools.pairwise(map(axis.at, (1, 10, 100, 1000)))]
    assert steps == pytest.approx([steps[0]] * 3)
    assert [label for _, label in axis.ticks] == ["1", "10", "100", "1,000"]


def test_equal_numbers_are_in_the_middle_and_zero_alone_has_room() -> None:
    assert linear(7, 7, 0, 100).at(7) == pytest.approx(50)
    assert linear(0, 0, 0, 100).at(0) == 0
    assert math.isfinite(linear(-LARGEST, LARGEST, 0, 100).at(1))


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (5, 100, (0, 100)),
        (80, 100, (80, 100)),
        (-100, -80, (-100, -80)),
        (-100, -5, (-100, 0)),
        (-1, 1, (-1, 1)),
        (0, 0, (0, 0)),
    ],
)
def test_zero_is_on_the_axis_unless_it_would_hide_what_differs(
    low: float, high: float, wanted: tuple[float, float]
) -> None:
    assert with_zero(low, high) == wanted
