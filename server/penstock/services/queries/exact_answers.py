"""Prepare the reading of exact answers, for a request and for a registered query.

They are in memory only from when they are read until a release is drawn from them
(``noise.answer_fingerprints`` recognizes them without storing them).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, col, select

from penstock.connectors import vector
from penstock.connectors.connector import ExactAnswer
from penstock.connectors.planning import prepare
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.progress import Progress, silent
from penstock.errors import InvalidInput
from penstock.mechanisms import family_of
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.datasets.declarations import as_declared
from penstock.services.datasets.fingerprints import fingerprint_of, salt_of
from penstock.services.datasets.population import spec_of
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.queries.recorded_statement import statement_of
from penstock.services.repository.queries import statistic_of
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    PushedVectorRequest,
    VectorPreviewRequest,
)

Request = ComputedQueryRequest | PushedVectorRequest
Plannable = Request | VectorPreviewRequest
"""The specs that can be planned; a preview's vector needs no values."""

Answer = Callable[[], ExactAnswer]
"""Reads the exact answer, in steps of the values; for a sparse histogram ranks, then counts."""

Reader = Callable[[Query], Answer]
"""Returns how the exact answer of a stored query is read: by the statement of its row."""


def planned(dataset: Dataset, request: Plannable) -> PreparedQuery:
    """Prepare a spec's query, without data or keys.  Raises ``InvalidInput``."""
    spec = spec_of(dataset)
    if isinstance(request, ComputedQueryRequest):
        return prepare.prepare(
            spec,
            request,
            version=dataset.version,
            mechanism=_noise(request),
            declaration=dataset.declaration,
        )
    return vector.prepare_vector(spec, request)


def planned_on(server: Server, dataset: Dataset, request: Plannable) -> PreparedQuery:
    """Prepare a spec's query with the hash under which its statistic is stored, if it is.

    An earlier version may have stored it under another one.  Raises ``InvalidInput``.
    """
    prepared = planned(dataset, request)
    if prepared.canonical_hash is None:
        return prepared
    stored = _earlier_hashes(server, dataset).get(prepared.canonical_hash)
    return prepared if stored is None else replace(prepared, canonical_hash=stored)


def _earlier_hashes(server: Server, dataset: Dataset) -> Mapping[str, str]:
    """Return the stored hash of each statistic of a dataset that has another one today.

    They are looked for once: a query that is registered from then on has today's hash, or the
    stored one.  So how long somebody waits does not depend on what is registered meanwhile.
    """
    key = required(dataset.id)
    known = server.earlier_hashes.get(key)
    if known is None:
        first: dict[str, str] = {}
        with server.database.read() as session:
            computed = col(Query.sql).is_not(None) & col(Query.canonical_hash).is_not(None)
            own = select(Query).where(col(Query.dataset_id) == key, computed)
            for query in session.exec(own.order_by(col(Query.id))).all():
                first.setdefault(_hash_today(session, query), statistic_of(query) or "")
        known = {today: stored for today, stored in first.items() if today != stored}
        server.earlier_hashes[key] = known
    return known


def _hash_today(session: Session, query: Query) -> str:
    """Return the hash that a stored query's spec has now; the stored one of specs without any."""
    spec, stored = json.loads(query.spec), statistic_of(query) or ""
    if not (spec.get("where") or spec.get("derived")):
        return stored
    dataset = as_declared(session, session.get_one(Dataset, query.dataset_id), query)
    try:
        request = kind_of(query).request_of(spec)
        return planned(dataset, request).canonical_hash or stored
    except (InvalidInput, ValueError):
        # This version does not read it: it is what it was.
        return stored


def _noise(request: ComputedQueryRequest) -> str:
    """Return the mechanism's name, for a generalized Gaussian with its power."""
    family = family_of(request.mechanism, request.power)
    if issubclass(family, GeneralizedGaussian):
        return f"{family.name}:{family.power}"
    return family.name


def require_dimension(server: Server, prepared: PreparedQuery) -> None:
    """Raise ``InvalidInput`` for more values than the settings allow."""
    if prepared.dimension > server.settings.dimension_limit:
        raise InvalidInput(
            f"The query has {prepared.dimension} values; this server allows"
            f" {server.settings.dimension_limit}. Use fewer or coarser groups."
        )


def require_values(request: Plannable, prepared: PreparedQuery) -> None:
    """Raise ``InvalidInput`` for sent values that do not fit what was declared of them."""
    if isinstance(request, PushedVectorRequest):
        counted(request, prepared)


def counted(request: PushedVectorRequest, prepared: PreparedQuery) -> NDArray[np.int64]:
    """Return the sent values in steps.  Raises ``InvalidInput`` for the first bad one."""
    return vector.vector_steps(request.values, prepared.step, prepared.bound)


def prepared_for(
    server: Server, dataset: Dataset, request: Request, progress: Progress = silent
) -> tuple[PreparedQuery, Reader]:
    """Prepare a spec's query; return it with a function that returns how a row's answer is read.

    ``progress`` receives how far the reading of the file is.  Raises ``InvalidInput``, and
    ``SourceChanged`` if the file is not the registered one.
    """
    prepared = planned_on(server, dataset, request)
    if isinstance(request, PushedVectorRequest):
        steps = counted(request, prepared)
        steps.setflags(write=False)  # it is returned as often as it is asked for
        return prepared, lambda _: lambda: ExactAnswer(steps)
    spec = spec_of(dataset)
    known = fingerprint_of(server, dataset)
    key, registered = known.key, known.digest
    prepare.check_registered(
        spec,
        fingerprint_key=key,
        fingerprint=registered,
        sources=server.sources,
        progress=progress,
    )
    salt = salt_of(server, dataset)

    def reader(query: Query) -> Answer:
        statement = statement_of(spec, query, prepared, server.sources)
        return partial(
            prepare.answer,
            spec,
            statement,
            salt=salt,
            fingerprint_key=key,
            fingerprint=registered,
            sources=server.sources,
            progress=progress,
        )

    return prepared, reader


def prepared_again(
    server: Server, dataset: Dataset, query: Query, values: list[int | float] | None
) -> tuple[PreparedQuery, Answer]:
    """Prepare a registered query and its reading; ``values`` are those of a pushed vector.

    Raises ``InvalidInput`` for values of a query that the server computes, for missing values, and
    for more or fewer than were registered, and what ``statement_of`` raises.
    """
    spec, kind = json.loads(query.spec), kind_of(query)
    if query.sql is not None:
        if values is not None:
            raise InvalidInput(
                f"The server computes {query.readable!r} itself; leave values out.",
                pointer="/values",
            )
        request: Request = kind.request_of(spec)
        prepared, reader = prepared_for(server, dataset, request)
        return prepared, reader(query)
    if values is None:
        missing = kind.levels.values_missing(query)
        raise InvalidInput(f"{missing}; send its exact values again.", pointer="/values")
    if len(values) != query.dimension:
        raise InvalidInput(
            f"There are {len(values)} values; {query.readable!r} was registered with"
            f" {query.dimension}.",
            pointer="/values",
        )
    request = PushedVectorRequest.model_validate({**spec, "values": values})
    prepared, reader = prepared_for(server, dataset, request)
    return prepared, reader(query)


def states_of(query: Query) -> list[str]:
    """Return the engine's names of the states that a query's answers were read from, in order."""
    return [] if query.read_states is None else list(json.loads(query.read_states))


def states_with(query: Query, state: str | None) -> str | None:
    """Return these names with that of one more reading, as they are stored (JSON)."""
    return query.read_states if state is None else json.dumps([*states_of(query), state])
