"""Represent quantiles: estimated from released sums over a tree of bins."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from typing_extensions import override

from penstock.connectors.binned.edges import edges_of
from penstock.connectors.binned.quantiles import Quantiles
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.persistence.tables.queries import Query
from penstock.services.noise.estimates.reading import NOISE, quantiles_of, rank_errors
from penstock.services.noise.kinds.kind import Reading
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.schemas.estimates.quantiles import BinnedCountsView
from penstock.services.schemas.previews import RankErrorView
from penstock.services.schemas.queries import Terms


@dataclass(frozen=True)
class Bins:
    """Hold the bins of a query for quantiles and its probabilities, as its releases are read."""

    edges: tuple[float, ...]
    probabilities: tuple[float, ...]
    upper: float
    whole: bool
    rows_per_unit: int

    def view(self) -> BinnedCountsView:
        """Return the bins as readers see them."""
        return BinnedCountsView(
            list(self.edges), list(self.probabilities), self.upper, self.whole, self.rows_per_unit
        )


@dataclass(frozen=True)
class QuantilesKind(VectorKind):
    """Represent quantiles, drawn and charged as the vector of sums over ``binned``."""

    sent_classes: ClassVar[tuple[type, ...]] = (Bins,)

    binned: Bins

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the bins from the stored spec."""
        binned = _binned_in(query.spec)
        return None if binned is None else {"binned": binned}

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return the bins of the prepared query."""
        if prepared.quantiles is None:
            return None
        return {"binned": _binned_of(cls.stored_spec(terms, prepared))}

    @classmethod
    @override
    def stored_spec(cls, terms: Terms, prepared: PreparedQuery) -> dict[str, Any]:
        """Return the spec with the bins as they were planned."""
        stored = super().stored_spec(terms, prepared)
        if prepared.quantiles is not None:
            stored["aggregate"] = prepared.quantiles.model_dump(mode="json", exclude_none=True)
        return stored

    @override
    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the sums over bins, and what is estimated from them."""
        read = super().reading(query, rung, steps)
        view = self.binned.view()
        estimates, distributions = quantiles_of(read.keys, read.values, read.error, view, NOISE)
        return replace(read, quantiles=view, estimates=estimates, distributions=distributions)

    @override
    def ranks(self, rung: int) -> list[RankErrorView]:
        """Return the errors of the ranks of its quantiles and of the median, in their order."""
        return rank_errors(
            len(self.binned.edges) - 1, {*self.binned.probabilities, 0.5}, self.error(rung)
        )


@lru_cache(maxsize=1024)
def _binned_in(spec: str) -> Bins | None:
    stored = json.loads(spec)
    return _binned_of(stored) if stored.get("aggregate", {}).get("type") == "quantiles" else None


def _binned_of(stored: Mapping[str, Any]) -> Bins:
    settled = Quantiles.model_validate(stored["aggregate"])
    edges = edges_of(settled)
    upper = edges[-1] if settled.upper is None else float(settled.upper)
    rows = (stored.get("contribution") or {}).get("max_rows_per_group") or 1
    return Bins(edges, settled.probabilities, upper, bool(settled.whole), rows)
