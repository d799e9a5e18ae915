"""Test that a size that is known is not released, so that there is nothing to trade off."""

import pytest
from pydantic import ValidationError
from tests.unit.connectors.cases import correlated_of

from penstock.connectors.specs.correlated import LARGEST_TRADE_OFF


def test_either_a_size_or_a_trade_off_may_be_given() -> None:
    assert correlated_of(trade_off=LARGEST_TRADE_OFF).trade_off == LARGEST_TRADE_OFF
    assert correlated_of(known_size=0).known_size == 0


def test_both_are_refused() -> None:
    with pytest.raises(ValidationError, match="nothing to trade off"):
        correlated_of(trade_off=2, known_size=10)


def test_a_size_that_is_not_released_has_no_trade_off_and_a_known_one_is_not_released() -> None:
    assert correlated_of().release_size is None
    assert correlated_of(release_size=False, known_size=3).release_size is False
    assert correlated_of(release_size=True, trade_off=3).release_size is True
    with pytest.raises(ValidationError, match="no trade-off"):
        correlated_of(release_size=False, trade_off=2)
    with pytest.raises(ValidationError, match="is not released"):
        correlated_of(release_size=True, known_size=2)


@pytest.mark.parametrize("trade_off", [0, -1, LARGEST_TRADE_OFF + 1])
def test_a_trade_off_beyond_its_limits_is_refused(trade_off: float) -> None:
    with pytest.raises(ValidationError):
        correlated_of(trade_off=trade_off)


def test_a_size_is_no_negative_number() -> None:
    with pytest.raises(ValidationError):
        correlated_of(known_size=-1)
