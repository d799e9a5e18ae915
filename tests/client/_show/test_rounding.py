"""Test numbers and texts formatted for people."""

import math

import pytest

from penstock_client._show.rounding import cut, decimals, fixed, percent, printable, short


@pytest.mark.parametrize(
    ("deviation", "digits"),
    [(45.03, 0), (10, 0), (9.99, 1), (1, 1), (0.5, 2), (0.045, 3), (4500, 0), (1e-30, 12)],
)
def test_an_error_leaves_two_digits(deviation: float, digits: int) -> None:
    assert decimals(deviation) == digits


@pytest.mark.parametrize("deviation", [0.0, -1.0, math.inf, math.nan])
def test_no_error_leaves_no_digits(deviation: float) -> None:
    assert decimals(deviation) == 0


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (31987.5, 0, "31,988"),
        (-0.3, 0, "0"),
        (-0.0, 2, "0.00"),
        (-1234.567, 1, "-1,234.6"),
        (1e300, 2, "1e+300"),
        (-0.004, 2, "0.00"),
    ],
)
def test_fixed_numbers(value: float, digits: int, text: str) -> None:
    assert fixed(value, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.62937, "0.629"),
        (1e-6, "1e-06"),
        (31987, "31,987"),
        (3, "3"),
        (None, "∞"),
        (1e99, "1e+99"),
    ],
)
def test_short_numbers(value: float | None, text: str) -> None:
    assert short(value) == text


def test_more_digits_keep_thousands_apart() -> None:
    assert [short(value, 6) for value in (2028, 49765.5, 270323.2, 1688703, 1e-6)] == [
        *("2,028", "49,765.5", "270,323", "1,688,703", "1e-06")
    ]


def test_percentages_keep_their_digits() -> None:
    assert [percent(0.95), percent(0.999), percent(0.5)] == ["95%", "99.9%", "50%"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Müller 東京", "Müller 東京"),
        ("a\nb", "a\\u000ab"),
        ("\x1b[31m", "\\u001b[31m"),
        ("\x9b31m", "\\u009b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2028b", "a\\u2028b"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_nothing_steers_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_long_label_is_cut() -> None:
    assert (cut("abcdef", 6), cut("abcdefg", 6)) == ("abcdef", "abcde…")
