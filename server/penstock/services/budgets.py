"""Return and change each tier's budget, its spending, and what remains."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlmodel import Session

from penstock.accounting.charging.budget import Account, account_of
from penstock.accounting.charging.ledger import left_of, limit_of
from penstock.connectors.planning.refusals import pointer, within
from penstock.errors import InvalidInput, NotFound
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset, TierBudget
from penstock.persistence.tables.people import Tier
from penstock.privacy.sensitivity import Sensitivity
from penstock.services.access.principals import Principal
from penstock.services.access.two_person_rule import require_second
from penstock.services.context import Server
from penstock.services.datasets import allowances, datasets
from penstock.services.datasets.population import others_of, spec_of
from penstock.services.exposure.compositions import composed
from penstock.services.exposure.exposure import could_be, reach, reach_of, visible
from penstock.services.ledger.accounts import (
    TierAccount,
    open_account,
    opened_account,
    overdrawn,
    spending,
)
from penstock.services.ledger.effective_levels import ladder
from penstock.services.ledger.repricing import reprice
from penstock.services.ledger.tier_budgets import inherit, largest, newest_budget, set_budget
from penstock.services.ledger.version_chains import of_same_people, versions_of
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import clearance_of, ordered_tiers
from penstock.services.schemas.datasets import (
    DatasetBudgetView,
    DatasetChange,
    OtherBudgetView,
    SpendingView,
    TierBudgetView,
    TierTotalView,
    VersionBudgetView,
)
from penstock.services.schemas.views import (
    DatasetView,
    PrivacyBudget,
)
from penstock.spec_fields import folded


def show(server: Server, principal: Principal, name: str) -> DatasetBudgetView:
    """Return a dataset's budget: all tiers for admins and auditors, one's own for analysts.

    Raises ``NotFound``, also if the caller's tier has no budget in the dataset.
    """
    with server.database.read() as session:
        dataset = dataset_by_name(session, name)
        tiers: list[Tier] = list(ordered_tiers(session))
        if not principal.roles & {"admin", "auditor"}:
            own = clearance_of(session, required(principal.user_id))
            tiers = [own] if own else []
        versions = versions_of(session, dataset)
        shared = of_same_people(session, dataset)
        views = [of_version(session, principal, version, tiers) for version in versions]
        if not principal.roles & {"admin", "auditor"}:
            views = [view for view in views if view.tiers]
            if not views:
                raise NotFound(f"There is no dataset {name!r}.")
        *earlier, newest = views
        others = [
            OtherBudgetView(version.name, **vars(of_version(session, principal, version, tiers)))
            for version in others_of(session, dataset)
        ]
        others = [other for other in others if other.tiers]
        return DatasetBudgetView(
            dataset.name,
            newest.version,
            newest.tiers,
            earlier,
            _totals(session, shared, tiers)
            if earlier or others
            else [TierTotalView(tier.tier, tier.granted, tier.spent) for tier in newest.tiers],
            others,
        )


def of_version(
    session: Session, principal: Principal, version: Dataset, tiers: Sequence[Tier]
) -> VersionBudgetView:
    """Return the budgets of some tiers in one version, as far as the caller may see them."""
    accounts = [open_account(session, required(version.id), tier) for tier in tiers]
    views = [_view(session, principal, version, account) for account in accounts if account]
    return VersionBudgetView(version.version, version.disjoint_units, views)


def _totals(
    session: Session, versions: Sequence[Dataset], tiers: Sequence[Tier]
) -> list[TierTotalView]:
    """Return each tier's grants and spending over all versions."""
    tier_totals = []
    for tier in tiers:
        accounts = [open_account(session, required(version.id), tier) for version in versions]
        granted = reach(versions, [reach_of(account) for account in accounts])
        if granted is None:
            continue
        lines = [
            visible(session, version, account)
            for version, account in zip(versions, accounts, strict=True)
        ]
        budget = PrivacyBudget(granted.epsilon, granted.delta)
        tier_totals.append(TierTotalView(tier.name, budget, composed(lines)))
    return tier_totals


def change(server: Server, principal: Principal, name: str, request: DatasetChange) -> DatasetView:
    """Raise or lower budgets; tiers that are not listed keep theirs.

    The order of an account stays that of its first budget.  If a budget becomes larger than it
    ever was, its queries are repriced, and the difference is charged.  Raises ``NotFound``;
    ``InvalidInput`` for tiers that do not exist, for budgets that would shrink as rank rises and
    for those that leave nothing to spend; ``BudgetExhausted`` below what is spent, and if queries
    would cost more than the account has room for; and ``ApprovalNeeded`` for a budget larger than
    any that the dataset has.
    """
    principal.require("admin")
    with server.database.write() as session:
        before = largest(session, [dataset_by_name(session, name)])
        changed = change_within(session, server, principal, name, request)
        if largest(session, [dataset_by_name(session, name)]) > before:
            require_second(server)
        return changed


