"""Group datasets that have the same people.

Each dataset is in one group, or in none: ``Dataset.people``, which all of its versions have, is the
key of one of the group.  Groups grow by being joined, and only lose datasets that are withdrawn, in
which nothing was ever charged.
"""

import json
from collections.abc import Sequence
from typing import Any

from sqlmodel import Session

from penstock.connectors.specs.models import UnitColumn, UnitRows
from penstock.errors import Conflict, InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.logged_datasets import record_same_people
from penstock.services.ledger.version_chains import of_same_people
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.queries import DatasetRequest

POINTER = "/same_people_as"


def others_of(session: Session, dataset: Dataset) -> list[Dataset]:
    """Return all versions of the other datasets that hold the same people, the oldest first."""
    if dataset.people is None:
        return []
    return [
        person for person in of_same_people(session, dataset) if person.folded != dataset.folded
    ]


def of_request(session: Session, request: DatasetRequest) -> Dataset | None:
    """Return the dataset whose people a new dataset is declared to hold, if any.

    Call it in a transaction that writes alone.  Raises ``InvalidInput`` if there is none, and
    ``Conflict`` if losses in both cannot be added up.
    """
    if request.same_people_as is None:
        return None
    other = named(session, request.same_people_as)
    require_comparable(request, of_same_people(session, other))
    return other


def join(
    session: Session, server: Server, principal: Principal, dataset: Dataset, other: Dataset
) -> None:
    """Join the groups of two datasets, and record it in the log."""
    rows = [*of_same_people(session, dataset), *of_same_people(session, other)]
    require_comparable(spec_of(dataset), rows)
    people = min(member.people or required(member.id) for member in rows)
    for row in rows:
        row.people = people
        session.add(row)
    session.flush()
    record_same_people(session, principal, dataset, other, server.clock())


def require_comparable(spec: DatasetRequest, others: Sequence[Dataset]) -> None:
    """Raise ``Conflict`` if losses in a dataset and in others cannot be added up for one unit."""
    for other in others:
        theirs = spec_of(other)
        if spec.neighboring != theirs.neighboring:
            raise Conflict(
                f"The loss in {spec.name!r} is stated for neighboring data under"
                f" {spec.neighboring}, and in {other.name!r} under {theirs.neighboring}: the two"
                f" cannot be added up. Register the data of one of them again under the relation"
                f" of the other, and declare that dataset.",
            )
        if _unit(spec) != _unit(theirs):
            raise Conflict(
                f"The privacy unit of {spec.name!r} is {_unit(spec)}, and that of {other.name!r}"
                f" is {_unit(theirs)}: losses in both cannot be added up. Register the data of"
                f" one of them again with the privacy unit of the other, and declare that dataset.",
            )


def _unit(spec: DatasetRequest) -> str:
    """Return the privacy unit in words; a column may have another name in another file."""
    unit = spec.privacy_unit
    if isinstance(unit, UnitRows):
        return "a row"
    # For pushed vectors the unit is asserted, as is the meaning of a column that names it.
    return "somebody" if unit is None or isinstance(unit, UnitColumn) else "an event"


def named(session: Session, name: str) -> Dataset:
    """Return the dataset that is declared to hold the same people.  Raises ``InvalidInput``."""
    try:
        return dataset_by_name(session, name)
    except NotFound:
        raise InvalidInput(
            f"There is no dataset {name!r}; name a registered dataset, or leave this field out.",
            pointer=POINTER,
        ) from None


def spec_of(dataset: Dataset) -> DatasetRequest:
    """Return a dataset's present declaration."""
    return DatasetRequest.model_validate_json(dataset.spec)


def unit_of(dataset: Dataset) -> Any:
    """Return a dataset's privacy unit as JSON, which no correction changes after a charge."""
    return json.loads(dataset.spec).get("privacy_unit")
