"""Gather the facts of an auditor's report from one state of the database.

Releases are counted by the leaves of their first hand-outs, up to the newest checkpoint.  A period
contains its first moment and not its last.  Budgets and joint exposure are those of the moment when
the report is made, since both count everything before it as well.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select as core_select
from sqlmodel import Session, col, func, select

from penstock.errors import InvalidInput
from penstock.figures import moment
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.people import Tier, User
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services import budgets
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.exposure.compositions import composing
from penstock.services.exposure.exposure import Gathered, gathered
from penstock.services.ledger.effective_levels import highest_of_each, ladder, place
from penstock.services.ledger.version_chains import of_same_people, versions_of
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.reports import log_checks
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.exposure import ReachView
from penstock.services.schemas.views import ErrorView, PrivacyBudget
from penstock.services.schemas.wordings.wordings import WordingView
from penstock.services.wordings.stored import of_dataset, of_queries
from penstock.transparency_log import leaves

FORMAT: Final = "penstock audit report v1"


@dataclass(frozen=True)
class GivenView:
    """Hold what one person was given at one tier, and the most accurate query of it.

    ``best_title`` is the title of this query when the report was made; empty without one.
    """

    tier: str
    user: str
    releases: int
    queries: int
    best_query: str
    best_title: str
    best_error: ErrorView


@dataclass(frozen=True)
class TierGivenView:
    """Hold what all people were given at one tier."""

    tier: str
    users: int
    releases: int
    queries: int


@dataclass(frozen=True)
class TierSpentView:
    """Hold a tier's budget in one version of the dataset, and what is spent of it."""

    version: int
    tier: str
    granted: PrivacyBudget
    spent: PrivacyBudget
    spent_share: float


@dataclass(frozen=True)
class CoalitionView:
    """Hold the joint exposure of everybody who holds a release and never was above a tier.

    Any other people who never were above it know less together.
    """

    up_to: str
    users: list[str]
    released: PrivacyBudget
    could_be: PrivacyBudget
    reach: ReachView | None


@dataclass(frozen=True)
class ReportFactsView:
    """Hold the facts of a report about one dataset and the period from ``start`` until ``end``.

    Without ``start`` the period begins with the log.  ``end`` is not in it.  ``dataset_title`` is
    that of the moment when the report was made.
    """

    format: str
    dataset: str
    dataset_title: str
    versions: int
    start: str | None
    end: str
    made_at: str
    made_by: str
    releases: int
    people: int
    tiers: list[TierGivenView]
    given: list[GivenView]
    budgets: list[TierSpentView]
    coalitions: list[CoalitionView]
    log: log_checks.LogCheckView


@dataclass(frozen=True)
class Period:
    """Hold a period: ``start`` is in it, or None for the beginning of the log; ``end`` is not."""

    start: datetime | None
    end: datetime


def period(server: Server, start: datetime | None, end: datetime | None) -> Period:
    """Return a period until ``end``, or until now.  Raises ``InvalidInput`` unless it is past."""
    now = server.clock()
    if end is not None and end > now:
        raise InvalidInput(
            f"The period would end at {moment(end)}, and it is {moment(now)}: a report covers what"
            " has happened. Choose an earlier end, or leave it out for now.",
            pointer="/to",
        )
    if start is not None and start > (end or now):
        raise InvalidInput(
            f"The period would begin at {moment(start)}, after its end at {moment(end or now)}."
            " Choose an earlier beginning, or leave it out for that of the log.",
            pointer="/from",
        )
    # The present moment is in a period without an end.
    return Period(start, end or now + timedelta(microseconds=1))


def facts(server: Server, principal: Principal, name: str, when: Period) -> ReportFactsView:
    """Return the facts about a dataset.  Raises ``Forbidden`` and ``NotFound``."""
    principal.require("auditor")
    sight = log_checks.seen(server)  # before the transaction, which then has at least as much
    with server.database.read() as session:
        dataset = dataset_by_name(session, name)
        versions = versions_of(session, dataset)
        checkpoint = log_checks.newest(session)
        keys = [required(row.id) for row in versions]
        # Held until the end, so that no row is loaded and authenticated twice.
        queries = session.exec(select(Query).where(col(Query.dataset_id).in_(keys))).all()
        title = of_dataset(session, dataset).title
        given = _given(session, queries, keys, when, checkpoint.size)
        spent = [
            TierSpentView(version.version, view.tier, view.granted, view.spent, view.spent_share)
            for version in versions
            for view in budgets.of_version(session, principal, version, ladder(session)).tiers
        ]
        together = _coalitions(session, keys, name)
        log = log_checks.checked(server, session, checkpoint, sight, when.start)
    by = composing(server.computing, principal.name)
    views = [(tier, part.view(by)) for tier, part in together]
    return ReportFactsView(
        format=FORMAT,
        dataset=dataset.name,
        dataset_title=title,
        versions=len(versions),
        start=None if when.start is None else leaves.timestamp(when.start),
        end=leaves.timestamp(when.end),
        made_at=leaves.timestamp(server.clock()),
        made_by=principal.actor,
        releases=sum(row.releases for row in given),
        people=len({row.user for row in given}),
        tiers=_by_tier(given),
        given=[row.view for row in given],
        budgets=spent,
        coalitions=[
            CoalitionView(tier, view.users, view.released, view.could_be, view.reach)
            for tier, view in views
        ],
        log=log,
    )


