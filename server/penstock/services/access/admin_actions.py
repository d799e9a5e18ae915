"""Append the leaves of admins' actions to the log, each with what its actor had read.

A choice may reveal what the person who makes it has read.  So the leaf of every change has the
field ``actor_exposure``: for each query of which the actor ever received a release, its name
and the most accurate level, in the unit of its mechanism's parameter; if levels are
independent draws and add up, the list of all of them.  It covers the queries of the dataset
that the change is about, or of all datasets if it is about none; ``{}`` says that the actor
had read nothing of them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import String, bindparam, literal_column, union
from sqlmodel import Session, col, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services.access.principals import Principal
from penstock.transparency_log import leaves
from penstock.transparency_log.leaves import AppendedLeaf

if TYPE_CHECKING:
    from penstock.services.noise.kinds.kind import QueryKind

Exposure = dict[str, float | list[float]]

# Written out: a list of parameters expands, which those of a prepared statement must not.
_KINDS = [literal_column(f"'{kind}'", String) for kind in ("release", "stream")]

# Built once, since every change needs them.  They begin at what was read, so that their cost does
# not depend on how much is registered.
_READ = union(
    select(col(Grant.release_id)).where(col(Grant.user_id) == bindparam("user_id")),
    select(col(Grant.release_id))
    .join(Leaf, col(Grant.leaf_id) == col(Leaf.id))
    .where(col(Leaf.actor) == bindparam("actor"), col(Leaf.kind).in_(_KINDS)),
).subquery()
HANDED = select(col(Release.query_id), col(Release.rung)).join(
    _READ, _READ.c.release_id == col(Release.id)
)
"""The rungs that a person was given, by query; ``reader_of`` has its parameters."""

_READ_QUERIES = (
    select(Query)
    .where(col(Query.id).in_(select(HANDED.subquery().c.query_id)))
    .order_by(col(Query.name))
)


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
) -> AppendedLeaf:
    """Append the leaf of a change that ``principal`` makes."""
    exposure = exposure_of(session, principal, dataset)
    leaf = leaf_of(
        session, principal, kind, at, exposure, dataset=dataset, query=query, user=user, **more
    )
    leaves.append_all(session, [leaf])
    return leaf


def leaf_of(
    session: Session,
    principal: Principal,
    kind: str,
    at: datetime,
    exposure: Exposure,
    *,
    dataset: Dataset | None = None,
    query: Query | None = None,
    user: str | None = None,
    **more: object,
) -> AppendedLeaf:
    """Make the leaf of one of several changes, which ``leaves.append_all`` appends.

    ``exposure`` is that of ``exposure_of``, which is the same for all of them: what is read in a
    transaction is not handed out in it.
    """
    return leaves.made(
        session,
        kind=kind,
        at=at,
        actor=principal.actor,
        user=user,
        dataset=dataset.name if dataset else None,
        query=query.name if query else None,
        actor_exposure=exposure,
        **more,
    )


def exposure_of(session: Session, principal: Principal, dataset: Dataset | None) -> Exposure:
    """Return the levels of each query that ``principal`` was given, by the query's name.

    A level that reveals nothing beyond a more accurate one is left out.

    What the operator requested in the name of others counts as read by the operator.
    """
    reader = reader_of(principal)
    rungs: dict[int, list[int]] = {}
    session.flush()
    for key, rung in session.connection().execute(HANDED, reader).all():
        rungs.setdefault(key, []).append(rung)
    if not rungs:
        return {}
    # Imported only here: the mechanisms are slow to import, and a command of a person who has read
    # nothing needs none of them.
    from penstock.services.noise.kinds.choice import kind_of

    queries = session.exec(_READ_QUERIES, params=reader).all()
    return {
        query.name: _levels(kind_of(query), rungs[required(query.id)])
        for query in queries
        if dataset is None or query.dataset_id == dataset.id
    }


def reader_of(principal: Principal) -> dict[str, object]:
    """Return the parameters of ``HANDED`` for a person."""
    return {"user_id": principal.user_id, "actor": principal.actor}


def _levels(kind: "QueryKind", rungs: Sequence[int]) -> float | list[float]:
    levels = [kind.level(rung).value for rung in kind.levels.telling(rungs)]
    return kind.levels.leaf_of_exposure(levels)