def change_within(
    session: Session, server: Server, principal: Principal, name: str, request: DatasetChange
) -> DatasetView:
    """Change budgets as a part of a transaction; see ``change``."""
    return datasets.view(session, granted(session, server, principal, name, request), None)


def granted(
    session: Session, server: Server, principal: Principal, name: str, request: DatasetChange
) -> Dataset:
    """Set the budgets, charge what queries cost more under them, and return the dataset."""
    dataset = dataset_by_name(session, name)
    now = server.clock()
    accounts = requested_accounts(session, dataset, request)
    for tier, account in accounts:
        set_budget(session, principal, dataset, tier, account, now)
    given = inherit(session, principal, dataset, ladder(session), now)
    reprice(session, dataset, [*(tier for tier, _ in accounts), *given], now)
    return dataset


def requested_accounts(
    session: Session, dataset: Dataset, request: DatasetChange
) -> list[tuple[Tier, Account]]:
    """Return the accounts of the tiers whose budgets are to change.  Raises as ``change``.

    The higher cost of queries under them is not checked.
    """
    tiers = ordered_tiers(session)
    known = {tier.folded: tier for tier in tiers}
    accounts = []
    for spelled, budget in (request.budgets or {}).items():
        tier = known.get(folded(spelled))
        if tier is None:
            raise InvalidInput(
                f"There is no tier {spelled!r}; create it first, or leave its budget out.",
                pointer=pointer("budgets", spelled),
            )
        last = newest_budget(session, dataset, tier)
        # A budget from before charges followed budgets is set again, and its queries are priced.
        followed = last is not None and last.highest_epsilon is not None
        if followed and last is not None and last.epsilon == budget.epsilon:
            continue
        with within("budgets", spelled):
            accounts.append((tier, _account(session, dataset, tier, budget.epsilon, last)))
    _require_rising(session, dataset, tiers, {tier.id: account for tier, account in accounts})
    return accounts


def _account(
    session: Session, dataset: Dataset, tier: Tier, epsilon: float, last: TierBudget | None
) -> Account:
    if last is None:
        return opened_account(epsilon, dataset.delta, spec_of(dataset).accountant)
    current = open_account(session, required(dataset.id), tier)
    try:
        highest = current.account.promised if current else 0.0
        account = account_of(epsilon, dataset.delta, last.order, highest)
    except InvalidInput:
        # A budget too small to buy anything is also smaller than what is spent.
        if current is not None and current.entries and epsilon < last.epsilon:
            raise overdrawn(session, required(dataset.id), current, epsilon, None) from None
        raise
    limit = limit_of(account)
    if current is not None and (
        current.spent.loss > limit.loss or current.spent.failure > limit.failure
    ):
        raise overdrawn(session, required(dataset.id), current, epsilon, limit)
    return account


def _require_rising(
    session: Session,
    dataset: Dataset,
    tiers: Sequence[Tier],
    accounts: Mapping[int | None, Account],
) -> None:
    last: tuple[str, float] | None = None
    for tier in tiers:
        budget = accounts.get(tier.id) or newest_budget(session, dataset, tier)
        if budget is None:
            continue
        if last is not None and budget.epsilon < last[1]:
            raise InvalidInput(
                f"The budget of {tier.name!r} would be epsilon {budget.epsilon:g}, below that of"
                f" the less trusted {last[0]!r}, {last[1]:g}; budgets must not shrink as rank"
                f" rises. List the budgets of both tiers.",
                pointer="/budgets",
            )
        last = (tier.name, budget.epsilon)


def _view(
    session: Session, principal: Principal, dataset: Dataset, account: TierAccount
) -> TierBudgetView:
    left = left_of(account.account, account.spent)
    limit = limit_of(account.account).loss
    allowance = allowances.seen_by(session, principal, dataset, account.tier)
    sight = None if principal.roles & {"admin", "auditor"} else account.tier
    return TierBudgetView(
        tier=account.tier.name,
        granted=PrivacyBudget(account.account.epsilon, account.account.delta),
        spent=could_be(session, dataset, account),
        remaining=_largest_query(account),
        spent_share=account.spent.loss / limit,
        remaining_share=left.loss / limit,
        queries=[
            SpendingView(query, share)
            for query, share in spending(session, required(dataset.id), account, sight)
        ],
        allowance=allowance,
    )


def _largest_query(account: TierAccount) -> PrivacyBudget:
    """Return the guarantee of the Gaussian query, of sensitivity 1, that takes all that is left.

    At delta 0, which admits no Gaussian query, it is the guarantee of the pure query.
    """
    left = left_of(account.account, account.spent).cost.loss
    if left <= 0:
        return PrivacyBudget(0.0, 0.0)
    if math.isinf(account.account.order):
        return PrivacyBudget(left, 0.0)
    variance = Fraction(account.account.of_variance) / Fraction(left)
    unit = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    gaussian, _ = Gaussian.plan(variance, unit.linf, bound=Fraction(0))
    guarantee = gaussian.guarantee(variance, unit, account.account.delta)
    return PrivacyBudget(guarantee.epsilon, account.account.delta)
