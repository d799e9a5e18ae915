"""Find what an interrupted registration of the same spec charged already.

Registering it again finishes it, and a preview shows it as registered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import bindparam, or_
from sqlalchemy import select as core_select
from sqlmodel import Session, col, select

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.specs.moments import Regression
from penstock.persistence.database import Database
from penstock.persistence.locks import hold_dataset
from penstock.persistence.row_numbers import required
from penstock.persistence.statements.glances import PreparedSelect
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.allowances.own_names import (
    RETIRED,
    all_answering,
    require_name_in_sight_free,
    require_no_mark,
    require_no_twin,
)
from penstock.services.datasets import seen_accounts
from penstock.services.datasets.declarations import Declared, as_declared
from penstock.services.datasets.seen_accounts import FLAG, SeenDataset
from penstock.services.ledger.charges import accounts_of, name_taken, registered_already
from penstock.services.queries.exact_answers import Plannable
from penstock.services.queries.recorded_statement import is_keys_text, spec_text
from penstock.services.repository.datasets import no_dataset
from penstock.services.repository.queries import in_sight
from penstock.spec_fields import folded

_QUERY, _DATASET = metadata.tables["query"], metadata.tables["dataset"]
_NEW = _DATASET.alias()

# Built once, as in ``repository``.
_LEFT = (
    select(Dataset, Query)
    .join(Query, col(Query.dataset_id) == col(Dataset.id))
    .where(
        col(Query.folded) == bindparam("query"),
        col(Query.status) == "pending",
        col(Dataset.folded) == bindparam("dataset"),
    )
)
_ANY_LEFT = (
    core_select(_QUERY.c.id)
    .join(_OF := _DATASET.alias(), _OF.c.id == _QUERY.c.dataset_id)
    .where(
        _QUERY.c.folded == bindparam("query"),
        _QUERY.c.status == "pending",
        _OF.c.folded == bindparam("dataset"),
    )
)
_NEWEST = (
    select(Dataset, _ANY_LEFT.exists())
    .where(col(Dataset.folded) == bindparam("dataset"), col(Dataset.withdrawn_at).is_(None))
    .order_by(col(Dataset.version).desc())
    .limit(1)
)
_NAMED = select(Query).where(col(Query.folded) == bindparam("folded"))
_SAME_STATISTIC = select(Query).where(col(Query.canonical_hash) == bindparam("canonical_hash"))
_EITHER = (
    core_select(_QUERY.c.id)
    .where(
        or_(
            _QUERY.c.folded == bindparam("folded"),
            _QUERY.c.canonical_hash == bindparam("canonical_hash"),
        )
    )
    .limit(1)
)
"""A column alone, which takes a third of the time: there is nearly always none."""

_ALLOWANCE = metadata.tables["allowance"]
_OWN = core_select(_ALLOWANCE.c.id).where(_ALLOWANCE.c.dataset_id == bindparam("dataset_id"))
"""Allowances, under which analysts may have registered; names and hashes are then their tier's."""

_LOCKED = Prepared(
    seen_accounts.statement(
        _DATASET.c.id == bindparam("dataset_id"), or_(_EITHER.exists(), _OWN.exists())
    )
)
_SEEN = PreparedSelect(
    seen_accounts.statement(
        _DATASET.c.id
        == core_select(_NEW.c.id)
        .where(_NEW.c.folded == bindparam("dataset"), _NEW.c.withdrawn_at.is_(None))
        .order_by(_NEW.c.version.desc())
        .limit(1)
        .scalar_subquery(),
        _ANY_LEFT.exists(),
    )
)


def seen_dataset(database: Database, request: Plannable) -> SeenDataset:
    """Return the dataset as ``charged_dataset`` does, and its tiers' accounts.

    One statement reads both, unless they depend on more: then a transaction does.
    """
    names = {"query": folded(request.name), "dataset": folded(request.dataset)}
    glances = database.glances(_SEEN, **names)
    if not glances.rows:
        raise no_dataset(request.dataset)
    rows, is_left = _without_flag([dict(row) for row in glances.rows])
    known = None if is_left else seen_accounts.seen(glances, rows)
    if known is not None:
        return known
    with database.read() as session:
        dataset = charged_dataset(session, request)
        return SeenDataset(dataset, accounts_of(session, dataset))


def _without_flag(rows: Sequence[dict[str, Any]]) -> tuple[Sequence[dict[str, Any]], bool]:
    """Return the rows without their flag, and whether it is set."""
    flags = [row.pop(FLAG) for row in rows]
    return rows, bool(flags[0])


class Named(Protocol):
    """Represent a request that names a query and its dataset."""

    @property
    def name(self) -> str:
        """Return the query's name."""

    @property
    def dataset(self) -> str:
        """Return the dataset's name."""


