"""Compute what a set of users knows together, and what it would have cost without tiers.

``could_be`` is the guarantee: everything that the highest tier that any of them ever held may
request.  ``released`` is what they did request, after the fact.  ``independent`` is the same
hand-outs, composed as if each had been drawn independently.  In the first two only the most
accurate level of a query counts, or all of them if levels are independent draws.

Everything is composed over the versions of a dataset that one privacy unit may be in, at
the sum of their deltas; if there are several such sets of versions, the worst one counts.
Datasets that were declared to have the same people count as one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sqlmodel import Session, col, func, select
from sqlmodel.sql.expression import SelectOfScalar

from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.errors import InvalidInput, NotFound
from penstock.mechanisms.laplace.pure import PureLaplace
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.decided.requests import Asker, RequestDecision
from penstock.persistence.tables.ledger import Charge
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.people import User
from penstock.persistence.tables.queries import Grant, Query, QueryLevel, Release
from penstock.privacy.sensitivity import Sensitivity
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.context import Server
from penstock.services.exposure.compositions import Compose, Line, added, composed, composing, which
from penstock.services.ledger.accounts import TierAccount, open_account
from penstock.services.ledger.effective_levels import charged_rungs, highest_ever
from penstock.services.ledger.version_chains import by_people, chains, of_same_people, split
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.noise.process import Process
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import user_by_name
from penstock.services.schemas.exposure import ExposedQueryView, ExposureView, ReachView
from penstock.services.schemas.views import PrivacyBudget
from penstock.spec_fields import folded

_LATTICE_STEP: Final = Sensitivity(Fraction(1), Fraction(1), Fraction(1))

MOST_USERS = 1000


@dataclass(frozen=True)
class _QueryReleases:
    """Hold how often each rung of one query was given to some users."""

    query: Query
    kind: QueryKind
    rungs: Mapping[int, int]

    @property
    def best(self) -> list[int]:
        """Return the most accurate rung; if levels are independent, all rungs in that order."""
        return self.kind.levels.telling(self.rungs)


def of(
    server: Server, principal: Principal, names: Sequence[str], dataset: str | None = None
) -> ExposureView:
    """Return a coalition's exposure to a dataset; over all datasets the figures add up.

    Auditors may request it for any users, other users only for themselves.  Raises ``Forbidden``,
    ``NotFound``, and ``InvalidInput`` for an empty or a huge set.
    """
    with server.database.read() as session:
        users = people(session, principal, names)
        datasets = (
            [of_same_people(session, dataset_by_name(session, dataset))]
            if dataset is not None
            else by_people(session)
        )
        parts = [gathered(session, users, versions) for versions in datasets]
    if dataset is not None and not principal.roles & {"admin", "auditor"} and not parts[0].reach:
        # They never had a tier that sees it: for them the dataset does not exist.
        raise NotFound(f"There is no dataset {dataset!r}.")
    by = composing(server.computing, principal.name)
    return _added(users, [part.view(by) for part in parts])


def people(session: Session, principal: Principal, names: Sequence[str]) -> list[User]:
    """Return the users whose joint exposure the caller may see.  Raises as ``of`` does."""
    names = list({folded(name): name for name in names if name}.values())
    if not 1 <= len(names) <= MOST_USERS:
        raise InvalidInput(f"users must list 1 to {MOST_USERS} names.", pointer="/users")
    if [folded(name) for name in names] != [folded(principal.name)]:
        principal.require("auditor")
    return [user_by_name(session, name) for name in names]


@dataclass(frozen=True)
class Gathered:
    """Hold the data of one dataset, before they are composed."""

    users: list[str]
    queries: list[ExposedQueryView]
    released: list[Line]
    could_be: list[Line]
    independent: list[Line]
    reach: ReachView | None
    registrars: ReachView | None

    def view(self, by: Compose) -> ExposureView:
        """Compose the data, without the database."""
        return ExposureView(
            users=self.users,
            queries=self.queries,
            released=composed(self.released, by),
            could_be=composed(self.could_be, by),
            independent=composed(self.independent, by),
            reach=self.reach,
            registrars=self.registrars,
        )


def gathered(session: Session, users: Sequence[User], versions: Sequence[Dataset]) -> Gathered:
    """Return the data of what some users know of the versions of a dataset, to be composed."""
    keys = [required(user.id) for user in users]
    ids = [required(version.id) for version in versions]
    highest = highest_ever(session, keys)
    all_releases = _releases_of(session, keys, ids)
    accounts = {key: open_account(session, key, highest) if highest else None for key in ids}
    deltas = {key: version.delta for key, version in zip(ids, versions, strict=True)}

    def lines(counted: Callable[[_QueryReleases], Mapping[int, int]], *, paid: bool) -> list[Line]:
        known: dict[int, Counter[PlacedRelease]] = {key: Counter() for key in ids}
        for group in all_releases:
            of_version = known[group.query.dataset_id]
            for rung, times in counted(group).items():
                of_version[_placed(group.kind, group.query.mechanism, rung)] += times
        return [
            Line(version, accounts[key], known[key], paid)
            for key, version in zip(ids, versions, strict=True)
        ]

    return Gathered(
        users=[user.name for user in users],
        queries=[
            _exposed(group, deltas[group.query.dataset_id])
            for group in sorted(all_releases, key=lambda group: group.query.name)
        ],
        released=lines(lambda group: dict.fromkeys(group.best, 1), paid=True),
        could_be=[
            visible(session, version, accounts[key])
            for key, version in zip(ids, versions, strict=True)
        ],
        independent=lines(lambda group: group.rungs, paid=False),
        reach=reach(versions, [reach_of(account) for account in accounts.values()]),
        registrars=reach(
            versions,
            [
                _registrars(session, version, accounts[key])
                for key, version in zip(ids, versions, strict=True)
            ],
        ),
    )


def _releases_of(
    session: Session, user_ids: Sequence[int], dataset_ids: Sequence[int]
) -> list[_QueryReleases]:
    """Return the releases of some users, counted by the database: there may be many hand-outs."""
    counts = session.exec(
        select(Release.query_id, Release.rung, func.count())
        .join(Grant, col(Grant.release_id) == col(Release.id))
        .join(Query, col(Release.query_id) == col(Query.id))
        .where(col(Grant.user_id).in_(user_ids), col(Query.dataset_id).in_(dataset_ids))
        .group_by(col(Release.query_id), col(Release.rung))
    ).all()
    best_by_query: dict[int, dict[int, int]] = {}
    for key, rung, times in counts:
        best_by_query.setdefault(key, {})[rung] = times
    queries = session.exec(select(Query).where(col(Query.dataset_id).in_(dataset_ids))).all()
    return [
        _QueryReleases(query, kind_of(query), best_by_query[key])
        for query in queries
        if (key := required(query.id)) in best_by_query
    ]


def _exposed(group: _QueryReleases, delta: float) -> ExposedQueryView:
    """Return what the users hold of one query."""
    best = group.best
    return ExposedQueryView(
        group.query.readable,
        group.kind.level(best[0]),
        group.kind.guarantee(best[0], delta),
        group.kind.levels.composed(best, delta),
    )


def _registrars(
    session: Session, dataset: Dataset, account: TierAccount | None
) -> ReachView | None:
    """Return the reach of the users who chose what a tier may see.

    They registered or requested it, or set a level of it.

    The operator reaches what the users reach in whose name the operator acted.
    """
    if account is None:
        return None
    seen = select(Charge.query_id).where(
        col(Charge.dataset_id) == dataset.id, col(Charge.tier_id) == account.tier.id
    )
    registered = session.exec(select(Query).where(col(Query.id).in_(seen))).all()
    moved = session.exec(select(QueryLevel).where(col(QueryLevel.query_id).in_(seen))).all()
    names = {*(row.by for row in registered), *(row.by for row in moved)}
    users = session.exec(select(User).where(col(User.name).in_(names))).all()
    makers = {required(user.id) for user in users} | _askers(session, seen)
    if OPERATOR.name in names:
        statement = select(Grant).join(Leaf, col(Grant.leaf_id) == col(Leaf.id))
        handed = session.exec(statement.where(col(Leaf.actor) == OPERATOR.actor)).all()
        makers |= {row.user_id for row in handed}
    highest = highest_ever(session, sorted(makers))
    return reach_of(open_account(session, required(dataset.id), highest)) if highest else None


def _askers(session: Session, queries: SelectOfScalar[int]) -> set[int]:
    """Return the users whose request an admin approved, for any of the queries.

    Others who requested the same do not count: a tier is not told by its exposure what people
    above asked.
    """
    approved = select(col(RequestDecision.asker_id)).where(
        col(RequestDecision.query_id).in_(queries)
    )
    return set(session.exec(select(col(Asker.user_id)).where(col(Asker.id).in_(approved))).all())


def reach_of(account: TierAccount | None) -> ReachView | None:
    """Return the budget that an account was granted."""
    if account is None:
        return None
    return ReachView(account.tier.name, account.account.epsilon, account.account.delta)


def could_be(session: Session, dataset: Dataset, account: TierAccount) -> PrivacyBudget:
    """Return the composed loss of everything that a tier may request of one version."""
    return composed([visible(session, dataset, account)])


def visible(session: Session, dataset: Dataset, account: TierAccount | None) -> Line:
    """Return everything that a tier may request of one version: its effective levels."""
    releases = Counter[PlacedRelease]()
    if account is not None:
        charged = charged_rungs(session, required(dataset.id), account.tier)
        for query in session.exec(select(Query).where(col(Query.dataset_id) == dataset.id)).all():
            kind = kind_of(query)
            rungs = kind.levels.telling(charged.get(required(query.id), ()))
            releases.update(_placed(kind, query.mechanism, rung) for rung in rungs)
    return Line(dataset, account, releases)


def placed(query: Query, rung: int) -> PlacedRelease:
    """Return a release in the form that reports compose."""
    return _placed(kind_of(query), query.mechanism, rung)


def _placed(process: Process, mechanism: str, rung: int) -> PlacedRelease:
    level, moved = process.ladder.value(rung), process.sensitivity
    if isinstance(process.mechanism, PureLaplace):
        # Shifted by one step of its lattice, Laplace noise is randomized response.
        return PlacedRelease(mechanism, Fraction(1), level / moved.l1, _LATTICE_STEP)
    return PlacedRelease(mechanism, process.mechanism.granularity, level, moved, process.power)


def reach(versions: Sequence[Dataset], reaches: Sequence[ReachView | None]) -> ReachView | None:
    """Return the sum of the budgets of versions that a unit may be in, over the worst set."""
    known = {which(version): reached for version, reached in zip(versions, reaches, strict=True)}

    def worst(of_dataset: Sequence[Dataset]) -> ReachView | None:
        sums = [_farthest(known[which(member)] for member in chain) for chain in chains(of_dataset)]
        listed = [reached for reached in sums if reached is not None]
        return max(listed, key=lambda reached: reached.epsilon, default=None)

    # The worst set over several datasets consists of the worst set of each.
    return _farthest(worst(of_dataset) for of_dataset in split(versions))


def _added(users: Sequence[User], parts: Sequence[ExposureView]) -> ExposureView:
    if len(parts) == 1:
        return parts[0]
    return ExposureView(
        users=[user.name for user in users],
        queries=[query for part in parts for query in part.queries],
        released=added(part.released for part in parts),
        could_be=added(part.could_be for part in parts),
        independent=added(part.independent for part in parts),
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
