"""Write the leaves of budgets, and compare the table of budgets with them."""

import math
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.accounting.charging.budget import Account, account_of
from penstock.accounting.charging.ledger import limit_of
from penstock.errors import InvalidInput
from penstock.persistence.tables.datasets import Dataset, TierBudget
from penstock.persistence.tables.ledger import Charge
from penstock.persistence.tables.people import Tier
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log.logged_subject import LeafFields, ascending, name_of, versions
from penstock.transparency_log.sights import Sight


def record_budget(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tier: Tier,
    account: Account,
    at: datetime,
    *,
    floors: int,
) -> None:
    """Append the leaf of a budget; ``floors`` rows say what its account spent before a restore."""
    record(
        session,
        principal,
        "budget",
        at,
        dataset=dataset,
        tier=tier.name,
        epsilon=account.epsilon,
        delta=account.delta,
        charged=floors or None,
    )


class LoggedBudgets:
    """Hold the budgets that the log has, by dataset and tier."""

    def __init__(self) -> None:
        self._budgets = versions()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a budget."""
        if leaf["kind"] == "budget":
            budget = leaf["epsilon"], leaf["delta"]
            self._budgets[leaf["dataset"], leaf["tier"]].append(budget)

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where budgets, their limits or the orders of accounts differ."""
        tiers = {tier.id: tier for tier in session.exec(select(Tier)).all()}
        datasets = {dataset.id: dataset for dataset in session.exec(select(Dataset)).all()}
        rows = session.exec(select(TierBudget).order_by(col(TierBudget.id))).all()
        stored = versions()
        orders: dict[tuple[int, int, float], set[float]] = defaultdict(set)
        deltas: dict[tuple[int, int], float] = {}
        for row in rows:
            dataset, tier = name_of(datasets.get(row.dataset_id)), name_of(tiers.get(row.tier_id))
            stored[dataset, tier].append((row.epsilon, row.delta))
            # Another delta is declared only before any charge: the account starts over.
            orders[row.dataset_id, row.tier_id, row.delta].add(row.order)
            deltas[row.dataset_id, row.tier_id] = row.delta
            if not has_its_limit(row):
                yield f"the limit of {tier!r} in {dataset!r} is not that of its budget"
        numbered = [((row.dataset_id, row.tier_id), row.version) for row in rows]
        if stored != self._budgets or not ascending(numbered):
            yield "the budgets are not those of the log"
        for charge in session.exec(select(Charge)).all():
            account = charge.dataset_id, charge.tier_id
            orders[*account, deltas.get(account, math.nan)].add(charge.order)
        if any(len(order) != 1 for order in orders.values()):
            yield "an account changed its order"


def has_its_limit(row: TierBudget) -> bool:
    """Return True if a budget's limit follows from its epsilon and delta."""
    try:
        limit = limit_of(account_of(row.epsilon, row.delta, row.order))
    except InvalidInput:
        return False
    return (limit.loss, limit.failure) == (row.limit_loss, row.limit_failure)
