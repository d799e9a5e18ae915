"""Find what an interrupted registration of the same spec charged already.

Registering it again finishes it, and a preview shows it as registered.
"""

from sqlmodel import Session, col, select

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.errors import Conflict
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.datasets.declarations import as_declared
from penstock.services.ledger.charges import name_taken
from penstock.services.queries.exact_answers import Plannable
from penstock.services.queries.recorded_statement import keys_text, spec_text
from penstock.services.repository import dataset_by_name, in_sight
from penstock.spec_fields import folded


def charged_dataset(session: Session, request: Plannable) -> Dataset:
    """Return the newest version of the dataset, or the one that was charged already.

    An interrupted registration charged it, with the declaration of that time.
    """
    newest = dataset_by_name(session, request.dataset)
    left = session.exec(
        select(Dataset, Query)
        .join(Query, col(Query.dataset_id) == col(Dataset.id))
        .where(
            col(Query.folded) == folded(request.name),
            col(Query.status) == "pending",
            col(Dataset.folded) == newest.folded,
        )
    ).first()
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
    known = select(Query) if limit is None else select(Query).where(in_sight(limit))
    taken = session.exec(known.where(col(Query.folded) == folded(request.name))).first()
    if taken is not None:
        same = taken.dataset_id == dataset.id and taken.spec == spec_text(request, prepared)
        size = taken.dimension == prepared.dimension
        if taken.status == "pending" and same and size and taken.keys == keys_text(prepared):
            return taken
        raise name_taken(taken.name)
    if prepared.canonical_hash is not None:
        twin = session.exec(
            known.where(col(Query.canonical_hash) == prepared.canonical_hash)
        ).first()
        if twin is not None:
            raise Conflict(
                f"This statistic is registered already, as query {twin.name!r};"
                " use that one: drawing it twice would cost its budget twice.",
                query=twin.name,
            )
    return None
