"""Test the options that commands share: what they accept and refuse."""

from datetime import UTC, datetime

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.options import Moment, Positive, TierBudget


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_a_positive_number_is_read_as_it_is_written(number: float) -> None:
    assert Positive().convert(str(number), None, None) == number


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "many", ""])
def test_what_is_no_number_above_zero_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a number above 0"):
        Positive().convert(text, None, None)


def test_zero_is_read_where_it_is_allowed() -> None:
    assert Positive(or_zero=True).convert("0", None, None) == 0
    with pytest.raises(click.BadParameter):
        Positive(or_zero=True).convert("-0.1", None, None)


def test_a_budget_may_be_of_a_tier_with_an_equals_sign() -> None:
    """The epsilon follows the last equals sign."""
    assert TierBudget().convert("a=b=0.5", None, None) == ("a=b", 0.5)


@pytest.mark.parametrize("text", ["public", "=1", "public=", "public=0", "public=-1"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        TierBudget().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "hour"),
    [("2026-11-20", 0), ("2026-11-20T12:00Z", 12), ("2026-11-20T12:00+02:00", 10)],
)
def test_a_time_is_read_in_its_zone_or_in_utc(text: str, hour: int) -> None:
    at = Moment().convert(text, None, None)
    assert at == datetime(2026, 11, 20, hour, tzinfo=UTC)
    assert at.tzinfo is UTC


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "0001-01-01T00:00+23:00"])
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(click.BadParameter, match="2026-11-20T12:00Z"):
        Moment().convert(text, None, None)
