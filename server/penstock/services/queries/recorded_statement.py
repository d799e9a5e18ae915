"""Record a spec in a query's row, and return the statement that is run for the row.

The sensitivity and the levels that were charged belong to the recorded text.  So this text is run
whenever data are read for the query: when it is registered, when an interrupted registration is
finished, and when a level is raised, also if the server was upgraded in between and would write
other SQL now.  If this version cannot run the text, or reads the spec otherwise, nothing is read.
"""

import json
from fractions import Fraction

from penstock.connectors.planning.domain import Domain, MarginalKeys, WorkloadKeys
from penstock.connectors.planning.prepare import PreparedQuery, recorded
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.statement import Statement, sha256_of
from penstock.errors import Conflict, IntegrityViolation
from penstock.persistence.tables.queries import Query
from penstock.services.noise.kinds.choice import requested
from penstock.services.noise.long_vectors import sizes
from penstock.services.repository.queries import statistic_of
from penstock.services.schemas.queries import Terms
from penstock.spec_fields import without_number


def spec_text(request: Terms, prepared: PreparedQuery) -> str:
    """Return the spec as it is stored, without values and keys (JSON).

    Its name is one that a request may have.
    """
    kind, _ = requested(request, prepared)
    stored = kind.stored_spec(request, prepared)
    return json.dumps({**stored, "name": without_number(stored["name"])}, sort_keys=True)


def keys_text(prepared: PreparedQuery) -> str | None:
    """Return the keys as they are stored (JSON); of many keys only the labels they are made of."""
    keys = prepared.keys
    if isinstance(keys, MarginalKeys | WorkloadKeys) or (
        isinstance(keys, Domain) and len(keys) > sizes.MOST_LISTED and len(keys.labels) > 1
    ):
        return json.dumps(keys.stored())
    return None if keys is None else json.dumps(list(keys))


def is_keys_text(stored: str | None, prepared: PreparedQuery) -> bool:
    """Return True if these are the stored keys, in this form or in that of earlier versions."""
    if stored == keys_text(prepared):
        return True
    keys = prepared.keys
    if stored is None or not isinstance(keys, Domain) or not stored.startswith("["):
        return False
    return stored == json.dumps(list(keys))


def statement_of(
    dataset: DatasetSpec, query: Query, prepared: PreparedQuery, sources: Sources
) -> Statement:
    """Return the statement that a row records, whose rows are decoded by the plan of ``prepared``.

    ``prepared`` is what this version makes of the stored spec, on ``dataset``.  Raises
    ``IntegrityViolation`` for a text that does not match its hash, and ``Conflict`` if this version
    makes another statistic of the spec, or cannot run the text.
    """
    statement = prepared.statement
    if statement is None or query.sql is None:
        raise RuntimeError("only a query that the server computes has a statement")
    if sha256_of(query.sql) != query.sql_hash:
        raise IntegrityViolation(
            f"The SQL of query {query.readable!r} does not match its hash, so it is not run."
            " Restore the database from a backup."
        )
    if not _is_same(query, prepared):
        statement = None
    elif query.sql != statement.text:
        statement = recorded(dataset, statement, query.sql, sources)
    if statement is None:
        raise Conflict(
            f"This version of the server cannot run the SQL that query {query.readable!r} was"
            " registered and charged with, so the data are not read. Use the version of the server"
            " that registered the query; what was released already stays available.",
            query=query.readable,
        )
    return statement


def _is_same(query: Query, prepared: PreparedQuery) -> bool:
    """Return True if a row is of the statistic that was prepared, with the same sensitivity."""
    moved = prepared.sensitivity
    return (
        statistic_of(query) in {prepared.canonical_hash, prepared.spelled_hash}
        and query.dimension == prepared.dimension
        and is_keys_text(query.keys, prepared)
        and Fraction(query.sensitivity_l1) == moved.l1
        and Fraction(query.sensitivity_l2_squared) == moved.l2_squared
        and Fraction(query.sensitivity_linf) == moved.linf
    )
