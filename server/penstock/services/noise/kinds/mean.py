"""Represent a query for means: its values are computed from released pairs of a sum and a count."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from typing_extensions import override

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.persistence.tables.queries import Query
from penstock.services.noise.kinds.kind import Reading, keys_of
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors.long_vector import Steps, at_hand
from penstock.services.noise.means import Bounds, bounds_of, means
from penstock.services.schemas.queries import Terms


@dataclass(frozen=True)
class MeanKind(VectorKind):
    """Represent means between ``bounds``, drawn and charged as a vector of pairs."""

    sent_classes: ClassVar[tuple[type, ...]] = (Bounds,)

    bounds: Bounds

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the bounds from the stored spec."""
        bounds = bounds_of(query)
        return None if bounds is None else {"bounds": bounds}

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return the bounds of the prepared query."""
        if prepared.mean_bounds is None:
            return None
        lower, upper = map(float, prepared.mean_bounds)
        return {"bounds": Bounds(lower, upper)}

    @classmethod
    @override
    def stored_spec(cls, terms: Terms, prepared: PreparedQuery) -> dict[str, Any]:
        """Return the spec with the bounds as they were planned: releases are read with them."""
        stored = super().stored_spec(terms, prepared)
        if prepared.mean_bounds is not None and stored["aggregate"]["type"] == "mean":
            lower, upper = map(float, prepared.mean_bounds)
            stored["aggregate"].update(lower=lower, upper=upper)
        return stored

    @override
    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the means of all keys, and the sums and counts that they are computed from."""
        read = means(self, rung, self.values(rung, at_hand(steps)), self.bounds)
        return Reading(keys_of(query), read.values, read.error, read.details)

    @override
    def work(self, values: int) -> int:
        """Return two numbers for each mean."""
        return 2 * values
