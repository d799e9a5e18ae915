"""Find the charges to accounts, and the queries that they are for."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam
from sqlalchemy import select as core_select
from sqlmodel import Session, col

from penstock.persistence.row_authentication import authentic_row, signed_columns
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.repository.queries import in_sight
from penstock.spec_fields import without_number

_CHARGE = metadata.tables["charge"]
_CHARGES: Select[Any] = (
    core_select(col(Query.name), *signed_columns(_CHARGE))
    .join(_CHARGE, _CHARGE.c.query_id == col(Query.id))
    .where(
        _CHARGE.c.dataset_id == bindparam("dataset_id"),
        _CHARGE.c.tier_id == bindparam("tier_id"),
    )
    .order_by(_CHARGE.c.seq)
)


class Paid(NamedTuple):
    """Hold what a tier's account paid for a query by one charge, in 2^-40; by rows' numbers."""

    dataset: int
    tier: int
    query: int
    loss: int


class Charged(NamedTuple):
    """Hold a charge to an account: its query, what it added and the total then, in 2^-40."""

    query: str
    loss: int
    total: int
    at: datetime


def charges_in_sight(
    session: Session, dataset_id: int, tier: Tier, limit: Tier | None
) -> Iterator[Charged]:
    """Yield the charges to a tier's account, the oldest first.

    With a ``limit`` they are for the queries that holders of this tier see.  An account may also
    have paid for others: a tier that is inserted above a deleted one is charged for what that saw.
    Raises ``IntegrityViolation`` for an altered charge.
    """
    statement = _CHARGES if limit is None else _CHARGES.where(in_sight(limit))
    account = {"dataset_id": dataset_id, "tier_id": required(tier.id)}
    for name, *values in session.execute(statement, account):
        row = authentic_row(session, "charge", values)
        if row is not None:
            yield Charged(without_number(name), row["loss"], row["loss_total"], row["at"])


def charges_of(session: Session, datasets: Collection[int]) -> Iterator[Paid]:
    """Yield the charges to all accounts of datasets.

    Raises ``IntegrityViolation`` for an altered charge.
    """
    statement = core_select(*signed_columns(_CHARGE)).where(_CHARGE.c.dataset_id.in_(datasets))
    for values in session.execute(statement):
        row = authentic_row(session, "charge", values)
        if row is not None:
            yield Paid(row["dataset_id"], row["tier_id"], row["query_id"], row["loss"])
