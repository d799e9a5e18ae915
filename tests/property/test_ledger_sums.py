"""Test that sums never understate, and replays agree, whatever is charged in whatever order."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from penstock.accounting import (
    FAILURE_UNITS,
    LOSS_UNITS,
    NOTHING,
    Account,
    Entry,
    account_of,
    check,
    entry,
    limit_of,
    share_of,
    total,
)
from penstock.privacy import Cost

COSTS = st.lists(
    st.builds(
        Cost,
        st.floats(0, 1e3, allow_subnormal=True),
        st.floats(0, 1, allow_subnormal=True),
    ),
    max_size=40,
)
ACCOUNTS = st.builds(account_of, st.floats(0.05, 300), st.floats(1e-9, 1e-3))


@given(COSTS)
def test_a_sum_is_never_under_the_real_one_and_hardly_over(costs: list[Cost]) -> None:
    summed = total(entry(cost) for cost in costs)
    loss = sum((Fraction(cost.loss) for cost in costs), Fraction(0))
    failure = sum((Fraction(cost.failure) for cost in costs), Fraction(0))
    excess = Fraction(summed.loss, LOSS_UNITS) - loss
    assert 0 <= excess <= Fraction(len(costs), LOSS_UNITS)
    excess = Fraction(summed.failure, FAILURE_UNITS) - failure
    assert 0 <= excess <= Fraction(len(costs), FAILURE_UNITS)


@given(COSTS.flatmap(lambda costs: st.tuples(st.just(costs), st.permutations(costs))))
def test_a_replay_in_another_order_gives_the_same_total(
    both: tuple[list[Cost], list[Cost]],
) -> None:
    entries, shuffled = ([entry(cost) for cost in costs] for costs in both)
    assert total(shuffled) == total(entries)
    middle = len(shuffled) // 2
    assert total(shuffled[:middle]) + total(shuffled[middle:]) == total(entries)


@given(ACCOUNTS, COSTS)
def test_what_the_filter_lets_in_never_exceeds_the_account(
    account: Account, costs: list[Cost]
) -> None:
    spent, admitted = NOTHING, list[Cost]()
    for cost in costs:
        scaled = Cost(cost.loss * account.limit / 1e3, cost.failure * account.failure_limit)
        if check(account, spent, entry(scaled)) is None:
            spent += entry(scaled)
            admitted.append(scaled)
    assert sum(Fraction(cost.loss) for cost in admitted) <= Fraction(account.limit)
    assert sum(Fraction(cost.failure) for cost in admitted) <= Fraction(account.failure_limit)


@given(ACCOUNTS, st.lists(st.integers(1, 1000), min_size=1, max_size=30))
def test_shares_of_one_always_fit_together(account: Account, weights: list[int]) -> None:
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    spent = NOTHING
    for share in shares:
        part = share_of(account, share)
        assert check(account, spent, part) is None
        spent += part


@given(ACCOUNTS, st.floats(0, 1), st.floats(0, 2))
def test_the_largest_share_of_a_refusal_fits_and_is_the_largest(
    account: Account, used: float, wanted: float
) -> None:
    limit = limit_of(account)
    spent = Entry(int(used * limit.loss), 0)
    shortfall = check(account, spent, Entry(int(wanted * limit.loss) + 1, 0))
    if shortfall is None:
        return
    share = shortfall.largest_share
    assert share_of(account, share).loss <= shortfall.left.loss
    assert share_of(account, share * (1 + 1e-15) + 2 / limit.loss).loss > shortfall.left.loss
