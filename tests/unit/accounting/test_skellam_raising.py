"""Test what it costs to raise a Skellam query: about the difference, and never less."""

from fractions import Fraction

import pytest

from penstock.accounting import account_of, charge, entry, raising
from penstock.mechanisms import Skellam
from penstock.privacy import Sensitivity

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))


@pytest.mark.parametrize(("old", "new"), [(4000, 1000), (1000, 500), (1000, 990)])
def test_a_raise_costs_little_more_than_the_difference(old: int, new: int) -> None:
    account = account_of(1.0, 1e-6)
    mechanism, ladder = Skellam.plan(Fraction(new), Fraction(1), Fraction(10**6))
    before, after = (
        entry(charge(mechanism, ladder, Fraction(level), ONE, account, 10, 64))
        for level in (old, new)
    )
    more = raising(
        mechanism,
        ladder,
        charged=before,
        old=Fraction(old),
        new=Fraction(new),
        sensitivity=ONE,
        account=account,
        dimension=10,
        level_count=64,
    )
    ideal = (
        mechanism.cost(Fraction(new), ONE, account.order).loss
        - mechanism.cost(Fraction(old), ONE, account.order).loss
    )
    assert ideal <= more.cost.loss < 1.05 * ideal + 1e-6
    assert more.loss < after.loss
