"""List the queries that somebody registered: the history of their own questions."""

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import shown_name
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below
from penstock.services.repository.queries import in_sight

MOST = 20


@dataclass(frozen=True)
class OwnQuestionView:
    """Hold a query that the caller registered."""

    name: str
    dataset: str
    status: str
    registered_at: datetime


def registered_by(server: Server, principal: Principal, most: int = MOST) -> list[OwnQuestionView]:
    """Return the newest queries over rows that the caller registered and still sees."""
    with server.database.read() as session:
        limit = visible_below(session, principal)
        if limit is None and "admin" not in principal.roles:
            return []
        rows = session.exec(
            select(Query, Dataset)
            .join(Dataset, col(Query.dataset_id) == col(Dataset.id))
            .where(
                col(Query.by) == principal.name,
                col(Query.sql).is_not(None),
                *([] if limit is None else [in_sight(limit)]),
            )
            .order_by(col(Query.id).desc())
            .limit(most)
        ).all()
        return [
            OwnQuestionView(
                shown_name(session, query, limit), dataset.name, query.status, query.created_at
            )
            for query, dataset in rows
        ]
