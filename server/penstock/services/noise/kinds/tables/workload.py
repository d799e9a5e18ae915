"""Represent workloads: answers to products of matrices, from the sums that a strategy protects."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from typing_extensions import override

from penstock.connectors.planning.domain import WorkloadKeys
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.persistence.tables.queries import Query
from penstock.services.noise.estimates.workloads import answers_of, covariance_of
from penstock.services.noise.kinds.kind import Reading, keys_of_labels
from penstock.services.noise.kinds.tables.noise import require_gaussian
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors import sizes
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.schemas.queries import Terms
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Given, Spans


@dataclass(frozen=True)
class WorkloadKind(VectorKind):
    """Represent a workload, drawn and charged as the vector of the sums of its strategy."""

    sent_classes: ClassVar[tuple[type, ...]] = (Workload, Factor, Given, Spans)

    workload: Workload

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the workload from the stored keys."""
        keys = keys_of_labels(query)
        return {"workload": keys.workload} if isinstance(keys, WorkloadKeys) else None

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return the workload of the prepared query."""
        return None if prepared.workload is None else {"workload": prepared.workload}

    @classmethod
    @override
    def require_terms(cls, terms: Terms, delta: float) -> None:
        """Raise ``InvalidInput`` for noise whose sums have no margins of error here."""
        require_gaussian(terms, delta, "A workload takes", "each answer is a sum of many noises")

    @override
    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the sums of the strategy, and the answers that are computed from them."""
        keys = keys_of_labels(query)
        if not isinstance(keys, WorkloadKeys):
            raise TypeError("a query for a workload has its keys")
        read = super().reading(query, rung, steps)
        listed: Any = keys.nodes if len(keys) > sizes.MOST_LISTED else keys[:]
        estimates = answers_of(keys, self.workload, read.values, read.error)
        stated = covariance_of(keys, self.workload, read.error)
        return replace(read, keys=listed, estimates=estimates, answers_covariance=stated)
