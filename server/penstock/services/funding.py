"""Whose budget a tier has: its own, or that of the next lower tier."""

from collections.abc import Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.accounting import Account, account_of
from penstock.errors import Conflict
from penstock.persistence.tables import Charge, Dataset, Tier, TierBudget
from penstock.services.accounts import budget_row
from penstock.services.acts import record
from penstock.services.effective import ladder
from penstock.services.lookup import required
from penstock.services.principals import Principal


def newest_budget(session: Session, dataset: Dataset, tier: Tier) -> TierBudget | None:
    """A tier's budget as it was last set; ``None`` where it never had one."""
    return session.exec(
        select(TierBudget)
        .where(col(TierBudget.dataset_id) == dataset.id, col(TierBudget.tier_id) == tier.id)
        .order_by(col(TierBudget.version).desc())
        .limit(1)
    ).first()


def largest(session: Session, dataset: Dataset) -> float:
    """The largest epsilon granted in a version of a dataset, to all tiers of the ladder.

    Tiers that are made, moved and deleted take over budgets of others on it, deleted ones that
    were held included, so that they never enlarge it.
    """
    granted = [newest_budget(session, dataset, tier) for tier in ladder(session)]
    return max((budget.epsilon for budget in granted if budget), default=0.0)


def set_budget(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tier: Tier,
    account: Account,
    at: datetime,
) -> TierBudget:
    """Append the next version of a tier's budget, and its leaf."""
    last = newest_budget(session, dataset, tier)
    row = budget_row(
        account,
        dataset_id=required(dataset.id),
        tier_id=required(tier.id),
        version=last.version + 1 if last else 1,
        at=at,
        by=principal.name,
    )
    session.add(row)
    session.flush()
    record(
        session,
        principal,
        "budget",
        at,
        dataset=dataset,
        tier=tier.name,
        epsilon=account.epsilon,
        delta=account.delta,
    )
    return row


def inherit(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tiers: Sequence[Tier],
    at: datetime,
) -> None:
    """Give every tier of the ladder ``tiers`` a budget that is no smaller than those below.

    A tier without one gets the budget and the account of the next lower tier.  That of a
    deleted tier is raised, since nobody could ask for it.  Raises ``Conflict`` where
    budgets would shrink as rank rises.
    """
    lower: tuple[Tier, TierBudget] | None = None
    for tier in tiers:
        own = newest_budget(session, dataset, tier)
        if lower is not None:
            if own is None:
                own = _copy(session, principal, dataset, tier, lower, at)
            elif own.epsilon < lower[1].epsilon:
                own = _lift(session, principal, dataset, tier, own, lower, at)
        if own is not None:
            lower = (tier, own)


def _copy(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tier: Tier,
    lower: tuple[Tier, TierBudget],
    at: datetime,
) -> TierBudget:
    source, budget = lower
    account = account_of(budget.epsilon, budget.delta, budget.order)
    made = set_budget(session, principal, dataset, tier, account, at)
    charges = session.exec(
        select(Charge)
        .where(col(Charge.dataset_id) == dataset.id, col(Charge.tier_id) == source.id)
        .order_by(col(Charge.seq))
    ).all()
    session.add_all(
        Charge(**{**charge.model_dump(exclude={"id"}), "tier_id": tier.id, "at": at})
        for charge in charges
    )
    session.flush()
    return made


def _lift(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tier: Tier,
    own: TierBudget,
    lower: tuple[Tier, TierBudget],
    at: datetime,
) -> TierBudget:
    below, budget = lower
    if tier.deleted_at is None:
        raise Conflict(
            f"In dataset {dataset.name!r} tier {tier.name!r} has a budget of epsilon"
            f" {own.epsilon:g}, and {below.name!r}, of epsilon {budget.epsilon:g}, would stand"
            " below it; budgets must not shrink as rank rises. Raise the budget of"
            f" {tier.name!r} first.",
            tier=tier.name,
        )
    account = account_of(budget.epsilon, own.delta, own.order)
    return set_budget(session, principal, dataset, tier, account, at)
