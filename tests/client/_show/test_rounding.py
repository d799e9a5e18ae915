"""Test numbers formatted for people, as the client alone has them."""

import pytest

from penstock_client._show.rounding import percent, short


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
