"""Leaves of what admins do: each says what its actor had been given before.

A choice may reveal what its maker has read.  So ``actor_exposure`` stands in the leaf of
every change: for each query that the actor was ever handed a release of, its name and
the most accurate level, in the unit of its mechanism's parameter.  It covers the queries
of the dataset that the change is about, or of all where it is about none; ``{}`` says
that the actor had read nothing of them.
"""

from datetime import datetime

from sqlalchemy import union
from sqlmodel import Session, col, func, select

from penstock.persistence.tables import Dataset, Grant, Leaf, Query, Release
from penstock.services import log
from penstock.services.lookup import required
from penstock.services.principals import Principal
from penstock.services.process import Process


def record(
    session: Session,
    principal: Principal,
    kind: str,
    at: datetime,
    *,
    dataset: Dataset | None = None,
    query: Query | None = None,
    user: str | None = None,
    **more: object,
) -> Leaf:
    """Append the leaf of a change that ``principal`` makes."""
    return log.append(
        session,
        kind=kind,
        at=at,
        actor=principal.actor,
        user=user,
        dataset=dataset.name if dataset else None,
        query=query.name if query else None,
        actor_exposure=exposure_of(session, principal, dataset),
        **more,
    )


def exposure_of(
    session: Session, principal: Principal, dataset: Dataset | None
) -> dict[str, float]:
    """The most accurate level of each query that was handed to ``principal``.

    What the operator asked for in the name of others counts as read by the operator.
    """
    # Begins at what was read, so that it costs the same however much is registered.
    mine = select(col(Grant.release_id)).where(col(Grant.user_id) == principal.user_id)
    acted = (
        select(col(Grant.release_id))
        .join(Leaf, col(Grant.leaf_id) == col(Leaf.id))
        .where(col(Leaf.actor) == principal.actor, col(Leaf.kind).in_(("release", "stream")))
    )
    read = union(mine, acted).subquery()
    best = (
        select(col(Release.query_id), func.min(col(Release.rung)))
        .join(read, read.c.release_id == col(Release.id))
        .group_by(col(Release.query_id))
    )
    rungs = dict(session.exec(best).all())
    if not rungs:
        return {}
    queries = session.exec(
        select(Query)
        .where(col(Query.id).in_(select(best.subquery().c.query_id)))
        .order_by(col(Query.name))
    ).all()
    return {
        query.name: Process.of(query).level(rungs[required(query.id)]).value
        for query in queries
        if dataset is None or query.dataset_id == dataset.id
    }
