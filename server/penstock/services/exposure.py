"""What a set of users knows together, and what it would have cost without tiers.

``could_be`` is the guarantee: everything that the highest tier any of them ever held may
fetch.  ``released`` is what they did fetch, after the fact.  ``independent`` is the same
hand-outs, each composed as if it had been drawn on its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlmodel import Session, col, select

from penstock.accounting import PlacedRelease, composed_epsilon, converted_epsilon
from penstock.connectors.fields import folded
from penstock.errors import InvalidInput, NotFound
from penstock.persistence.tables import Charge, Clearance, Dataset, Query, QueryLevel, Tier, User
from penstock.services.accounts import TierAccount, open_account
from penstock.services.effective import effective_rung, place
from penstock.services.held import Holding, holdings
from penstock.services.lookup import dataset_by_name, required, user_by_name
from penstock.services.principals import Principal
from penstock.services.process import Process
from penstock.services.server import Server
from penstock.services.views import (
    ExposedQueryView,
    ExposureView,
    PrivacyBudget,
    ReachView,
)

MOST_USERS = 1000
UNIT_OF_FAILURE = Fraction(1, 2**62)


@dataclass(frozen=True)
class _Coalition:
    """Users, the highest tier that any of them ever held, and what they were handed."""

    users: Sequence[User]
    highest: Tier | None
    held: Sequence[Holding]

    def best(self) -> dict[int, Holding]:
        """The most accurate hand-out of each query, by the query's key."""
        found: dict[int, Holding] = {}
        for holding in self.held:
            key = required(holding.query.id)
            if key not in found or holding.release.rung < found[key].release.rung:
                found[key] = holding
        return found


def of(
    server: Server, principal: Principal, names: Sequence[str], dataset: str | None = None
) -> ExposureView:
    """The exposure of a coalition to a dataset; over all datasets the figures add up.

    Auditors ask about anybody, everybody else about themselves alone.  Raises
    ``Forbidden``, ``NotFound``, and ``InvalidInput`` for an empty or a huge set.
    """
    names = list({folded(name): name for name in names if name}.values())
    if not 1 <= len(names) <= MOST_USERS:
        raise InvalidInput(f"users lists 1 to {MOST_USERS} names.", pointer="/users")
    if [folded(name) for name in names] != [folded(principal.name)]:
        principal.require("auditor")
    with server.database.read() as session:
        users = [user_by_name(session, name) for name in names]
        datasets = (
            [dataset_by_name(session, dataset)]
            if dataset is not None
            else session.exec(select(Dataset).order_by(col(Dataset.id))).all()
        )
        parts = [_of_dataset(session, users, one) for one in datasets]
    if dataset is not None and not principal.roles & {"admin", "auditor"} and not parts[0].reach:
        # They never had a tier that sees it: to them it is as good as missing.
        raise NotFound(f"There is no dataset {dataset!r}.")
    return _added(users, parts)


def _of_dataset(session: Session, users: Sequence[User], dataset: Dataset) -> ExposureView:
    keys = [required(user.id) for user in users]
    coalition = _Coalition(
        users,
        _highest_ever(session, keys),
        holdings(session, user_ids=keys, dataset_ids=[required(dataset.id)]),
    )
    best = coalition.best()
    account = (
        open_account(session, required(dataset.id), coalition.highest)
        if coalition.highest
        else None
    )
    released = [placed(row.query, row.release.rung) for row in best.values()]
    independent = [placed(row.query, row.release.rung) for row in coalition.held]
    return ExposureView(
        users=[user.name for user in users],
        queries=[
            ExposedQueryView(
                row.query.name,
                Process.of(row.query).level(row.release.rung),
                Process.of(row.query).guarantee(row.release.rung, dataset.delta),
            )
            for row in sorted(best.values(), key=lambda row: row.query.name)
        ],
        released=_composed(released, account, dataset.delta),
        could_be=could_be(session, dataset, account),
        independent=_composed(independent, None, dataset.delta),
        reach=_reach(account),
        registrars=_registrars(session, dataset, account),
    )


