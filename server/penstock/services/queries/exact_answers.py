"""Exact answers: how to get one, and how to know it again without keeping it.

They exist in memory from when they are read until a release is drawn from them.  What is
kept is an HMAC under the fingerprint key, which no database holds, sealed with the
query's own key: never in specs, hashes or the log.
"""

import hashlib
import hmac
import json
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.connectors import vector
from penstock.connectors.planning import prepare
from penstock.connectors.planning.open_keys import Tally
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.progress import Progress, silent
from penstock.encryption.secrets import FINGERPRINT
from penstock.errors import Conflict, InvalidInput
from penstock.mechanisms import GeneralizedGaussian, IntVector, family_of
from penstock.persistence.tables import Dataset, Query
from penstock.services.context import Server
from penstock.services.datasets.fingerprints import fingerprint_of, salt_of
from penstock.services.datasets.population import spec_of
from penstock.services.noise.histogram_settings import joined
from penstock.services.noise.process import Process
from penstock.services.noise.sealed_state import open_fingerprint
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    CorrelatedQueryRequest,
    HistogramRequest,
    PushedVectorRequest,
    VectorPreviewRequest,
)

Request = ComputedQueryRequest | HistogramRequest | PushedVectorRequest
Plannable = Request | VectorPreviewRequest
"""What levels and charges can be settled for; a preview's vector needs no values."""

Answer = Callable[[], NDArray[np.int64]]
"""In steps of the values; of a sparse histogram the ranks of its keys, then the counts."""


def planned(dataset: Dataset, request: Plannable) -> PreparedQuery:
    """What the spec settles; neither data nor keys are touched.  Raises ``InvalidInput``."""
    spec = spec_of(dataset)
    if isinstance(request, ComputedQueryRequest | HistogramRequest):
        return prepare.prepare(
            spec,
            request,
            version=dataset.version,
            mechanism=_noise(request),
            declaration=dataset.declaration,
        )
    return vector.prepare_vector(spec, request)


def _noise(request: ComputedQueryRequest | HistogramRequest) -> str:
    """Its mechanism in one spelling, that of a generalized Gaussian with its power."""
    family = family_of(request.mechanism, request.power)
    if issubclass(family, GeneralizedGaussian):
        return f"{family.name}:{family.power}"
    return family.name


def counted(request: PushedVectorRequest, plan: PreparedQuery) -> NDArray[np.int64]:
    """The values that were sent, in steps.  Raises ``InvalidInput`` for the first bad one."""
    return vector.vector_steps(request.values, plan.step, plan.bound)


def prepared(
    server: Server, dataset: Dataset, request: Request, progress: Progress = silent
) -> tuple[PreparedQuery, Answer]:
    """What the spec settles, and how to get the exact answer when it is time.

    ``progress`` is told how far the reading of the file is.  Raises ``InvalidInput``, and
    ``SourceChanged`` where the file is not the one registered.
    """
    plan = planned(dataset, request)
    if isinstance(request, PushedVectorRequest):
        steps = counted(request, plan)
        return plan, lambda: steps
    spec = spec_of(dataset)
    known = fingerprint_of(server, dataset)
    key, registered = known.key, known.digest
    prepare.check_registered(spec, fingerprint_key=key, fingerprint=registered, progress=progress)
    salt = salt_of(server, dataset)
    if isinstance(request, HistogramRequest):
        return plan, lambda: _joined(
            prepare.open_answer(
                spec,
                request,
                salt=salt,
                fingerprint_key=key,
                fingerprint=registered,
                progress=progress,
            )
        )
    return plan, lambda: prepare.answer(
        spec, request, salt=salt, fingerprint_key=key, fingerprint=registered, progress=progress
    )


def _joined(found: Tally) -> NDArray[np.int64]:
    return joined(found.ranks, found.counts)


def prepared_again(
    server: Server, dataset: Dataset, query: Query, values: list[int | float] | None
) -> tuple[PreparedQuery, Answer]:
    """The same for a query that is registered; ``values`` are those of a pushed vector.

    Raises ``InvalidInput`` for values where the server computes them, where they are
    missing, and where there are more or fewer than were registered.
    """
    spec = json.loads(query.spec)
    if query.sql is not None:
        if values is not None:
            raise InvalidInput(
                f"The server computes {query.name!r} itself; leave values out.", pointer="/values"
            )
        kind = CorrelatedQueryRequest if "structure" in spec else ComputedQueryRequest
        return prepared(server, dataset, kind.model_validate(spec))
    if values is None:
        process = Process.of(query)
        ceiling = process.level(query.ceiling).value
        missing = (
            f"A level of {query.name!r} is more accurate than its ceiling, {ceiling:g}"
            if process.lossless
            else f"A level of {query.name!r} was not drawn yet, and each is a draw of its own"
        )
        raise InvalidInput(f"{missing}; send its exact values again.", pointer="/values")
    if len(values) != query.dimension:
        raise InvalidInput(
            f"There are {len(values)} values; {query.name!r} was registered with"
            f" {query.dimension}.",
            pointer="/values",
        )
    return prepared(server, dataset, PushedVectorRequest.model_validate({**spec, "values": values}))


def on_lattice(process: Process, step: Fraction, answer: Answer) -> IntVector:
    """Read the data: the exact answer in steps of the query's lattice."""
    scale = step / process.mechanism.granularity
    if scale.denominator != 1:
        raise InvalidInput(f"The step {step} is not a multiple of the lattice's.")
    return answer() * np.int64(scale.numerator)


def fingerprint(server: Server, query: Query, exact: IntVector) -> bytes:
    """An HMAC-SHA256 of an exact answer in lattice steps, for this query alone."""
    return _fingerprint(server.secrets.fingerprint, query, exact)


def _fingerprint(key: bytes, query: Query, exact: IntVector) -> bytes:
    mac = hmac.new(key, digestmod=hashlib.sha256)
    mac.update(f"answer\x00{query.folded}\x00{len(exact)}\x00".encode())
    mac.update(np.ascontiguousarray(exact, dtype="<i8").data)
    return mac.digest()


def require_fingerprint(query: Query) -> bytes:
    """The sealed fingerprint.  Raises ``Conflict`` where there is none."""
    if query.sealed_fingerprint is None:
        raise Conflict(
            f"Query {query.name!r} was registered before fingerprints of answers were kept, so"
            " its ceiling cannot be raised; register the statistic anew."
        )
    return query.sealed_fingerprint


def is_same(server: Server, dataset: Dataset, query: Query, exact: IntVector) -> bool:
    """Whether ``exact`` is what the query's anchor was drawn from."""
    known = open_fingerprint(server, dataset, query, require_fingerprint(query))
    # It is under the key of the day when the anchor was drawn.
    keys = server.secrets.every(FINGERPRINT)
    return any(hmac.compare_digest(known, _fingerprint(key, query, exact)) for key in keys)


def require_same(server: Server, dataset: Dataset, query: Query, exact: IntVector) -> None:
    """Raise ``Conflict`` unless ``exact`` is what the query's anchor was drawn from."""
    if not is_same(server, dataset, query, exact):
        raise Conflict(
            f"The exact values are not those that {query.name!r} was registered with; noise"
            " around others would tell more than the levels allow. Send the same values, or"
            " register another query."
        )
