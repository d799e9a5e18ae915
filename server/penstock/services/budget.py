"""What each tier has been granted, has spent and has left, and on which queries."""

from fractions import Fraction

from sqlmodel import Session

from penstock.accounting import left_of, limit_of
from penstock.errors import NotFound
from penstock.mechanisms import Gaussian
from penstock.persistence.tables import Dataset, Tier
from penstock.privacy import Sensitivity
from penstock.services.accounts import TierAccount, open_account, spending
from penstock.services.exposure import could_be
from penstock.services.lookup import clearance_of, dataset_by_name, required
from penstock.services.principals import Principal
from penstock.services.server import Server
from penstock.services.tiers import ordered
from penstock.services.views import (
    DatasetBudgetView,
    PrivacyBudget,
    SpendingView,
    TierBudgetView,
)


def show(server: Server, principal: Principal, name: str) -> DatasetBudgetView:
    """The budget of a dataset: all tiers for admins and auditors, one's own for analysts.

    Raises ``NotFound``, also where the caller's tier has no budget in the dataset.
    """
    with server.database.read() as session:
        dataset = dataset_by_name(session, name)
        tiers: list[Tier] = list(ordered(session))
        if not principal.roles & {"admin", "auditor"}:
            own = clearance_of(session, required(principal.user_id))
            tiers = [own] if own else []
        accounts = [open_account(session, required(dataset.id), tier) for tier in tiers]
        views = [_view(session, dataset, account) for account in accounts if account]
        if not views and not principal.roles & {"admin", "auditor"}:
            raise NotFound(f"There is no dataset {name!r}.")
        return DatasetBudgetView(dataset.name, views)


def _view(session: Session, dataset: Dataset, account: TierAccount) -> TierBudgetView:
    left = left_of(account.account, account.spent)
    limit = limit_of(account.account).loss
    return TierBudgetView(
        tier=account.tier.name,
        granted=PrivacyBudget(account.account.epsilon, account.account.delta),
        spent=could_be(session, dataset, account),
        remaining=_largest_query(account),
        spent_share=account.spent.loss / limit,
        remaining_share=left.loss / limit,
        queries=[
            SpendingView(query, share)
            for query, share in spending(session, required(dataset.id), account)
        ],
    )


def _largest_query(account: TierAccount) -> PrivacyBudget:
    """The guarantee of the one Gaussian query, of sensitivity 1, that takes all that is left."""
    left = left_of(account.account, account.spent).cost.loss
    if left <= 0:
        return PrivacyBudget(0.0, 0.0)
    variance = Fraction(account.account.order) / (2 * Fraction(left))
    unit = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    guarantee = Gaussian(Fraction(1)).guarantee(variance, unit, account.account.delta)
    return PrivacyBudget(guarantee.epsilon, account.account.delta)
