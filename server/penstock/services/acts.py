"""Leaves of what admins do: each says what its actor had been given before.

A choice may reveal what its maker has read.  So ``actor_exposure`` stands in the leaf of
every change: for each query that the actor was ever handed a release of, its name and
the most accurate level, in the unit of its mechanism's parameter.  It covers the queries
of the dataset that the change is about, or of all where it is about none; ``{}`` says
that the actor had read nothing of them.
"""

from datetime import datetime

from sqlmodel import Session, col, func, or_, select

from penstock.persistence.tables import Dataset, Grant, Leaf, Query, Release
from penstock.services import log
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
    statement = (
        select(Query, func.min(col(Release.rung)))
        .join(Release, col(Release.query_id) == col(Query.id))
        .join(Grant, col(Grant.release_id) == col(Release.id))
        .join(Leaf, col(Grant.leaf_id) == col(Leaf.id))
        .where(
            or_(
                col(Leaf.actor) == principal.actor,
                col(Grant.user_id) == principal.user_id,
            )
        )
        .group_by(col(Query.id))
        .order_by(col(Query.name))
    )
    if dataset is not None:
        statement = statement.where(col(Query.dataset_id) == dataset.id)
    return {
        query.name: Process.of(query).level(rung).value
        for query, rung in session.exec(statement).all()
    }
