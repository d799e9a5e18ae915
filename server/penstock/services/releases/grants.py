"""Record which release was handed to which user, with its leaf, and read it back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import bindparam
from sqlalchemy.orm import defer
from sqlmodel import Session, col, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.people import Tier, User
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.schemas.views import HistoryItemView, LevelView, ReleaseView
from penstock.transparency_log.leaves import AppendedLeaf, receipt_of
from penstock.transparency_log.views import ReceiptView


@dataclass(frozen=True)
class Holding:
    """Hold the rows behind one line of the release history."""

    grant: Grant
    release: Release
    leaf: Leaf
    query: Query
    dataset: Dataset
    user: User
    tier: Tier

    def view(self, steps: Steps) -> ReleaseView:
        """Return the release as its reader sees it."""
        return view_of(
            kind_of(self.query),
            self.query,
            self.dataset,
            self.tier,
            self.release,
            self.grant.at,
            receipt_of(self.leaf),
            steps,
        )

    @property
    def place(self) -> int:
        """Return its place in the log, for cursors; -1 before it has one."""
        return -1 if self.leaf.index is None else self.leaf.index

    def item(self) -> HistoryItemView:
        """Return the line of the history, without values."""
        kind = kind_of(self.query)
        return HistoryItemView(
            id=self.release.public_id,
            user=self.user.name,
            query=self.query.readable,
            dataset=self.dataset.name,
            tier=self.tier.name,
            mechanism=self.query.mechanism,
            level=kind.level(self.release.rung),
            guarantee=kind.guarantee(self.release.rung, self.dataset.delta),
            error=kind.error(self.release.rung),
            released_at=self.grant.at,
            receipt=receipt_of(self.leaf),
        )


class NamedRelease(Protocol):
    """Hold what a view shows of a release: an entity of its row, or some of its columns."""

    @property
    def public_id(self) -> str:
        """Return its name."""
        ...

    @property
    def rung(self) -> int:
        """Return the rung of its level."""
        ...


class HandedRelease(NamedRelease, Protocol):
    """Hold what handing out a release needs of it: stored already, or about to be."""

    @property
    def id(self) -> int | None:
        """Return the number of its row."""
        ...

    @property
    def seq(self) -> int:
        """Return its number among the releases of its query."""
        ...


def view_of(
    kind: QueryKind,
    query: Query,
    dataset: Dataset,
    tier: Tier,
    release: NamedRelease,
    granted_at: datetime,
    receipt: ReceiptView,
    steps: Steps,
) -> ReleaseView:
    """Return a release as its reader sees it, as a holder of ``tier``."""
    rung = release.rung
    reading = kind.reading(query, rung, steps)
    return ReleaseView(
        id=release.public_id,
        query=query.readable,
        dataset=dataset.name,
        tier=tier.name,
        mechanism=query.mechanism,
        level=kind.level(rung),
        guarantee=kind.guarantee(rung, dataset.delta),
        granularity=float(kind.mechanism.granularity),
        keys=reading.keys,
        values=reading.values,
        error=reading.error,
        asserted_by=query.asserted_by,
        released_at=granted_at,
        receipt=receipt,
        mean=reading.mean,
        errors=reading.errors,
        histogram=reading.histogram,
        moments=reading.moments,
        estimates=reading.estimates,
        quantiles=reading.quantiles,
        distributions=reading.distributions,
        marginals=reading.marginals,
        covariance=reading.covariance,
        answers_covariance=reading.answers_covariance,
    )


_HAND_OUTS = (
    select(Grant, Release, Leaf, Query)
    .join(Release, col(Grant.release_id) == col(Release.id))
    .join(Leaf, col(Grant.leaf_id) == col(Leaf.id))
    .join(Query, col(Release.query_id) == col(Query.id))
)
# A page of the history would load a vector for each of its lines.
_WITHOUT_VECTORS = _HAND_OUTS.options(
    defer(Release.ciphertext, raiseload=True)  # type: ignore[arg-type]  # SQLModel's columns
)
# Built once, since every release begins with it.
_HAND_OUT_AT_RUNG = _HAND_OUTS.where(
    col(Grant.user_id) == bindparam("user_id"),
    col(Release.query_id) == bindparam("query_id"),
    col(Release.rung) == bindparam("rung"),
)


def holding_at(session: Session, principal: Principal, query: Query, rung: int) -> Holding | None:
    """Return the caller's holding at a rung of a query, or ``None``."""
    row = session.exec(
        _HAND_OUT_AT_RUNG,
        params={
            "user_id": required(principal.user_id),
            "query_id": required(query.id),
            "rung": rung,
        },
    ).first()
    return _holding(session, *row) if row else None


