"""Compare the ledger with the price of every query computed from nothing."""

from collections.abc import Iterator

from sqlmodel import Session, col, select

from penstock.accounting.charging.ledger import limit_of
from penstock.persistence.tables.datasets import Dataset
from penstock.services.ledger.effective_levels import Due, ladder
from penstock.services.ledger.repricing import repriced
from penstock.services.ledger.tier_budgets import newest_budget

TOLERANCE = 2**30
"""The part of the limit by which machines may differ whose logarithms differ in the last bits."""


def prices(session: Session) -> Iterator[str]:
    """Yield one message per query that is charged less than it costs.

    Accounts from before charges followed budgets are left out (see ``undercharged``).
    """
    tiers = ladder(session)
    for dataset in session.exec(select(Dataset).order_by(col(Dataset.id))).all():
        followed = [
            tier
            for tier in tiers
            if (budget := newest_budget(session, dataset, tier)) is not None
            and budget.highest_epsilon is not None
        ]
        for account in repriced(session, dataset, followed):
            for due in account.dues:
                if _counts(due):
                    yield (
                        f"query {due.query.name!r} is charged less to tier"
                        f" {due.account.tier.name!r} than it costs"
                    )


def _counts(due: Due) -> bool:
    """Return True if the ledger has less, also by the part of the account that both use up.

    By that part a price is the least of several valid ones.  A charge that was the least of larger
    bounds may be one of the others, with less loss or less failure, but never less of the account.
    """
    limit = limit_of(due.account.account)
    loss, failure = max(due.cost.loss, 0), max(due.cost.failure, 0)
    if not (loss * TOLERANCE > limit.loss or failure * TOLERANCE > max(limit.failure, TOLERANCE)):
        return False
    return due.cost.loss * max(limit.failure, 1) + due.cost.failure * limit.loss > 0
