"""Represent moments and regressions: estimated from released sums, or sums of products."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from typing_extensions import override

from penstock.connectors.planning.moments import on_grid
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.specs.moments import Order
from penstock.errors import InvalidInput
from penstock.persistence.tables.queries import Query
from penstock.services.noise.estimates.reading import NOISE, estimates_of
from penstock.services.noise.kinds.kind import Reading
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.schemas.queries import Terms
from penstock.services.schemas.views import ColumnScaleView, ProductsView

_TYPES = ("moments", "regression")
_IN_STEPS = ("poisson", "skellam")


@dataclass(frozen=True)
class Columns:
    """Hold the columns of a query for moments, as its releases are read.

    ``scales`` have each column's name, middle and half width.
    """

    scales: tuple[tuple[str, float, float], ...]
    outcome: str | None
    rows_per_unit: int
    order: Order = 2

    def view(self) -> ProductsView:
        """Return the columns as readers see them."""
        return ProductsView(
            [ColumnScaleView(*scale) for scale in self.scales],
            self.outcome,
            self.rows_per_unit,
            self.order,
        )


@dataclass(frozen=True)
class MomentsKind(VectorKind):
    """Represent moments of ``columns``, drawn and charged as the vector of their products."""

    sent_classes: ClassVar[tuple[type, ...]] = (Columns,)

    columns_read: Columns

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the columns from the stored spec."""
        columns = _columns_in(query.spec)
        return None if columns is None else {"columns_read": columns}

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return the columns of the prepared query."""
        if prepared.moments is None:
            return None
        return {"columns_read": _columns_of(cls.stored_spec(terms, prepared))}

    @classmethod
    @override
    def stored_spec(cls, terms: Terms, prepared: PreparedQuery) -> dict[str, Any]:
        """Return the spec with the bounds and the grid as they were planned."""
        stored = super().stored_spec(terms, prepared)
        if prepared.moments is not None:
            stored["aggregate"] = prepared.moments.model_dump(mode="json")
        return stored

    @classmethod
    @override
    def require_terms(cls, terms: Terms, delta: float) -> None:
        """Raise ``InvalidInput`` for noise in whole steps, of which a row moves millions."""
        if terms.mechanism in _IN_STEPS:
            raise InvalidInput(
                f"Moments and regressions take no {terms.mechanism} noise, which is for counts: one"
                " row moves their sums by millions of steps. Choose gaussian or laplace.",
                pointer="/mechanism",
            )

    @override
    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the sums of products, and what is estimated from them."""
        read = super().reading(query, rung, steps)
        view = self.columns_read.view()
        estimates = estimates_of(read.keys, read.values, read.error, view, NOISE)
        return Reading(read.keys, read.values, read.error, moments=view, estimates=estimates)


@lru_cache(maxsize=1024)
def _columns_in(spec: str) -> Columns | None:
    stored = json.loads(spec)
    return _columns_of(stored) if stored.get("aggregate", {}).get("type") in _TYPES else None


def _columns_of(stored: Mapping[str, Any]) -> Columns:
    aggregate = stored["aggregate"]
    outcome = aggregate.get("outcome")
    names = aggregate["columns"] if outcome is None else [*aggregate["predictors"], outcome]
    grid = aggregate["grid"]
    scales = []
    for name in names:
        step, lowest = on_grid(aggregate["bounds"][name], grid)
        scales.append((name, float((lowest + Fraction(grid, 2)) * step), float(step * grid / 2)))
    rows = (stored.get("contribution") or {}).get("max_rows_per_group") or 1
    return Columns(tuple(scales), outcome, rows, aggregate.get("order", 2))
