"""Return a dataset's declaration, now and when a query of it was registered.

A declaration says how the file is read.  While nothing was charged all of it may be corrected.
Afterwards the privacy unit, the neighboring relation and delta are fixed, since all charges are
stated in terms of them; columns may still be corrected, and the same accounts continue, so a
correction returns no budget.  A query keeps the declaration that it was registered under.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.errors import Conflict, IntegrityViolation
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset, FormerDeclaration
from penstock.persistence.tables.ledger import Charge, SpentFloor
from penstock.persistence.tables.queries import Query
from penstock.persistence.tables.streams import FedElement

FIRST = 1


def number_of(dataset: Dataset) -> int:
    """Return the number of a dataset version's declaration, counted from 1."""
    return dataset.declaration or FIRST


def digest(spec: str) -> str:
    """Return the SHA-256 of a declaration as it is stored, which its leaf holds."""
    return hashlib.sha256(spec.encode()).hexdigest()


def as_declared(session: Session, dataset: Dataset, query: Query) -> Dataset:
    """Return the dataset of a query as it was declared when the query was registered.

    It is a copy outside of the session.  Raises ``IntegrityViolation`` if the declaration is lost.
    """
    if query.declaration == dataset.declaration:
        return dataset
    former = session.exec(
        select(FormerDeclaration).where(
            col(FormerDeclaration.dataset_id) == dataset.id,
            col(FormerDeclaration.number) == (query.declaration or FIRST),
        )
    ).first()
    if former is None:
        raise IntegrityViolation(
            f"The declaration of dataset {dataset.name!r} when {query.readable!r} was registered"
            " is missing, and nothing is read with another declaration. Restore the database from a"
            " backup."
        )
    own = {"spec": former.spec, "declaration": query.declaration}
    return Dataset(**{**dataset.model_dump(), **own})


@dataclass(frozen=True)
class Declared:
    """Hold the columns of an authenticated row of a dataset that may have changed."""

    withdrawn_at: datetime | None
    declaration: int | None
    wrapped_kek: bytes


def require_as_declared(now: Dataset | Declared | None, seen: Dataset) -> None:
    """Raise ``Conflict`` if a dataset changed since it was ``seen``, so that it is not charged.

    That is if it was withdrawn, shredded or corrected.
    """
    if now is None or now.withdrawn_at is not None:
        raise Conflict(f"Dataset {seen.name!r} was withdrawn in the meantime; nothing was charged.")
    if seen.wrapped_kek and not now.wrapped_kek:
        raise Conflict(f"Dataset {seen.name!r} was shredded in the meantime; nothing was charged.")
    if now.declaration != seen.declaration:
        raise Conflict(
            f"The declaration of dataset {seen.name!r} was corrected in the meantime; repeat the"
            " request."
        )


def charged(session: Session, dataset: Dataset) -> bool:
    """Return True if a query or charge ever was in a version of a dataset, or it fed a stream.

    Charges that a restore lost count as well.
    """
    key = required(dataset.id)
    # Rows and not columns: rows are authenticated.
    return any(
        session.exec(statement.limit(1)).first() is not None
        for statement in (
            select(Query).where(col(Query.dataset_id) == key),
            select(Charge).where(col(Charge.dataset_id) == key),
            select(SpentFloor).where(col(SpentFloor.dataset_id) == key),
            select(FedElement).where(col(FedElement.dataset_id) == key),
        )
    )