def charged_dataset(session: Session, request: Named) -> Dataset:
    """Return the newest version of the dataset, or the one that was charged already.

    An interrupted registration charged it, with the declaration of that time.
    """
    names = {"query": folded(request.name), "dataset": folded(request.dataset)}
    newest = session.exec(_NEWEST, params=names).first()
    if newest is None:
        raise no_dataset(request.dataset)
    dataset, is_left = newest
    left = session.exec(_LEFT, params=names).first() if is_left else None
    return dataset if left is None else as_declared(session, *left)


@dataclass(frozen=True)
class Locked:
    """Hold what a registration sees under the lock on its dataset.

    ``declared`` is what may have changed of the dataset, or None if its row is gone.  ``same`` says
    that it and all accounts are as they were seen before, and ``may_be_left`` that the request's
    name or statistic is perhaps registered already, for ``pending`` to find; so it may be if
    analysts ever had an allowance in the dataset.
    """

    declared: Declared | None
    same: bool
    may_be_left: bool


def locked(
    session: Session, seen: SeenDataset, request: Plannable, prepared: PreparedQuery
) -> Locked:
    """Lock a dataset, and look whether it changed.  Raises ``IntegrityViolation``."""
    key = required(seen.dataset.id)
    hold_dataset(session, key)
    names = {"folded": folded(request.name), "canonical_hash": prepared.canonical_hash}
    stored = _LOCKED.every(session.connection(), {"dataset_id": key, **names})
    if not stored:
        return Locked(None, same=False, may_be_left=True)
    rows, taken = _without_flag(stored)
    # What changed is authenticated before anything is decided by it.
    same = seen.is_same(session, rows)
    declared = seen.declared if same else seen_accounts.declared(session, rows[0])
    return Locked(declared, same=same, may_be_left=taken)


def pending_or_free(
    session: Session,
    dataset: Dataset,
    request: Plannable,
    prepared: PreparedQuery,
    lowest: Tier,
) -> Query | None:
    """Return what ``pending`` does for those who see all, also of queries of analysts.

    ``lowest`` is the least trusted tier that would see the query: analysts of it, and of tiers
    below, may have registered its name or its statistic, at their tier.
    """
    left = pending(session, dataset, request, prepared)
    if left is None:
        named = all_answering(session, request.name, None)
        left = next((row for row in named if _is_left(row, dataset, request, prepared)), None)
        if named and left is None:
            raise name_taken(request.name)
    if left is None:
        require_no_twin(session, prepared.canonical_hash, lowest)
    return left


def own_pending(
    session: Session,
    dataset: Dataset,
    request: Plannable,
    prepared: PreparedQuery,
    tier: Tier,
    by: str,
) -> Query | None:
    """Return what an interrupted registration by an analyst of ``tier`` left, or ``None``.

    Queries that the tier does not see are in nobody's way.  Raises ``NameTaken``, ``Conflict`` and
    ``InvalidInput``.
    """
    row = session.exec(_NAMED, params={"folded": folded(request.name)}).first()
    if row is not None and row.by == by and _is_left(row, dataset, request, prepared):
        return row
    require_no_mark(request.name, tier)
    require_name_in_sight_free(session, request.name, tier)
    require_no_twin(session, prepared.canonical_hash, tier)
    return None


def _is_left(row: Query, dataset: Dataset, request: Plannable, prepared: PreparedQuery) -> bool:
    same = row.dataset_id == dataset.id and row.spec == spec_text(request, prepared)
    size = row.dimension == prepared.dimension
    return row.status == "pending" and same and size and is_keys_text(row.keys, prepared)


def pending(
    session: Session,
    dataset: Dataset,
    request: Plannable,
    prepared: PreparedQuery,
    limit: Tier | None = None,
) -> Query | None:
    """Return the query that an interrupted registration of the same spec left, or ``None``.

    Queries that ``limit`` may not see count as missing.  Raises ``NameTaken`` and ``Conflict`` as
    registering does.
    """
    names = {"folded": folded(request.name), "canonical_hash": prepared.canonical_hash}
    # Not for others, to whom hidden and missing ones must not differ by a statement.
    if limit is None and session.connection().execute(_EITHER, names).first() is None:
        return None
    sight = [] if limit is None else [in_sight(limit)]
    taken = session.exec(_NAMED.where(*sight), params=names).first()
    if taken is not None:
        if _is_left(taken, dataset, request, prepared):
            return taken
        raise name_taken(taken.name)
    if prepared.canonical_hash is not None:
        twin = session.exec(_SAME_STATISTIC.where(*sight), params=names).first()
        if twin is not None:
            regressed = isinstance(getattr(request, "aggregate", None), Regression)
            how = " Read its releases with outcome and predictors." if regressed else ""
            raise registered_already(twin.name, retired=twin.status == RETIRED, more=how)
    return None
