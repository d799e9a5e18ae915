"""Find what an interrupted registration of the same spec charged already.

Registering it again finishes it, and a preview shows it as registered.
"""

from sqlalchemy import bindparam, or_
from sqlalchemy import select as core_select
from sqlmodel import Session, col, select

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.errors import Conflict
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.datasets.declarations import as_declared
from penstock.services.ledger.charges import name_taken
from penstock.services.queries.exact_answers import Plannable
from penstock.services.queries.recorded_statement import keys_text, spec_text
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.queries import in_sight
from penstock.spec_fields import folded

_QUERY = metadata.tables["query"]

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


def charged_dataset(session: Session, request: Plannable) -> Dataset:
    """Return the newest version of the dataset, or the one that was charged already.

    An interrupted registration charged it, with the declaration of that time.
    """
    newest = dataset_by_name(session, request.dataset)
    names = {"query": folded(request.name), "dataset": newest.folded}
    left = session.exec(_LEFT, params=names).first()
    return newest if left is None else as_declared(session, *left)


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
        same = taken.dataset_id == dataset.id and taken.spec == spec_text(request, prepared)
        size = taken.dimension == prepared.dimension
        if taken.status == "pending" and same and size and taken.keys == keys_text(prepared):
            return taken
        raise name_taken(taken.name)
    if prepared.canonical_hash is not None:
        twin = session.exec(_SAME_STATISTIC.where(*sight), params=names).first()
        if twin is not None:
            raise Conflict(
                f"This statistic is registered already, as query {twin.name!r};"
                " use that one: drawing it twice would cost its budget twice.",
                query=twin.name,
            )
    return None