def holdings(
    session: Session,
    *,
    user_ids: Sequence[int] | None = None,
    query_id: int | None = None,
    dataset_ids: Sequence[int] | None = None,
    tier_id: int | None = None,
    public_id: str | None = None,
    streams: bool = True,
    since: datetime | None = None,
    until: datetime | None = None,
    after: int | None = None,
    limit: int | None = None,
    sealed: bool = False,
) -> list[Holding]:
    """Return hand-outs in the order of the log; an argument of ``None`` does not filter.

    Their releases have sealed vectors if ``sealed`` is True.

    ``since`` is included, ``until`` is not.  With ``after``, those after that leaf of the log, and
    none without a place in it.  A stream has one for each user and rung, made with the first range.
    """
    # Row numbers are not in the order of commits: a cursor over them might miss some.
    statement = _HAND_OUTS if sealed else _WITHOUT_VECTORS
    statement = statement.order_by(col(Leaf.index).nulls_last(), col(Grant.id)).limit(limit)
    if after is not None:
        statement = statement.where(col(Leaf.index) > after)
    if user_ids is not None:
        statement = statement.where(col(Grant.user_id).in_(user_ids))
    if query_id is not None:
        statement = statement.where(col(Release.query_id) == query_id)
    if dataset_ids is not None:
        statement = statement.where(col(Query.dataset_id).in_(dataset_ids))
    if tier_id is not None:
        statement = statement.where(col(Grant.tier_id) == tier_id)
    if since is not None:
        statement = statement.where(col(Grant.at) >= since)
    if until is not None:
        statement = statement.where(col(Grant.at) < until)
    if not streams:
        statement = statement.where(col(Query.structure).is_(None))
    if public_id is not None:
        statement = statement.where(col(Release.public_id) == public_id)
    return [_holding(session, *row) for row in session.exec(statement).all()]


def _holding(session: Session, grant: Grant, release: Release, leaf: Leaf, query: Query) -> Holding:
    """Return a hand-out with its dataset, user and tier, which the session caches."""
    return Holding(
        grant,
        release,
        leaf,
        query,
        session.get_one(Dataset, query.dataset_id),
        session.get_one(User, grant.user_id),
        session.get_one(Tier, grant.tier_id),
    )


def leaf_fields(
    server: Server,
    principal: Principal,
    kind: str,
    dataset: Dataset,
    query: Query,
    tier: Tier,
    level: LevelView,
    release: NamedRelease,
) -> dict[str, Any]:
    """Return the fields of the leaf of a release that is handed to ``principal``."""
    return {
        "kind": kind,
        "at": server.clock(),
        "actor": principal.actor,
        "user": principal.name,
        "dataset": dataset.name,
        "query": query.name,
        "tier": tier.name,
        "level": {"parameter": level.parameter, "value": level.value},
        "release": release.public_id,
    }


def grant(
    session: Session, principal: Principal, tier: Tier, release: Release, leaf: AppendedLeaf
) -> Grant:
    """Record that ``principal`` holds a release from now on, as in ``leaf``."""
    made = Grant(
        user_id=required(principal.user_id),
        release_id=required(release.id),
        tier_id=required(tier.id),
        leaf_id=required(leaf.id),
        at=leaf.at,
    )
    session.add(made)
    return made
