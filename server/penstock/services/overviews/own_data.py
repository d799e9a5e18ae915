"""Show analysts what they may ask of each dataset, and what they received last.

All of it is of the caller's own tier, and of their own hand-outs, also for callers who have more
roles: figures of other tiers are on other pages.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session, col, func, select

from penstock.accounting.charging.ledger import left_of, limit_of
from penstock.errors import KeysUnavailable
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.datasets import funded, visible_below
from penstock.services.ledger.accounts import open_account
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors.parts import ranged
from penstock.services.releases import history
from penstock.services.repository.people import clearance_of
from penstock.services.repository.queries import in_sight
from penstock.services.schemas.views import ReleaseView
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.services.wordings.stored import of_datasets, shown_of

MOST_DATASETS = 8

MOST_RESULTS = 3
"""Queries of which the newest release is shown."""

LOOKED_AT = 30
"""The newest hand-outs among which those queries are looked for."""

MOST_NUMBERS = 6
"""The numbers of a release that are shown."""

LARGEST = 1 << 16
"""The size in bytes up to which a release is read here."""


@dataclass(frozen=True)
class OwnDatasetView:
    """Hold a dataset: the budget of the caller's tier, its share that is left, the last release.

    ``version`` is the newest one in which the tier has a budget, and ``epsilon`` is of that.
    ``received_at`` is None if the caller received nothing of any version.
    """

    name: str
    title: str
    version: int
    epsilon: float
    remaining_share: float
    received_at: datetime | None


@dataclass(frozen=True)
class OwnDataView:
    """Hold the caller's tier, None without one, and the datasets that it has a budget in.

    Those that the caller received a release of come first, the last one at the head; ``count`` is
    the number of all datasets.
    """

    tier: str | None
    datasets: list[OwnDatasetView]
    count: int


@dataclass(frozen=True)
class ResultView:
    """Hold the newest release of a query: its first numbers, and how many it has.

    ``texts`` are those of the query, None if the caller may no longer see it.
    ``release`` is None, and only its page has the numbers, if it is large, if it is a sparse
    histogram, whose numbers are not in the order of its keys, or if keys cannot be read now.
    """

    id: str
    query: str
    tier: str
    received_at: datetime
    count: int
    release: ReleaseView | None
    texts: StatisticWordingView | None


def datasets(server: Server, principal: Principal) -> OwnDataView:
    """Return the datasets that the caller's tier may ask about.  Raises ``Forbidden``."""
    principal.require("analyst")
    with server.database.read() as session:
        user = required(principal.user_id)
        tier = clearance_of(session, user)
        if tier is None:
            return OwnDataView(None, [], 0)
        received = _received(session, user)
        rows = session.exec(
            select(Dataset.folded, func.max(col(Dataset.id)))
            .where(col(Dataset.withdrawn_at).is_(None), col(Dataset.id).in_(funded(tier)))
            .group_by(col(Dataset.folded))
        ).all()
        newest = [(name, required(key)) for name, key in rows]

        def order(item: tuple[str, int]) -> tuple[bool, datetime, int]:
            at = received.get(item[0])
            return at is not None, at or server.clock(), item[1]

        chosen = sorted(newest, key=order, reverse=True)[:MOST_DATASETS]
        shown = [_dataset(session, key, tier, received) for _, key in chosen]
        return OwnDataView(tier.name, [view for view in shown if view], len(newest))


def _received(session: Session, user_id: int) -> Mapping[str, datetime]:
    """Return by the folded name of a dataset when a user was first handed its newest release."""
    rows = session.exec(
        select(Dataset.folded, func.max(col(Grant.at)))
        .join(Query, col(Query.dataset_id) == col(Dataset.id))
        .join(Release, col(Release.query_id) == col(Query.id))
        .join(Grant, col(Grant.release_id) == col(Release.id))
        .where(col(Grant.user_id) == user_id)
        .group_by(col(Dataset.folded))
    ).all()
    return dict(rows)


def _dataset(
    session: Session, key: int, tier: Tier, received: Mapping[str, datetime]
) -> OwnDatasetView | None:
    dataset, opened = session.get_one(Dataset, key), open_account(session, key, tier)
    if opened is None:
        return None
    texts = of_datasets(session, [dataset.folded]).get(dataset.folded)
    left, limit = left_of(opened.account, opened.spent), limit_of(opened.account)
    return OwnDatasetView(
        dataset.name,
        texts.title if texts else "",
        dataset.version,
        opened.account.epsilon,
        left.loss / limit.loss,
        received.get(dataset.folded),
    )


def results(server: Server, principal: Principal) -> list[ResultView]:
    """Return the newest release of each query that the caller received from last, newest first.

    Of streams there are none, as in the history.  Raises ``Forbidden``.
    """
    principal.require("analyst")
    with server.database.read() as session:
        rows = session.exec(
            select(Release.public_id, Query, Dataset.wrapped_kek)
            .join(Grant, col(Grant.release_id) == col(Release.id))
            .join(Query, col(Release.query_id) == col(Query.id))
            .join(Dataset, col(Query.dataset_id) == col(Dataset.id))
            .where(
                col(Grant.user_id) == required(principal.user_id), col(Query.structure).is_(None)
            )
            .order_by(col(Grant.id).desc())
            .limit(LOOKED_AT)
        ).all()
        newest: dict[int, tuple[str, bool]] = {}
        for public_id, query, key in rows:
            if len(newest) < MOST_RESULTS:
                small = bool(key) and kind_of(query).size(query) <= LARGEST
                newest.setdefault(required(query.id), (public_id, small))
        texts = _texts(session, principal, list(newest))
    return [_result(server, principal, *each, texts.get(number)) for number, each in newest.items()]


def _texts(
    session: Session, principal: Principal, keys: Sequence[int]
) -> Mapping[int, StatisticWordingView]:
    """Return the texts of those of the queries that the caller may still see, by their numbers."""
    limit = visible_below(session, principal)
    if limit is None and not principal.roles & {"admin", "auditor"}:
        return {}
    seen = select(Query).where(col(Query.id).in_(keys))
    if limit is not None:
        seen = seen.where(in_sight(limit))
    return shown_of(session, session.exec(seen).all(), limit)


def _result(
    server: Server,
    principal: Principal,
    public_id: str,
    small: bool,
    texts: StatisticWordingView | None,
) -> ResultView:
    whole = None
    if small:
        with suppress(KeysUnavailable):
            whole = history.values(server, principal, public_id)
    item = whole or history.show(server, principal, public_id)
    view = ResultView(item.id, item.query, item.tier, item.released_at, 0, None, texts)
    if whole is None:
        return view
    count, release = len(whole.values), None
    if whole.histogram is None:
        release = ranged(whole, 0, MOST_NUMBERS - 1) if count > MOST_NUMBERS else whole
    return replace(view, count=count, release=release)
