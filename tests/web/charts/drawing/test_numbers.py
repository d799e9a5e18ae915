"""Test numbers and names as pictures write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.web.charts.pictures import around

from penstock.web.charts.drawing.numbers import Digits, digits_of, loss, scientific, share, tick
from penstock.web.charts.drawing.values import Interval


@pytest.mark.parametrize(
    ("value", "half", "written"),
    [
        (5012.3, 310.2, "5,012"),
        (-5012.3, 3.1, "−5,012.3"),
        (1394.0, 3.1, "1,394"),
        (1394.04, 4.4, "1,394"),
        (0.1234, 0.0044, "0.123"),
        (0.04, 0.1, "0.04"),
        (-0.004, 0.1, "0.00"),
        (1234567.0, 0.0, "1,234,567"),
        (0.125, 0.0, "0.125"),
        (3e-7, 1e-8, "3×10⁻⁷"),
        (3e20, 1e18, "3×10²⁰"),
        (0.0, 1e-30, "0"),
    ],
)
def test_a_value_has_the_digits_that_its_interval_leaves_it(
    value: float, half: float, written: str
) -> None:
    interval = around(value, half)
    assert digits_of([interval]).write(value) == written


def test_one_column_has_one_number_of_decimals() -> None:
    digits = digits_of([around(1.5, 30), around(2, 0.3)])
    assert (digits.write(1), digits.range(around(2, 0.3))) == ("1.00", "1.70 to 2.30")


def test_whole_numbers_alone_have_no_decimals_and_ends_between_them_do() -> None:
    counts = [around(1394, 2.1), around(12, 2.1)]
    digits = digits_of(counts)
    assert [digits.write(each.value) for each in counts] == ["1,394", "12"]
    assert digits.range(counts[1]) == "9.9 to 14.1"
    assert digits_of([around(1394, 2.1), around(12.5, 2.1)]).write(1394) == "1,394.0"


def test_no_interval_at_all_is_no_reason_to_fail() -> None:
    assert digits_of([]) == Digits(0)


@given(st.floats(-1e299, 1e299), st.floats(0, 1e299))
def test_no_number_is_longer_than_a_column(value: float, half: float) -> None:
    interval = Interval(value, value - half, value + half)
    assert len(digits_of([interval]).write(value)) <= 20


@pytest.mark.parametrize(
    ("fraction", "written"),
    [(0, "0%"), (1e-9, "<0.1%"), (0.013, "1.3%"), (0.0996, "10%"), (0.437, "44%"), (1, "100%")],
)
def test_shares_have_a_decimal_where_they_are_small(fraction: float, written: str) -> None:
    assert share(fraction) == written


def test_losses_and_ticks_are_short() -> None:
    assert (loss(2.6912), loss(None), loss(12345.6)) == ("2.69", "unbounded", "12,346")
    assert (tick(0, 5), tick(-1500, 500), tick(0.25, 0.05)) == ("0", "−1,500", "0.25")
    assert (scientific(-2.5e9, 5e8), scientific(1e-7)) == ("−2.5×10⁹", "10⁻⁷")