def _registrars(
    session: Session, dataset: Dataset, account: TierAccount | None
) -> ReachView | None:
    """The reach of those who registered what a tier may see, or set a level of it."""
    if account is None:
        return None
    seen = select(Charge.query_id).where(
        col(Charge.dataset_id) == dataset.id, col(Charge.tier_id) == account.tier.id
    )
    registered = select(Query.by).where(col(Query.id).in_(seen))
    moved = select(QueryLevel.by).where(col(QueryLevel.query_id).in_(seen))
    makers = session.exec(
        select(User.id).where(col(User.name).in_(registered) | col(User.name).in_(moved))
    ).all()
    highest = _highest_ever(session, [required(key) for key in makers])
    return _reach(open_account(session, required(dataset.id), highest)) if highest else None


def _reach(account: TierAccount | None) -> ReachView | None:
    if account is None:
        return None
    return ReachView(account.tier.name, account.account.epsilon, account.account.delta)


def could_be(session: Session, dataset: Dataset, account: TierAccount | None) -> PrivacyBudget:
    """The composed loss of everything that a tier may fetch: its effective levels."""
    if account is None:
        return PrivacyBudget(0.0, 0.0)
    visible = []
    for query in session.exec(select(Query).where(col(Query.dataset_id) == dataset.id)).all():
        rung = effective_rung(session, query, account.tier)
        if rung is not None:
            visible.append(placed(query, rung))
    return _composed(visible, account, dataset.delta)


def placed(query: Query, rung: int) -> PlacedRelease:
    """A release as the report composes it."""
    process = Process.of(query)
    return PlacedRelease(
        query.mechanism,
        process.mechanism.granularity,
        process.ladder.value(rung),
        process.sensitivity,
    )


def _composed(
    releases: Sequence[PlacedRelease], account: TierAccount | None, delta: float
) -> PrivacyBudget:
    """The tight composition, never above the bound that the filter itself implies.

    The failure probabilities already charged are taken out of delta first.
    """
    if not releases:
        return PrivacyBudget(0.0, 0.0)
    failure = float(account.spent.failure * UNIT_OF_FAILURE) if account else 0.0
    epsilon = composed_epsilon(releases, delta - failure)
    if account is not None:
        bound = converted_epsilon(
            account.account.order,
            account.spent.cost.loss,
            delta - account.account.failure_limit,
        )
        epsilon = min(epsilon, bound)
    return PrivacyBudget(epsilon, delta)


def _highest_ever(session: Session, user_ids: Sequence[int]) -> Tier | None:
    """The most trusted tier that any of them holds or ever held."""
    tiers = session.exec(
        select(Tier)
        .join(Clearance, col(Clearance.tier_id) == col(Tier.id))
        .where(col(Clearance.user_id).in_(user_ids))
    ).all()
    return max(tiers, key=place, default=None)


def _added(users: Sequence[User], parts: Sequence[ExposureView]) -> ExposureView:
    if len(parts) == 1:
        return parts[0]
    return ExposureView(
        users=[user.name for user in users],
        queries=[query for part in parts for query in part.queries],
        released=_sum(part.released for part in parts),
        could_be=_sum(part.could_be for part in parts),
        independent=_sum(part.independent for part in parts),
        reach=_farthest(part.reach for part in parts),
        registrars=_farthest(part.registrars for part in parts),
    )


def _farthest(reaches: Iterable[ReachView | None]) -> ReachView | None:
    listed = [reach for reach in reaches if reach is not None]
    if not listed:
        return None
    return ReachView(
        listed[0].tier,
        sum(reach.epsilon for reach in listed),
        sum(reach.delta for reach in listed),
    )


def _sum(amounts: Iterable[PrivacyBudget]) -> PrivacyBudget:
    listed = list(amounts)
    return PrivacyBudget(
        sum(amount.epsilon for amount in listed), sum(amount.delta for amount in listed)
    )
