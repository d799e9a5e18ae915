"""Store what a charged query draws first: its anchor, or all draws if levels are independent.

The row of the query is as it was charged unless its HMAC changed since, so it is not loaded before:
the statement that makes it active compares the HMAC, and returns the row to be authenticated.
"""

from collections.abc import Callable, Sequence
from functools import cache

from sqlalchemy import bindparam, insert, update
from sqlmodel import Session

from penstock.errors import Conflict
from penstock.persistence.database import WRITING
from penstock.persistence.locks import hold_query, lock_query
from penstock.persistence.protocol import Dialect
from penstock.persistence.row_authentication import (
    columns,
    require_authentic,
    signature,
    signed_columns,
)
from penstock.persistence.row_numbers import next_number, required
from penstock.persistence.row_numbers import take as take_numbers
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.noise.sealed_state import seal_state
from penstock.services.queries.exact_answers import states_with
from penstock.services.releases.releases import release_row
from penstock.services.releases.stored_hand_outs import fitting

_QUERY, _RELEASE = metadata.tables["query"], metadata.tables["release"]
_STORE = Prepared(
    insert(_RELEASE)
    .values({column.name: bindparam(column.name, type_=column.type) for column in _RELEASE.c})
    .inline()
)

Vectors = Sequence[tuple[int, Steps]]
"""Drawn vectors in lattice steps, each with its rung."""

Keep = Callable[[Session, Dataset, Query], None]
"""Stores what belongs to the draws, given the row of the query as it is after them."""


@cache
def _activate(dialect: str) -> Prepared:
    """Return the statement that makes a charged query active, and a number for its release."""
    return Prepared(
        update(_QUERY)
        .where(
            _QUERY.c.id == bindparam("query_id"),
            _QUERY.c.status == "pending",
            _QUERY.c.seq == -1,
            _QUERY.c.mac == bindparam("mac_before"),
        )
        .values(
            status="active",
            seq=bindparam("seq"),
            sealed_fingerprint=bindparam("sealed_fingerprint"),
            read_states=bindparam("read_states"),
            mac=bindparam("mac"),
        )
        .returning(next_number(dialect, "release").label("number"), *signed_columns(_QUERY))
    )


def store_anchor(
    session: Session,
    server: Server,
    dataset: Dataset,
    charged: Query,
    vectors: Vectors,
    keep: Keep | None,
    state: str | None,
) -> Query:
    """Store the first draws of a charged query, and return its row, which is active then.

    ``state`` is the engine's name of the state of the rows that they were drawn from.  All or none
    are stored.  Raises ``Conflict`` if another request did so meanwhile, and
    ``IntegrityViolation`` for a row that was altered.
    """
    query = charged
    hold_query(session, required(query.id))
    with fitting(query.name):
        number = _activated(session, dataset, query, len(vectors), keep, state)
        if number is None:
            # Others changed it, or it was signed again under another key.
            query = _locked_pending(session, charged)
            session.expunge(query)
            number = _activated(session, dataset, query, len(vectors), keep, state)
        for seq, (rung, steps) in enumerate(vectors):
            _store(session, server, dataset, query, required(number), seq, rung, steps)
            if seq + 1 < len(vectors):
                (number,) = take_numbers(session.connection(), "release", 1)
    return query


def _activated(
    session: Session,
    dataset: Dataset,
    query: Query,
    count: int,
    keep: Keep | None,
    state: str | None,
) -> int | None:
    """Make a query active that has ``count`` releases, and return a number for the first one.

    It is None, and nothing happened, if the row is not the one that is stored and pending.
    """
    before, query.status, query.seq = query.mac, "active", count - 1
    query.read_states = states_with(query, state)
    if keep is not None:
        keep(session, dataset, query)
    row = {name: getattr(query, name) for name in columns("query")}
    query.mac = signature(session, "query", row)
    session.flush()
    connection = session.connection()
    stored = _activate(connection.dialect.name).first(
        connection,
        {
            "query_id": query.id,
            "mac_before": before,
            "seq": query.seq,
            "sealed_fingerprint": query.sealed_fingerprint,
            "read_states": query.read_states,
            "mac": query.mac,
        },
    )
    if stored is None:
        return None
    number, signed, *values = stored.values()
    # All columns, since others than those of the statement may have been altered.
    require_authentic(session, "query", signed, values, query.name)
    return int(number)


def _locked_pending(session: Session, charged: Query) -> Query:
    query = lock_query(session, required(charged.id))
    if query is None or query.status != "pending" or query.seq != -1:
        raise Conflict(f"Query {charged.name!r} was registered by another request just now.")
    return query


def _store(
    session: Session,
    server: Server,
    dataset: Dataset,
    query: Query,
    number: int,
    seq: int,
    rung: int,
    steps: Steps,
) -> None:
    row = {"id": number, **release_row(server, query, rung, seq, None, None)}
    row["mac"] = signature(session, "release", row)
    connection, dialect = session.connection(), _dialect(session)
    # No name refers to the sealed vector, so that it lives no longer than it is needed.
    content = dialect.large(connection, seal_state(server, dataset, query, rung, seq, steps))
    if isinstance(content, bytes):
        _STORE.change(connection, {**row, "ciphertext": content})
    else:
        connection.execute(insert(_RELEASE).values({**row, "ciphertext": content}))


def _dialect(session: Session) -> Dialect:
    dialect: Dialect = session.info[WRITING]
    return dialect