@dataclass(frozen=True)
class _Given:
    """Hold what a person was given at a tier, with the queries of it."""

    view: GivenView
    keys: frozenset[int]

    @property
    def user(self) -> str:
        return self.view.user

    @property
    def releases(self) -> int:
        return self.view.releases


def _given(
    session: Session, queries: Sequence[Query], versions: Sequence[int], when: Period, size: int
) -> list[_Given]:
    """Return who was given what in the period, the most trusted tier first.

    The database counts: the log may be long.
    """
    statement = (
        core_select(
            col(Grant.tier_id),
            col(Grant.user_id),
            col(Release.query_id),
            func.count(),
            func.min(Release.rung),
        )
        .join(Release, col(Grant.release_id) == col(Release.id))
        .join(Query, col(Release.query_id) == col(Query.id))
        .join(Leaf, col(Grant.leaf_id) == col(Leaf.id))
        .where(
            col(Query.dataset_id).in_(versions),
            col(Leaf.index) < size,
            col(Leaf.at) < when.end,
        )
        .group_by(col(Grant.tier_id), col(Grant.user_id), col(Release.query_id))
    )
    if when.start is not None:
        statement = statement.where(col(Leaf.at) >= when.start)
    parts: dict[tuple[int, int], dict[int, tuple[int, int]]] = defaultdict(dict)
    for tier_id, user_id, query_id, count, rung in session.execute(statement):
        parts[tier_id, user_id][query_id] = (count, rung)
    errors = _Errors(session, queries)
    people = {
        key: (session.get_one(Tier, key[0]), session.get_one(User, key[1]).name) for key in parts
    }
    ordered = sorted(people, key=lambda key: (_descending(people[key][0]), people[key][1]))
    return [_person(people[key][0].name, people[key][1], parts[key], errors) for key in ordered]


def _descending(tier: Tier) -> tuple[int, int]:
    return -tier.rank, -required(tier.id)


class _Errors:
    """Compute the errors of releases, each once, and know the titles of their queries."""

    def __init__(self, session: Session, queries: Sequence[Query]) -> None:
        self._session = session
        self._kinds = {required(query.id): (query, kind_of(query)) for query in queries}
        self._texts = of_queries(session, list(self._kinds))
        self._known: dict[tuple[int, int], tuple[str, str, ErrorView]] = {}

    def of(self, query_id: int, rung: int) -> tuple[str, str, ErrorView]:
        """Return the query's name, its title, and the error of its release at a rung."""
        key = query_id, rung
        if key not in self._known:
            query, kind = self._kinds[query_id]
            error = kind.current_error(self._session, query, rung)
            title = self._texts.get(query_id, WordingView()).title
            self._known[key] = query.readable, title, error
        return self._known[key]


def _person(
    tier: str, user: str, queries: Mapping[int, tuple[int, int]], errors: _Errors
) -> _Given:
    """Return what one person was given."""
    known = [errors.of(query_id, rung) for query_id, (_, rung) in queries.items()]
    best = min(known, key=lambda each: (each[2].half_width, each[0]))
    releases = sum(count for count, _ in queries.values())
    view = GivenView(tier, user, releases, len(queries), *best)
    return _Given(view, frozenset(queries))


def _by_tier(given: Sequence[_Given]) -> list[TierGivenView]:
    rows: dict[str, list[_Given]] = defaultdict(list)
    for row in given:
        rows[row.view.tier].append(row)
    return [
        TierGivenView(
            tier,
            len(members),
            sum(row.releases for row in members),
            len(frozenset().union(*(row.keys for row in members))),
        )
        for tier, members in rows.items()
    ]


def _coalitions(session: Session, versions: Sequence[int], name: str) -> list[tuple[str, Gathered]]:
    """Return for each tier all holders of releases who never were above it, the largest first."""
    statement = (
        select(Grant.user_id)
        .join(Release, col(Grant.release_id) == col(Release.id))
        .join(Query, col(Release.query_id) == col(Query.id))
        .where(col(Query.dataset_id).in_(versions))
        .distinct()
    )
    highest = highest_of_each(session, session.exec(statement).all())
    same_people = of_same_people(session, dataset_by_name(session, name))
    groups: list[tuple[str, Gathered]] = []
    for tier in sorted({tier.id: tier for tier in highest.values()}.values(), key=place):
        below = [user for user, reached in highest.items() if place(reached) <= place(tier)]
        members = [session.get_one(User, user) for user in sorted(below)]
        groups.append((tier.name, gathered(session, members, same_people)))
    return groups[::-1]
