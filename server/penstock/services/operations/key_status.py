"""Show the state of the provider's keys, and what shredding a dataset would destroy."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, func, select

from penstock.encryption.hierarchy import wrapping_key
from penstock.errors import KeysUnavailable
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import Leaf, LogKey
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.ledger.version_chains import versions_named
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.operations import key_rotation
from penstock.services.operations.key_rotation import KeyUseView


@dataclass(frozen=True)
class RotationView:
    """Hold when keys were last rotated, by whom, and how many."""

    at: datetime
    by: str
    keys: int


@dataclass(frozen=True)
class KeyStatusView:
    """Hold the provider, and what its keys protect.

    ``keys`` is how many keys it has, ``idle`` how many of these protect nothing that a row names.
    ``problem`` says why it does not answer; both numbers are unknown then.
    """

    provider: str
    problem: str | None
    keys: int | None
    idle: int | None
    used: list[KeyUseView]
    rotated: RotationView | None


@dataclass(frozen=True)
class ShreddedQueryView:
    """Hold a query that would become unreadable, and how many people hold releases of it."""

    query: str
    stream: bool
    version: int
    status: str
    holders: int


@dataclass(frozen=True)
class ShreddingPreviewView:
    """Hold what shredding a dataset would destroy.

    ``versions`` are those that can still be read; none if the dataset is shredded already.
    """

    dataset: str
    versions: list[int]
    queries: list[ShreddedQueryView]


def look(server: Server, principal: Principal) -> KeyStatusView:
    """Return the state of the keys, even if the provider does not answer.  Raises ``Forbidden``."""
    principal.require("admin")
    problem, names = None, None
    try:
        names = set(server.provider.health().keys)
    except KeysUnavailable as trouble:
        problem = trouble.detail
    with server.database.read() as session:
        used = key_rotation.used(session)
        signing = {wrapping_key(use.wrapped) for use in session.exec(select(LogKey)).all()}
        rotated = _rotated(session)
    at_work = signing | {use.key for use in used if use.key}
    return KeyStatusView(
        provider=server.settings.key_provider,
        problem=problem,
        keys=None if names is None else len(names),
        idle=None if names is None else len(names - at_work),
        used=used,
        rotated=rotated,
    )


def preview_shredding(server: Server, principal: Principal, name: str) -> ShreddingPreviewView:
    """Return what shredding a dataset would destroy; nothing is changed.

    Raises ``Forbidden`` and ``NotFound``.
    """
    principal.require("admin")
    with server.database.read() as session:
        datasets = versions_named(session, name)
        return ShreddingPreviewView(
            dataset=datasets[0].name,
            versions=[dataset.version for dataset in datasets if dataset.wrapped_kek],
            queries=_queries(session, [dataset for dataset in datasets if dataset.wrapped_kek]),
        )


def _queries(session: Session, versions: Sequence[Dataset]) -> list[ShreddedQueryView]:
    numbers = {required(version.id): version.version for version in versions}
    rows = session.exec(
        select(Query, func.count(func.distinct(col(Grant.user_id))))
        .outerjoin(Release, col(Release.query_id) == col(Query.id))
        .outerjoin(Grant, col(Grant.release_id) == col(Release.id))
        .where(col(Query.dataset_id).in_(numbers))
        .group_by(*Query.__table__.c)  # type: ignore[attr-defined]  # the table of the class
        .order_by(col(Query.id))
    ).all()
    return [
        ShreddedQueryView(
            query.readable,
            kind_of(query).is_stream,
            numbers[query.dataset_id],
            query.status,
            int(holders),
        )
        for query, holders in rows
    ]


def _rotated(session: Session) -> RotationView | None:
    """Return the newest leaf of a rotation; leaves about keys are few."""
    leaves = session.exec(select(Leaf).where(col(Leaf.kind) == "key").order_by(col(Leaf.id).desc()))
    for leaf in leaves:
        fields = json.loads(leaf.bytes)
        if "rotated" in fields:
            return RotationView(leaf.at, fields["actor"], fields["rotated"])
    return None
