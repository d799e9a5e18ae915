"""Bound what all holders of a tier could learn of each dataset, by the accounts of its tiers.

Whoever holds a tier sees points of the noise process that those below see with more noise.  So all
of them together with those below know what the tier's account paid for, however many they are.  The
losses are those that the accounts imply: at least what is composed for chosen people, and they take
a few statements for a dataset.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlmodel import Session, col, select

from penstock.accounting.charging.budget import converted_epsilon
from penstock.accounting.charging.ledger import Entry
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.exposure.exposure import reach, reach_of
from penstock.services.ledger.accounts import TierAccount, open_account, open_accounts
from penstock.services.ledger.effective_levels import place
from penstock.services.ledger.version_chains import by_people, of_same_people
from penstock.services.repository.charges import charges_in_sight
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import ordered_tiers
from penstock.services.schemas.exposure import ReachView

MOST_DATASETS: Final = 12
MOST_VERSIONS: Final = 30
"""The versions of one dataset that are added up here: each takes a statement."""

Losses = tuple[float | None, float | None]
"""What could be learned by all that is registered, and by all that may ever be."""


@dataclass(frozen=True)
class TierLossView:
    """Hold epsilons of a tier in a dataset, all rounded up.

    ``released`` bounds what its holders and those of lower tiers were handed, ``possible`` what
    they may request of registered queries, ``budget`` all that may ever be registered.
    """

    tier: str
    released: float
    possible: float
    budget: float


@dataclass(frozen=True)
class DatasetLossView:
    """Hold the losses in a dataset, and in ``others``, which have the same people, by tier.

    A tier without a budget has None.  ``tiers`` is None if there are too many versions to add up.
    """

    dataset: str
    others: list[str]
    tiers: list[TierLossView | None] | None


@dataclass(frozen=True)
class LossMatrixView:
    """Hold the losses in datasets, the newest first, by tier, the least trusted first.

    ``count`` is the number of all datasets, those with the same people counted once.
    """

    tiers: list[str]
    datasets: list[DatasetLossView]
    count: int


def look(server: Server, principal: Principal, dataset: str | None = None) -> LossMatrixView:
    """Return the losses of every tier in a dataset, or in the newest ``MOST_DATASETS``.

    Raises ``Forbidden`` and ``NotFound``.
    """
    principal.require("auditor")
    with server.database.read() as session:
        tiers = ordered_tiers(session)
        if dataset is None:
            groups = by_people(session)[::-1]
        else:
            groups = [of_same_people(session, dataset_by_name(session, dataset))]
        # Deleted tiers as well: their holders keep what they were handed.
        places = {required(tier.id): place(tier) for tier in session.exec(select(Tier)).all()}
        shown = [_of_dataset(session, tiers, group, places) for group in groups[:MOST_DATASETS]]
        return LossMatrixView([tier.name for tier in tiers], shown, len(groups))


def bounds(session: Session, versions: Sequence[Dataset], tier: Tier) -> Losses | None:
    """Return what a tier could learn of versions; None without a budget, Nones for too many."""
    if len(versions) > MOST_VERSIONS:
        return None, None
    accounts = [open_account(session, required(version.id), tier) for version in versions]
    spent = [None if account is None else account.spent for account in accounts]
    possible = reach(versions, list(map(_implied, versions, accounts, spent)))
    budget = reach(versions, list(map(reach_of, accounts)))
    return None if possible is None or budget is None else (possible.epsilon, budget.epsilon)


def _of_dataset(
    session: Session,
    tiers: Sequence[Tier],
    versions: Sequence[Dataset],
    places: Mapping[int, tuple[object, ...]],
) -> DatasetLossView:
    first = versions[0]
    others = sorted({version.name for version in versions if version.folded != first.folded})
    if len(versions) > MOST_VERSIONS:
        return DatasetLossView(first.name, others, None)
    ids = [required(version.id) for version in versions]
    opened = [
        {required(tier.id): account for tier, account in open_accounts(session, key)} for key in ids
    ]
    handed = _handed_out(session, ids)

    def losses(tier: Tier) -> TierLossView | None:
        accounts = [of_version.get(required(tier.id)) for of_version in opened]
        known = {query for holder, query in handed if places[holder] <= place(tier)}
        received = [
            None if account is None else _received(session, key, account, known)
            for key, account in zip(ids, accounts, strict=True)
        ]
        spent = [None if account is None else account.spent for account in accounts]
        released = reach(versions, list(map(_implied, versions, accounts, received)))
        possible = reach(versions, list(map(_implied, versions, accounts, spent)))
        budget = reach(versions, list(map(reach_of, accounts)))
        if released is None or possible is None or budget is None:
            return None
        return TierLossView(tier.name, released.epsilon, possible.epsilon, budget.epsilon)

    return DatasetLossView(first.name, others, [losses(tier) for tier in tiers])


def _handed_out(session: Session, datasets: Sequence[int]) -> list[tuple[int, int]]:
    """Return the queries of versions with the tiers whose holders received a release of them."""
    statement = (
        select(Grant.tier_id, Release.query_id)
        .join(Release, col(Grant.release_id) == col(Release.id))
        .join(Query, col(Release.query_id) == col(Query.id))
        .where(col(Query.dataset_id).in_(datasets))
        .distinct()
    )
    return [(tier, query) for tier, query in session.exec(statement).all()]


def _received(session: Session, dataset: int, account: TierAccount, known: set[int]) -> Entry:
    """Return what an account has spent but for queries of which nothing was handed out.

    What was spent by charges that were lost counts: their releases may have been handed out.
    """
    charges = charges_in_sight(session, dataset, account.tier, None)
    unknown = sum(charge.loss for charge in charges if charge.key not in known)
    return Entry(account.spent.loss - unknown, account.spent.failure)


def _implied(
    version: Dataset, account: TierAccount | None, spent: Entry | None
) -> ReachView | None:
    """Return the loss that a part of what an account has spent implies."""
    if account is None or spent is None:
        return None
    granted, cost = account.account, spent.cost
    epsilon = converted_epsilon(granted.order, cost.loss, version.delta - granted.failure_limit)
    return ReachView(account.tier.name, epsilon if cost.loss else 0.0, version.delta)
