"""Preview changed budgets of a dataset.

It follows the rules of granting them, from rows alone: nothing is granted or charged.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlmodel import Session

from penstock.accounting.charging.budget import Account, account_of
from penstock.accounting.charging.ledger import NOTHING, Entry, limit_of
from penstock.errors import BudgetExhausted
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.services.access.principals import Principal
from penstock.services.budgets import requested_accounts
from penstock.services.context import Server
from penstock.services.ledger.accounts import TierAccount, open_account
from penstock.services.ledger.effective_levels import ladder
from penstock.services.ledger.repricing import Repriced, refused, repriced_as
from penstock.services.ledger.tier_budgets import largest, lost_as
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.views import PrivacyBudget
from penstock.transparency_log import leaves


@dataclass(frozen=True)
class DearerQueryView:
    """Hold what a query would cost a tier in addition, as shares of its new budget.

    Either is negative if another way of charging is cheaper then.
    """

    query: str
    share: float
    failure_share: float


@dataclass(frozen=True)
class MovedBudgetView:
    """Hold a tier's present and new budget, and what is spent; null if there is none.

    ``former``: the tier was deleted, and its former users still count.  ``fits`` is false if its
    queries would cost more than there is room for.
    """

    tier: str
    former: bool
    before: PrivacyBudget | None
    after: PrivacyBudget
    spent_share: float
    spent_share_after: float
    failure_share: float
    failure_share_after: float
    dearer: list[DearerQueryView]
    fits: bool


@dataclass(frozen=True)
class MovedBudgetsView:
    """Hold a preview of changed budgets.

    ``second``: another admin has to approve the change.  ``basis`` identifies the state of the
    preview; it is compared, not read.
    """

    dataset: str
    version: int
    tiers: list[MovedBudgetView]
    second: bool
    refusal: str | None
    basis: str


def preview(
    server: Server, principal: Principal, name: str, request: DatasetChange
) -> MovedBudgetsView:
    """Preview granting changed budgets; nothing is done.

    Raises what granting them would, except for lack of room, which the answer states.
    """
    principal.require("admin")
    with server.database.read() as session:
        dataset = dataset_by_name(session, name)
        refusal: str | None = None
        accounts: list[tuple[TierAccount | None, Repriced]] = []
        try:
            new_accounts = requested_accounts(session, dataset, request)
            accounts = _budget_view(
                session, dataset, {required(tier.id): account for tier, account in new_accounts}
            )
            short = refused(session, dataset, [account for _, account in accounts])
            refusal = short.detail if short else None
        except BudgetExhausted as problem:
            refusal = problem.detail  # below what is spent
        most = max((account.account.account.epsilon for _, account in accounts), default=0.0)
        tiers = [_view(before, account) for before, account in accounts]
        return MovedBudgetsView(
            dataset=dataset.name,
            version=dataset.version,
            tiers=tiers,
            second=server.settings.two_person_rule and most > largest(session, [dataset]),
            refusal=refusal,
            basis=_basis(tiers, refusal),
        )


def _budget_view(
    session: Session, dataset: Dataset, new_accounts: Mapping[int, Account]
) -> list[tuple[TierAccount | None, Repriced]]:
    """Return each account that would change, and what it would be charged."""
    coming: list[TierAccount] = []
    known: list[TierAccount | None] = []
    lower: TierAccount | None = None
    for tier in ladder(session):
        own = open_account(session, required(dataset.id), tier)
        then = _then(session, dataset, tier, own, new_accounts.get(required(tier.id)), lower)
        if then is not None and then != own:
            coming.append(then)
            known.append(own)
        lower = then or lower
    return list(zip(known, repriced_as(session, dataset, coming), strict=True))


def _then(
    session: Session,
    dataset: Dataset,
    tier: Tier,
    own: TierAccount | None,
    account: Account | None,
    lower: TierAccount | None,
) -> TierAccount | None:
    """Return a tier's account as it would be; ``lower`` is the next lower tier's by then."""
    if account is None and own is None:
        # Taken over unchanged, with all that it spent.
        return None if lower is None else replace(lower, tier=tier)
    if account is None and own is not None and lower is not None:
        before, least = own.account, lower.account.epsilon
        if before.epsilon < least:
            account = account_of(least, before.delta, before.order, before.promised)
    if account is None:
        return own
    if own is None:
        return TierAccount(tier, account, NOTHING, 0)
    floors = lost_as(session, dataset, tier, account)
    spent = Entry(
        max(own.spent.loss, *(floor.loss for floor in floors), 0),
        max(own.spent.failure, *(floor.failure for floor in floors), 0),
    )
    return replace(own, account=account, spent=spent)


def _view(before: TierAccount | None, repriced: Repriced) -> MovedBudgetView:
    account, sum_ = repriced.account, repriced.sum
    limit = limit_of(account.account)
    failures = limit.failure or 1
    old = limit_of(before.account) if before else limit
    return MovedBudgetView(
        tier=account.tier.name,
        former=account.tier.deleted_at is not None,
        before=PrivacyBudget(before.account.epsilon, before.account.delta) if before else None,
        after=PrivacyBudget(account.account.epsilon, account.account.delta),
        spent_share=before.spent.loss / old.loss if before else 0.0,
        spent_share_after=(account.spent.loss + sum_.loss) / limit.loss,
        failure_share=before.spent.failure / (old.failure or 1) if before else 0.0,
        failure_share_after=(account.spent.failure + sum_.failure) / failures,
        dearer=[
            DearerQueryView(
                due.query.readable, due.cost.loss / limit.loss, due.cost.failure / failures
            )
            for due in sorted(repriced.dues, key=lambda due: -due.cost.failure)
        ],
        fits=repriced.shortfall is None,
    )


def _basis(tiers: Sequence[MovedBudgetView], refusal: str | None) -> str:
    seen = {
        "tiers": [
            [tier.tier, tier.after.epsilon, tier.spent_share_after, tier.failure_share_after]
            for tier in tiers
        ],
        "refusal": refusal,
    }
    return hashlib.sha256(leaves.canonical(seen)).hexdigest()
