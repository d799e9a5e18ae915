"""Tell what all holders of a tier could learn of each dataset, by the accounts of its tiers.

Whoever holds a tier sees points of the noise process that those below see with more noise.  So all
of them together with those below know what the tier's account paid for, however many they are.  The
losses are those that the accounts imply: at least what is composed for chosen people.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlmodel import Session, col, select

from penstock.accounting.charging.budget import converted_epsilon
from penstock.accounting.charging.ledger import Entry
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Clearance, Tier
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.exposure.exposure import reach, reach_of
from penstock.services.ledger.accounts import TierAccount, open_account, open_accounts
from penstock.services.ledger.effective_levels import place
from penstock.services.ledger.version_chains import by_people, of_same_people
from penstock.services.repository.charges import charges_of
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import ordered_tiers
from penstock.services.schemas.exposure import ReachView

MOST_DATASETS: Final = 12
MOST_VERSIONS: Final = 30
"""The versions that are added up here, of one dataset or of several: each takes a statement."""

Losses = tuple[float | None, float | None]
"""What could be learned by all that is registered, and by all that may ever be."""


@dataclass(frozen=True)
class TierLossView:
    """Hold epsilons of a tier in a dataset, at ``delta``, all rounded up.

    ``possible`` bounds what its holders and those of lower tiers learn of registered queries, and
    ``budget`` what they ever learn.  ``released`` is that of the queries of which they were handed
    something: it describes the past, and is no bound for requests that depend on earlier ones.
    """

    tier: str
    released: float
    possible: float
    budget: float
    delta: float


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
        tiers, groups = ordered_tiers(session), by_people(session)[::-1]
        count = len(groups)
        if dataset is not None:
            groups = [of_same_people(session, dataset_by_name(session, dataset))]
        # Deleted tiers as well: who held one keeps what they were handed.
        ever = session.exec(select(Tier)).all()
        shown = [_of_dataset(session, tiers, ever, group) for group in _first(groups)]
        return LossMatrixView([tier.name for tier in tiers], shown, count)


def _first(groups: Sequence[list[Dataset]]) -> Iterator[list[Dataset]]:
    """Yield the first groups, with few enough versions that are added up."""
    versions = 0
    for group in groups[:MOST_DATASETS]:
        versions += len(group) if len(group) <= MOST_VERSIONS else 0
        if versions > MOST_VERSIONS:
            return
        yield group


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
    session: Session, tiers: Sequence[Tier], ever: Sequence[Tier], versions: Sequence[Dataset]
) -> DatasetLossView:
    first = versions[0]
    others = sorted({version.name for version in versions if version.folded != first.folded})
    if len(versions) > MOST_VERSIONS:
        return DatasetLossView(first.name, others, None)
    ids = [required(version.id) for version in versions]
    opened = [
        {required(tier.id): account for tier, account in open_accounts(session, key)} for key in ids
    ]
    charges = list(charges_of(session, ids))
    frozen = _frozen(session, ids)

    def losses(tier: Tier) -> TierLossView | None:
        number = required(tier.id)
        accounts = [of_version.get(number) for of_version in opened]
        above = [required(other.id) for other in ever if place(other) > place(tier)]
        known = frozen | _handed_out(session, ids, above)
        unknown = Counter[int]()
        for charge in charges:
            if charge.tier == number and charge.query not in known:
                unknown[charge.dataset] += charge.loss
        spent = [None if account is None else account.spent for account in accounts]
        # What charges that were lost had paid for may have been handed out.
        received = [
            None if entry is None else Entry(entry.loss - unknown[key], entry.failure)
            for key, entry in zip(ids, spent, strict=True)
        ]
        released = reach(versions, list(map(_implied, versions, accounts, received)))
        possible = reach(versions, list(map(_implied, versions, accounts, spent)))
        budget = reach(versions, list(map(reach_of, accounts)))
        if released is None or possible is None or budget is None:
            return None
        figures = released.epsilon, possible.epsilon, budget.epsilon, budget.delta
        return TierLossView(tier.name, *figures)

    return DatasetLossView(first.name, others, [losses(tier) for tier in tiers])


def _frozen(session: Session, datasets: Sequence[int]) -> set[int]:
    """Return the queries of versions that a restore froze: who was handed them may be lost."""
    frozen = col(Query.frozen).is_not(None), col(Query.dataset_id).in_(datasets)
    return {required(key) for key in session.exec(select(Query.id).where(*frozen)).all()}


def _handed_out(session: Session, datasets: Sequence[int], above: Sequence[int]) -> set[int]:
    """Return the queries of versions that were handed to people who never held a tier ``above``.

    The tier that a hand-out is stored with does not decide: it is that of the level.
    """
    higher = select(col(Clearance.user_id)).where(col(Clearance.tier_id).in_(above))
    statement = (
        select(Release.query_id)
        .join(Grant, col(Grant.release_id) == col(Release.id))
        .join(Query, col(Release.query_id) == col(Query.id))
        .where(col(Query.dataset_id).in_(datasets), col(Grant.user_id).not_in(higher))
        .distinct()
    )
    return set(session.exec(statement).all())


def _implied(
    version: Dataset, account: TierAccount | None, spent: Entry | None
) -> ReachView | None:
    """Return the loss that a part of what an account has spent implies."""
    if account is None or spent is None:
        return None
    granted, cost = account.account, spent.cost
    epsilon = converted_epsilon(granted.order, cost.loss, version.delta - granted.failure_limit)
    return ReachView(account.tier.name, epsilon if cost.loss else 0.0, version.delta)
