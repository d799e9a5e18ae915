"""Test that costs are rounded up, limits down, and a refusal carries numbers that are true."""

import math
from fractions import Fraction

import pytest

from penstock.accounting import (
    FAILURE_UNITS,
    LARGEST_LOSS,
    LOSS_UNITS,
    NOTHING,
    Entry,
    account_of,
    check,
    entry,
    limit_of,
    share_of,
    total,
)
from penstock.errors import InvalidInput
from penstock.privacy import Cost

ACCOUNT = account_of(1.0, 1e-6)
LIMIT = limit_of(ACCOUNT)


def test_the_smallest_cost_is_one_unit_of_each() -> None:
    assert entry(Cost(5e-324, 5e-324)) == Entry(1, 1)


def test_a_cost_of_nothing_is_nothing() -> None:
    assert entry(Cost(0.0, 0.0)) == NOTHING


def test_exact_multiples_are_not_rounded() -> None:
    assert entry(Cost(3 / LOSS_UNITS, 5 / FAILURE_UNITS)) == Entry(3, 5)


def test_limits_are_rounded_down() -> None:
    assert Fraction(LIMIT.loss, LOSS_UNITS) <= Fraction(ACCOUNT.limit)
    assert Fraction(LIMIT.failure, FAILURE_UNITS) <= Fraction(ACCOUNT.failure_limit)
    assert Fraction(LIMIT.loss + 1, LOSS_UNITS) > Fraction(ACCOUNT.limit)
    assert Fraction(LIMIT.failure + 1, FAILURE_UNITS) > Fraction(ACCOUNT.failure_limit)


def test_the_largest_account_fits_a_database_integer() -> None:
    limit = limit_of(account_of(1e6, 0.5))
    assert 0 < limit.loss < LARGEST_LOSS < 2**63
    assert 0 < limit.failure < 2**63


def test_the_smallest_account_still_holds_failures() -> None:
    assert limit_of(account_of(1.0, 1e-15)).failure > 100


@pytest.mark.parametrize("loss", [math.inf, 1e300, 1e8])
def test_a_loss_beyond_every_account_is_recorded_as_such(loss: float) -> None:
    assert entry(Cost(loss, math.inf)) == Entry(LARGEST_LOSS, FAILURE_UNITS)
    assert check(account_of(1e6, 0.5), NOTHING, entry(Cost(loss, 0.0))) is not None


@pytest.mark.parametrize("cost", [Cost(-1e-3, 0), Cost(0, -1e-9), Cost(math.nan, 0)])
def test_a_cost_that_is_none_is_refused(cost: Cost) -> None:
    with pytest.raises(InvalidInput):
        entry(cost)


def test_exactly_what_is_left_fits() -> None:
    spent = Entry(LIMIT.loss - 7, LIMIT.failure - 3)
    assert check(ACCOUNT, spent, Entry(7, 3)) is None
    assert check(ACCOUNT, spent, Entry(8, 3)) is not None
    assert check(ACCOUNT, spent, Entry(7, 4)) is not None


@pytest.mark.parametrize("parts", [(0.1,) * 10, (1 / 3,) * 3, (0.7, 0.2, 0.1), (0.55, 0.45)])
def test_shares_that_add_up_to_one_fit_together(parts: tuple[float, ...]) -> None:
    entries = [share_of(ACCOUNT, part) for part in parts]
    assert check(ACCOUNT, total(entries[:-1]), entries[-1]) is None


def test_a_refusal_names_the_largest_share_and_that_share_fits() -> None:
    spent = share_of(ACCOUNT, 0.73)
    spent = Entry(spent.loss, 0)
    shortfall = check(ACCOUNT, spent, share_of(ACCOUNT, 0.5))
    assert shortfall is not None
    assert shortfall.largest_share == pytest.approx(0.27, rel=1e-9)
    assert check(ACCOUNT, spent, share_of(ACCOUNT, shortfall.largest_share)) is None
    beyond = shortfall.largest_share * (1 + 1e-9)
    assert check(ACCOUNT, spent, share_of(ACCOUNT, beyond)) is not None
    assert "0.5 of the budget's" in shortfall.explanation()
    assert "0.27" in shortfall.advice()


def test_a_full_account_leaves_no_share() -> None:
    shortfall = check(ACCOUNT, LIMIT, Entry(1, 0))
    assert shortfall is not None
    assert shortfall.left == NOTHING
    assert shortfall.largest_share == 0
    assert "raise the budget first" in shortfall.advice()


def test_a_refusal_for_failures_says_so() -> None:
    spent = Entry(0, LIMIT.failure - 10)
    shortfall = check(ACCOUNT, spent, Entry(1, 11))
    assert shortfall is not None
    assert "failure probability" in shortfall.explanation()
    assert "fewer levels" in shortfall.advice()
    assert (
        "share" not in shortfall.explanation() + shortfall.advice()
    )  # taken, it would be refused as well
    both = check(ACCOUNT, Entry(LIMIT.loss, LIMIT.failure), Entry(1, 1))
    assert both is not None
    assert "raise the budget first" not in both.explanation() + both.advice()
    assert both.explanation().startswith("A Rényi loss at")
    assert "A failure probability of" in both.explanation()
    assert 0 < shortfall.largest_share < 1e-10
    assert check(ACCOUNT, spent, share_of(ACCOUNT, shortfall.largest_share)) is None


def test_an_account_lowered_below_what_is_spent_has_nothing_left() -> None:
    shortfall = check(ACCOUNT, Entry(LIMIT.loss * 2, 0), Entry(1, 0))
    assert shortfall is not None
    assert shortfall.left.loss == 0
