"""Make the row of a query that is about to be charged, and see that there is room for its draws."""

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.ledger.charges import row_of
from penstock.services.ledger.quotes import Quote
from penstock.services.noise.kinds.choice import requested
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors import sizes
from penstock.services.queries.exact_answers import Plannable
from penstock.services.queries.recorded_statement import keys_text, spec_text
from penstock.services.releases.long_releases import MANIFEST


def room(server: Server, request: Plannable, prepared: PreparedQuery) -> int:
    """Return by how much a registration makes the database grow.

    There must be room for all that is drawn after the charge, so that it can be finished: raises
    ``NoRoom`` if there is none for its chunks.
    """
    vectors = len(request.levels or ()) + 1
    size = 8 * prepared.dimension * vectors
    kind, _ = requested(request, prepared)
    if kind is VectorKind and prepared.dimension > sizes.longest_row():
        server.chunks.require_room(size)
        return MANIFEST * vectors
    return size


def row(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    request: Plannable,
    prepared: PreparedQuery,
    quote: Quote,
    allowance_id: int | None = None,
) -> Query:
    """Return the row of a new query; ``allowance_id`` is the allowance that it is under."""
    # A new row's text is that of the object that ``answer`` runs.
    statement = prepared.statement
    return row_of(
        server,
        principal,
        dataset,
        request.name,
        request,
        quote,
        prepared.dimension,
        spec_text(request, prepared),
        canonical_hash=prepared.canonical_hash,
        sql=None if statement is None else statement.text,
        sql_hash=None if statement is None else statement.sha256,
        keys=keys_text(prepared),
        asserted_by=principal.name if statement is None else None,
        allowance_id=allowance_id,
    )
