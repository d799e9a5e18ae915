"""Reprice queries when a tier's budget becomes larger than it ever was.

The charge for a sampler's error grows with the largest budget that the tier ever had, and with it
the cheapest way of charging may change.  The rule this module keeps: for each query a tier is
charged its price from nothing, under the present account, for the rungs in the order in which the
tier came to see them.  So the totals do not depend on the order of raising budgets, registering,
raising levels and moving tiers.

Earlier charges stay unchanged.  The difference is one more charge, for a rung that was charged
before; it is negative if another way of charging is cheaper now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.accounting.charging.budget import account_of
from penstock.accounting.charging.ledger import Entry, Shortfall, check, limit_of, total
from penstock.errors import BudgetExhausted, InvalidInput
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.ledger.accounts import (
    HEAVIEST_SHOWN,
    TierAccount,
    append_charges,
    called,
    open_account,
    spending,
)
from penstock.services.ledger.effective_levels import Charged, Due, charged_for, from_nothing
from penstock.services.ledger.tier_budgets import budgets_of

MOST_TRIED = 2000
"""The most queries that are priced to find a budget that would fit."""

STEPS = 10
"""The number of halvings of the range in that search."""


@dataclass(frozen=True)
class Repriced:
    """Hold an account, and the charges that bring every query to its price."""

    account: TierAccount
    dues: Sequence[Due]

    @property
    def sum(self) -> Entry:
        """Return the sum of these charges; either number may be negative."""
        return total(due.cost for due in self.dues)

    @property
    def shortfall(self) -> Shortfall | None:
        """Return what is missing, if the charges do not fit."""
        return check(self.account.account, self.account.spent, self.sum)


def reprice(session: Session, dataset: Dataset, tiers: Sequence[Tier], at: datetime) -> None:
    """Charge ``tiers`` what is missing to their queries' prices, under the present accounts.

    Raises ``BudgetExhausted`` unless every account has room; then nothing may be committed.
    """
    accounts = repriced(session, dataset, tiers)
    refusal = refused(session, dataset, accounts)
    if refusal is not None:
        raise refusal
    append_charges(
        session,
        [
            (due.account, required(due.query.id), due.rung, due.cost)
            for account in accounts
            for due in account.dues
        ],
        dataset_id=required(dataset.id),
        at=at,
    )
    session.flush()


def repriced(session: Session, dataset: Dataset, tiers: Sequence[Tier]) -> list[Repriced]:
    """Return what ``reprice`` would charge each of ``tiers`` that has an account."""
    accounts = [open_account(session, required(dataset.id), tier) for tier in tiers]
    return repriced_as(session, dataset, [account for account in accounts if account is not None])


def repriced_as(
    session: Session, dataset: Dataset, accounts: Sequence[TierAccount]
) -> list[Repriced]:
    """Return the same for accounts that are only planned."""
    queries = queries_of(session, dataset) if accounts else []
    charged = charged_for(session, dataset, queries) if queries else {}
    return [Repriced(account, _differences(account, queries, charged)) for account in accounts]


def queries_of(session: Session, dataset: Dataset) -> Sequence[Query]:
    """Return all queries and streams of a dataset; retired ones stay charged."""
    of_dataset = select(Query).where(col(Query.dataset_id) == dataset.id)
    return session.exec(of_dataset.order_by(col(Query.id))).all()


def refused(
    session: Session, dataset: Dataset, accounts: Sequence[Repriced]
) -> BudgetExhausted | None:
    """Return the error for the first account without room; ``None`` if all have room."""
    short = [(first, shortfall) for first in accounts if (shortfall := first.shortfall) is not None]
    if not short:
        return None
    first, shortfall = short[0]
    others = [called(other.account.tier) for other, _ in short[1:]]
    return _refusal(session, dataset, first, shortfall, others)


def _differences(
    account: TierAccount,
    queries: Sequence[Query],
    charged: Mapping[tuple[int, int], Charged],
) -> list[Due]:
    dues = []
    for query in queries:
        known = charged.get((required(account.tier.id), required(query.id)))
        if known is None:
            continue
        whole = from_nothing(query, account, known.rungs)
        cost = Entry(whole.loss - known.sum.loss, whole.failure - known.sum.failure)
        if cost.loss or cost.failure:
            dues.append(Due(account, query, known.rung, cost))
    return dues


def _refusal(
    session: Session,
    dataset: Dataset,
    repriced_account: Repriced,
    shortfall: Shortfall,
    others: Sequence[str],
) -> BudgetExhausted:
    account, epsilon = repriced_account.account, repriced_account.account.account.promised
    by_failure = shortfall.needed.failure > shortfall.left.failure
    heaviest = sorted(
        repriced_account.dues,
        key=lambda due: (-(due.cost.failure if by_failure else due.cost.loss), due.query.name),
    )
    listed = [due for due in heaviest if (due.cost.failure if by_failure else due.cost.loss) > 0]
    named = ", ".join(
        f"{due.query.readable} ({due.cost.cost.failure if by_failure else due.cost.cost.loss:.3g})"
        for due in listed[:HEAVIEST_SHOWN]
    )
    more = f" and {len(listed) - HEAVIEST_SHOWN} more" if len(listed) > HEAVIEST_SHOWN else ""
    needed, left = shortfall.needed.cost, shortfall.left.cost
    short = (
        f"a failure probability of {needed.failure:.3g} more is needed, and {left.failure:.3g} is"
        f" left of the {account.account.failure_limit:.3g} that the budget keeps for it"
        if by_failure
        else f"{account.account.called.lower()} of {needed.loss:.6g} more is needed, and"
        f" {left.loss:.6g} is left"
    )
    fitting = _fitting(session, dataset, repriced_account)
    advice = f" A budget of epsilon {fitting:g} would fit." if fitting else ""
    too = f" There is no room either for {' and '.join(others)}." if others else ""
    limit = limit_of(account.account).loss
    return BudgetExhausted(
        f"The budget of {called(account.tier)} cannot be epsilon {account.account.epsilon:g}:"
        f" the charge for the failure probability of samplers grows with the largest budget ever"
        f" granted, epsilon {epsilon:g}. So {short}. Needed by: {named}{more}.{advice}{too}",
        tier=account.tier.name,
        needed_share=max(shortfall.needed.loss, 0) / limit,
        remaining_share=shortfall.left.loss / limit,
        needed_failure=max(needed.failure, 0.0),
        remaining_failure=left.failure,
        largest_share=0.0,
        largest_epsilon=fitting,
        needed_by=[
            {
                "query": due.query.readable,
                "loss": due.cost.cost.loss,
                "failure": due.cost.cost.failure,
            }
            for due in listed[:HEAVIEST_SHOWN]
        ],
        spent_by=[
            {"query": name, "share": share}
            for name, share in spending(session, required(dataset.id), account)[:HEAVIEST_SHOWN]
        ],
    )


def _fitting(session: Session, dataset: Dataset, repriced_account: Repriced) -> float | None:
    """Return nearly the largest budget that fits; ``None`` if none is found in time.

    It makes ``STEPS`` halvings between the largest earlier budget and the one that is too large.
    """
    account = repriced_account.account
    before = _before(session, dataset, account)
    queries = queries_of(session, dataset)
    if before is None or len(queries) * STEPS > MOST_TRIED:
        return None
    charged = charged_for(session, dataset, queries)
    lowest, highest = before, account.account.promised
    fits: float | None = None
    for _ in range(STEPS):
        # Parsed from its printed form, so that the stated number is the one that was tried.
        tried = float(f"{(lowest + highest) / 2:.3g}")
        if not lowest < tried < highest:
            break
        try:
            tried_account = account_of(tried, account.account.delta, account.account.order, before)
        except InvalidInput:
            lowest = tried
            continue
        trial = replace(account, account=tried_account)
        if Repriced(trial, _differences(trial, queries, charged)).shortfall is None:
            fits = lowest = tried
        else:
            highest = tried
    return fits


def _before(session: Session, dataset: Dataset, account: TierAccount) -> float | None:
    """Return the largest epsilon of an account before the requested budget."""
    budgets = list(budgets_of(session, dataset, account.tier))
    tried = account.account.epsilon, account.account.promised
    if budgets and (budgets[-1].epsilon, budgets[-1].highest_epsilon) == tried:
        del budgets[-1]  # already stored
    return max((row.highest_epsilon or row.epsilon for row in budgets), default=None)
