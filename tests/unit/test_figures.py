"""Test numbers, texts and times as people read them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from penstock.figures import aligned, decimals, fixed, moment, percent, printable, short


@pytest.mark.parametrize(
    ("deviation", "digits"), [(45.0, 0), (8.06, 1), (0.1, 2), (0.0123, 3), (0, 0), (1e-300, 12)]
)
def test_a_value_has_the_digits_that_its_error_leaves(deviation: float, digits: int) -> None:
    assert decimals(deviation) == digits


def test_numbers_are_written_for_people() -> None:
    assert fixed(-0.001, 1) == "0.0"
    assert fixed(1234567.891, 2) == "1,234,567.89"
    assert fixed(1e16, 0) == "1e+16"
    assert short(1234.5) == "1,234"
    assert short(0.00012345) == "0.000123"
    assert percent(0.95) == "95%"
    assert aligned([["e\u0301水", "x"], ["abcd", "y"]]) == ["e\u0301水   x", "abcd  y"]
    assert printable("a\nb\u202e") == "a\\u000ab\\u202e"


@pytest.mark.parametrize("deviation", [-1.0, 0.0, float("inf"), float("nan")])
def test_an_error_that_is_none_leaves_no_decimals(deviation: float) -> None:
    assert decimals(deviation) == 0


def test_a_time_is_written_in_utc_whatever_its_zone() -> None:
    at = datetime(2026, 1, 1, 0, 30, 59, 999_999, tzinfo=timezone(timedelta(hours=2)))
    assert moment(at) == moment(at.astimezone(UTC)) == "2025-12-31 22:30:59Z"


def test_columns_stand_at_the_right_where_that_is_wished() -> None:
    assert aligned([["a", "1"], ["bb", "200"]], right=[1]) == ["a     1", "bb  200"]


@pytest.mark.parametrize("character", ["\x1b", "\u2028", "\u202e", "\u2066", "\x00", "\t"])
def test_what_steers_a_terminal_is_escaped(character: str) -> None:
    assert printable(f"a{character}b") == f"a\\u{ord(character):04x}b"
    assert printable("Zoë 水 ") == "Zoë 水 "
