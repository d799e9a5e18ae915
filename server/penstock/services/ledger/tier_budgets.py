"""Set the budgets of tiers; a tier without one has that of the next lower tier."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from sqlmodel import Session, col, select

from penstock.accounting.charging.budget import LARGEST_EXPONENT, Account, account_of
from penstock.accounting.charging.ledger import Entry
from penstock.errors import Conflict
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset, TierBudget
from penstock.persistence.tables.ledger import Charge, SpentFloor
from penstock.persistence.tables.people import Tier
from penstock.services.access.principals import Principal
from penstock.services.ledger.accounts import (
    TierAccount,
    budget_row,
    charged_to,
    floors_of,
    open_account,
)
from penstock.services.ledger.effective_levels import ladder
from penstock.services.ledger.logged_budgets import record_budget


def newest_budget(session: Session, dataset: Dataset, tier: Tier) -> TierBudget | None:
    """Return a tier's newest budget; ``None`` if it never had one."""
    return session.exec(
        select(TierBudget)
        .where(col(TierBudget.dataset_id) == dataset.id, col(TierBudget.tier_id) == tier.id)
        .order_by(col(TierBudget.version).desc())
        .limit(1)
    ).first()


def budgets_of(session: Session, dataset: Dataset, tier: Tier) -> Sequence[TierBudget]:
    """Return all versions of a tier's budget, the oldest first."""
    return session.exec(
        select(TierBudget)
        .where(col(TierBudget.dataset_id) == dataset.id, col(TierBudget.tier_id) == tier.id)
        .order_by(col(TierBudget.version))
    ).all()


def largest(session: Session, versions: Sequence[Dataset]) -> float:
    """Return the largest epsilon granted to any tier in one of these versions of a dataset.

    Tiers that are created, moved or deleted take over budgets of other tiers, including deleted
    ones that had users, so they never enlarge it.  All versions are read at once: a schedule makes
    a new one every day.
    """
    granted = session.exec(
        select(TierBudget)
        .where(
            col(TierBudget.dataset_id).in_([version.id for version in versions]),
            col(TierBudget.tier_id).in_([tier.id for tier in ladder(session)]),
        )
        .order_by(col(TierBudget.version))
    ).all()
    newest = {(budget.dataset_id, budget.tier_id): budget.epsilon for budget in granted}
    return max(newest.values(), default=0.0)


def set_budget(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tier: Tier,
    account: Account,
    at: datetime,
    lost: Sequence[Entry] = (),
) -> TierBudget:
    """Append the next version of a tier's budget, and its leaf.

    ``lost`` is the least that was spent before charges were lost, for an account that another tier
    takes over.  The account's own lost charges are scaled to a larger budget.  Queries whose
    charges are known are not repriced here (see ``repricing``).
    """
    last = newest_budget(session, dataset, tier)
    floors = [*lost, *lost_as(session, dataset, tier, account)]
    session.add_all(
        SpentFloor(
            dataset_id=required(dataset.id),
            tier_id=required(tier.id),
            loss=floor.loss,
            failure=floor.failure,
            at=at,
        )
        for floor in floors
    )
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
    record_budget(session, principal, dataset, tier, account, at, floors=len(floors))
    return row


def lost_as(session: Session, dataset: Dataset, tier: Tier, account: Account) -> list[Entry]:
    """Return the least that an account with lost charges has spent under a larger budget.

    Lost charges cannot be priced.  With the budget's epsilon ``E`` the failure of no price grows
    faster than ``1 + e^E``, and no loss grows; another way of charging is not used.
    """
    before = open_account(session, required(dataset.id), tier)
    if before is None or before.account.promised >= account.promised:
        return []
    lost = before.spent.failure - charged_to(session, required(dataset.id), tier).failure
    if lost <= 0:
        return []
    old, new = (min(grant.promised, LARGEST_EXPONENT) for grant in (before.account, account))
    factor = Fraction((1 + math.exp(new)) / (1 + math.exp(old))) * Fraction(1 + 2**-40)
    return [replace(before.spent, failure=before.spent.failure + math.ceil(lost * (factor - 1)))]


def inherit(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tiers: Sequence[Tier],
    at: datetime,
) -> list[Tier]:
    """Give every tier of the ladder ``tiers`` a budget that is no smaller than those below.

    A tier without one gets the budget and the account of the next lower tier.  The budget of a
    deleted tier is raised, since nobody could request that.  Returns the tiers that were given one:
    their queries must be repriced.  Raises ``Conflict`` if budgets would shrink as rank rises.
    """
    given = []
    lower: tuple[Tier, TierBudget] | None = None
    for tier in tiers:
        own = newest_budget(session, dataset, tier)
        if lower is not None:
            if own is None:
                own = _copy(session, principal, dataset, tier, lower, at)
                given.append(tier)
            elif own.epsilon < lower[1].epsilon:
                own = _lift(session, principal, dataset, tier, own, lower, at)
                given.append(tier)
        if own is not None:
            lower = (tier, own)
    return given


def _copy(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tier: Tier,
    lower: tuple[Tier, TierBudget],
    at: datetime,
) -> TierBudget:
    source, _ = lower
    taken = _account(session, dataset, source)
    lost = floors_of(session, required(dataset.id), source)
    made = set_budget(session, principal, dataset, tier, taken.account, at, lost)
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
            f" {own.epsilon:g}, and {below.name!r}, of epsilon {budget.epsilon:g}, would be"
            f" below it; budgets must not shrink as rank rises. Raise the budget of"
            f" {tier.name!r} first.",
            tier=tier.name,
        )
    highest = _account(session, dataset, tier).account.promised
    account = account_of(budget.epsilon, own.delta, own.order, highest)
    return set_budget(session, principal, dataset, tier, account, at)


def _account(session: Session, dataset: Dataset, tier: Tier) -> TierAccount:
    opened = open_account(session, required(dataset.id), tier)
    if opened is None:
        raise RuntimeError("an account that another tier takes over is open")
    return opened
