"""Find datasets that may hold the same people, by what they declare: fingerprints are of bytes.

A file with one more newline, or the same table as CSV and as Parquet, is another file with separate
budgets.  The admin who registers it is warned; only the admin knows whether the people are the
same.
"""

from sqlmodel import Session, col, select

from penstock.connectors.specs.models import UnitColumn
from penstock.persistence.tables.datasets import Dataset
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.ledger.version_chains import of_same_people
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.queries import DatasetRequest
from penstock.spec_fields import folded

ALIKE = 0.75
"""The share of the columns of the smaller dataset that the other one must have as well."""


def notices(session: Session, dataset: Dataset) -> list[str]:
    """List other datasets that declare the same columns, the first registered first.

    It compares names only, since types and categories may be declared differently for the same
    data.
    """
    return [
        f"Dataset {other.name!r} declares {shared}. If it holds the same people, their losses in"
        f" both add up, and no budget counts this until it is declared: declare that"
        f" {dataset.name!r} holds the same people as {other.name!r} (`penstock dataset same-people"
        f" {dataset.name} {other.name}`, or same_people_as); then the budgets of both are added up."
        for other, shared in _undeclared(session, dataset)
        if shared
    ]


def notices_of(server: Server, principal: Principal, name: str) -> list[str]:
    """Return the notices of a dataset by its name.  Raises ``Forbidden`` and ``NotFound``."""
    principal.require("admin")
    with server.database.read() as session:
        return notices(session, dataset_by_name(session, name))


def undeclared_datasets(server: Server, principal: Principal, name: str) -> list[tuple[str, bool]]:
    """Return the other datasets that are not declared to hold the same people.

    Each comes with True if it declares the same columns; those that do come first. Raises
    ``Forbidden`` and ``NotFound``.
    """
    principal.require("admin")
    with server.database.read() as session:
        look_alikes = _undeclared(session, dataset_by_name(session, name))
    ordered = sorted(look_alikes, key=lambda pair: not pair[1])
    return [(other.name, bool(shared)) for other, shared in ordered]


def _undeclared(session: Session, dataset: Dataset) -> list[tuple[Dataset, str]]:
    own = DatasetRequest.model_validate_json(dataset.spec)
    declared = {person.folded for person in of_same_people(session, dataset)}
    others = session.exec(
        select(Dataset)
        .where(col(Dataset.withdrawn_at).is_(None), col(Dataset.folded) != dataset.folded)
        .order_by(col(Dataset.id))
    ).all()
    newest = {other.folded: other for other in others}
    return [
        (other, alike(own, DatasetRequest.model_validate_json(other.spec)))
        for other in newest.values()
        if other.folded not in declared
    ]


def alike(dataset_request: DatasetRequest, other: DatasetRequest) -> str:
    """Describe the columns of ``other`` that a declaration of perhaps the same table shares.

    It is empty if they are too few, or if the privacy units are identified differently.
    """
    first, second = ({folded(name) for name in spec.columns} for spec in (dataset_request, other))
    if not first or not second or _unit(dataset_request) != _unit(other):
        return ""
    if first == second:
        return "the same columns"
    shared = len(first & second)
    if shared < ALIKE * min(len(first), len(second)):
        return ""
    return f"{shared} of the {len(first)} columns of this one, and {len(second)} in all"


def _unit(spec: DatasetRequest) -> str | None:
    unit = spec.privacy_unit
    return folded(unit.column) if isinstance(unit, UnitColumn) else None
