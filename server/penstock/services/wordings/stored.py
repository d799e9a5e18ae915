"""Read the stored texts of many datasets or queries, with one statement for each kind."""

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset, TierBudget
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, Wording
from penstock.services.schemas.wordings.wordings import StatisticWordingView, WordingView

_LATER = aliased(Wording)
_OF_QUERIES = select(Wording).where(
    col(Wording.query_id).is_not(None),
    ~select(_LATER.id)
    .where(_LATER.query_id == col(Wording.query_id), _LATER.version > col(Wording.version))
    .exists(),
)
_OF_DATASETS = (
    select(Dataset, Wording)
    .join(Wording, col(Wording.dataset_id) == col(Dataset.id))
    .where(
        col(Dataset.withdrawn_at).is_(None),
        ~select(_LATER.id)
        .where(_LATER.dataset_id == col(Wording.dataset_id), _LATER.version > col(Wording.version))
        .exists(),
    )
)


def view_of(row: Wording) -> WordingView:
    """Return a row's texts."""
    return WordingView(
        title=row.title,
        description=row.description,
        unit=row.measured_in,
        tags=json.loads(row.tags),
        labels=json.loads(row.labels),
        owners=json.loads(row.owners),
    )


def columns_of(wording: WordingView) -> dict[str, Any]:
    """Return the columns of a row with these texts."""
    return {
        "title": wording.title,
        "description": wording.description,
        "measured_in": wording.unit,
        "tags": json.dumps(wording.tags, ensure_ascii=False),
        "labels": json.dumps(wording.labels, ensure_ascii=False, sort_keys=True),
        "owners": json.dumps(wording.owners, ensure_ascii=False),
    }


def of_queries(session: Session, keys: Collection[int] | None = None) -> dict[int, WordingView]:
    """Return the texts of queries and streams by their numbers, of all without ``keys``.

    Those without a text are left out.  It does not ask who may see them: the caller does.
    """
    statement = _OF_QUERIES
    if keys is not None:
        statement = statement.where(col(Wording.query_id).in_(keys))
    return {required(row.query_id): view_of(row) for row in session.exec(statement).all()}


def of_query(session: Session, query: Query) -> WordingView:
    """Return the texts of a query or stream; empty ones if it has none."""
    key = required(query.id)
    return of_queries(session, [key]).get(key, WordingView())


def shown_of(
    session: Session, queries: Collection[Query], limit: Tier | None
) -> dict[int, StatisticWordingView]:
    """Return the texts of each query or stream by its number, with the labels that are shown.

    Those are the dataset's where it has none of its own: all of one or all of the other, since a
    code may mean something else in another column.  It does not ask who may see the statistics: the
    caller does.  A reader at ``limit`` who does not see a dataset is shown none of its labels.
    """
    own = of_queries(session, [required(query.id) for query in queries])
    datasets = {
        required(query.id): session.get_one(Dataset, query.dataset_id).folded
        for query in queries
        if not own.get(required(query.id), WordingView()).labels
    }
    seen = _in_sight(session, set(datasets.values()), limit)
    theirs = of_datasets(session, seen) if seen else {}
    return {
        number: StatisticWordingView(
            **vars(texts),
            shown_labels=texts.labels or theirs.get(datasets.get(number, ""), WordingView()).labels,
        )
        for query in queries
        for number in (required(query.id),)
        for texts in (own.get(number, WordingView()),)
    }


def shown_to_all(session: Session, dataset: Dataset, own: WordingView) -> StatisticWordingView:
    """Return the ``own`` texts of a statistic, with the labels for who sees every tier."""
    labels = own.labels or of_dataset(session, dataset).labels
    return StatisticWordingView(**vars(own), shown_labels=labels)


def _in_sight(session: Session, names: Collection[str], limit: Tier | None) -> Collection[str]:
    """Return which datasets a reader at ``limit`` sees (``None``: all), by their folded names."""
    if limit is None or not names:
        return names
    statement = (
        select(Dataset.folded)
        .join(TierBudget, col(TierBudget.dataset_id) == col(Dataset.id))
        .where(
            col(Dataset.folded).in_(names),
            col(Dataset.withdrawn_at).is_(None),
            col(TierBudget.tier_id) == limit.id,
        )
    )
    return set(session.exec(statement).all())


def shown_of_query(session: Session, query: Query, limit: Tier | None) -> StatisticWordingView:
    """Return the texts of a query or stream as ``shown_of`` does."""
    return shown_of(session, [query], limit)[required(query.id)]


def of_datasets(session: Session, names: Collection[str] | None = None) -> dict[str, WordingView]:
    """Return the texts of datasets by their folded names, of all without ``names``.

    Those without a text are left out.  It does not ask who may see them: the caller does.
    """
    statement = _OF_DATASETS
    if names is not None:
        statement = statement.where(col(Dataset.folded).in_(names))
    return {dataset.folded: view_of(row) for dataset, row in session.exec(statement).all()}


def of_dataset(session: Session, dataset: Dataset) -> WordingView:
    """Return the texts of a dataset, whichever version it is; empty ones if it has none."""
    return of_datasets(session, [dataset.folded]).get(dataset.folded, WordingView())
