"""Read a query that was sent in SQL as a spec of the dataset that it names.

The dataset is looked up as for a spec, before any of its columns: one that the caller may not see
is one that does not exist.
"""

from dataclasses import dataclass

from sqlmodel import Session

from penstock.connectors.planning.refusals import checked, refusal
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.places import POINTER
from penstock.connectors.sql.reading import Reading, reading, table_of
from penstock.errors import InvalidInput, NotFound
from penstock.persistence.tables.datasets import Dataset
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below, visible_dataset
from penstock.services.datasets.population import spec_of
from penstock.services.queries.pending import charged_dataset
from penstock.services.schemas.queries import ComputedQueryRequest, SqlRequest
from penstock.services.schemas.wordings.wordings import texts_of


@dataclass(frozen=True)
class ResolvedStatement:
    """Hold the spec that a statement is read as, and what it counts otherwise than SQL."""

    request: ComputedQueryRequest
    notes: list[str]


@dataclass(frozen=True)
class _Names:
    name: str
    dataset: str


def resolved(server: Server, principal: Principal, request: SqlRequest) -> ComputedQueryRequest:
    """Return the spec that a statement is read as; everything else is as it was sent.

    Raises ``InvalidInput`` with the pointer ``/sql`` for what no spec says, and ``NotFound`` for
    a dataset that the caller may not see.
    """
    return resolved_statement(server, principal, request).request


def resolved_statement(
    server: Server, principal: Principal, request: SqlRequest
) -> ResolvedStatement:
    """Return the spec that a statement is read as, with notes.  Raises as ``resolved`` does."""
    principal.require("analyst", "admin")
    spec, understood = _understood(server, principal, request.name, request.sql)
    terms = {**request.model_dump(exclude_unset=True, exclude={"sql"}), **texts_of(request)}
    computed: ComputedQueryRequest = checked(ComputedQueryRequest, {**terms, **understood.fields})
    understood.require_meaning(spec, computed)
    return ResolvedStatement(computed, list(understood.notes))


def with_mistakes(
    server: Server, principal: Principal, text: str, error: InvalidInput
) -> InvalidInput:
    """Return a refusal of what was sent beside a statement, with what is wrong in the statement.

    ``error`` itself says nothing of the statement, unless the statement was not read at all.
    """
    principal.require("analyst", "admin")
    if any(place == POINTER for place, _ in error.errors):
        return error
    try:
        _understood(server, principal, "", text)
    except InvalidInput as own:
        return refusal([*error.errors, *own.errors])
    except NotFound:
        return error
    return error


def _understood(
    server: Server, principal: Principal, name: str, text: str
) -> tuple[DatasetSpec, Reading]:
    """Return a dataset with what a statement says of it, for a query of this name."""
    statement = parsed(text)
    with server.database.read() as session:
        dataset = _dataset(session, principal, _Names(name, table_of(statement)))
    spec = spec_of(dataset)
    return spec, reading(statement, spec)


def _dataset(session: Session, principal: Principal, names: _Names) -> Dataset:
    """Return the dataset that a registration or a preview of this name would be charged to."""
    dataset = visible_dataset(session, principal, names.dataset)
    return dataset if visible_below(session, principal) else charged_dataset(session, names)
