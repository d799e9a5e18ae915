"""Represent moments and regressions: estimated from released sums, or sums of products.

What is drawn and stored are the sums times their weights; what is shown is divided by these.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from penstock.connectors.planning.moments.grid import on_grid
from penstock.connectors.planning.moments.weights import weights_of
from penstock.connectors.planning.plan import pairs
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.specs.moments import EQUAL, Moments, Order, Regression
from penstock.errors import InvalidInput
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.queries import Query
from penstock.privacy.target import Target, TargetKind
from penstock.services.noise.estimates.expected import expected_of
from penstock.services.noise.estimates.reading import NOISE, estimates_of
from penstock.services.noise.kinds.kind import Reading
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.schemas.previews import ExpectedEstimatesView
from penstock.services.schemas.queries import ComputedQueryRequest, Terms
from penstock.services.schemas.views import (
    ColumnScaleView,
    ErrorsView,
    ErrorView,
    ProductsView,
)

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
    weights: tuple[int, ...] = ()

    def view(self) -> ProductsView:
        """Return the columns as readers see them."""
        return ProductsView(
            [ColumnScaleView(*scale) for scale in self.scales],
            self.outcome,
            self.rows_per_unit,
            self.order,
            list(self.each),
        )

    @property
    def each(self) -> tuple[int, ...]:
        """Return the weight of each number of a group."""
        return self.weights or (1,) * len(pairs(len(self.scales), self.order))


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
        """Return the spec with the bounds, the grid and the weights as they were planned.

        Equal ones are left out, as in the texts of earlier versions, which had no others.
        """
        stored = super().stored_spec(terms, prepared)
        if prepared.moments is not None:
            aggregate = prepared.moments.model_dump(mode="json")
            if aggregate.get("weights") == EQUAL:
                del aggregate["weights"]
            stored["aggregate"] = aggregate
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
        if terms.mechanism == GeneralizedGaussian.name and _weights_in(terms):
            raise InvalidInput(
                "Generalized Gaussian noise takes equal weights: it is that of the number which"
                " moves furthest, so that no other has less noise. Leave weights out.",
                pointer="/aggregate/weights",
            )

    @classmethod
    @override
    def request_of(cls, spec: Mapping[str, Any]) -> ComputedQueryRequest:
        """Return the request of a stored spec; one without weights has equal ones."""
        aggregate = {"weights": EQUAL, **spec["aggregate"]}
        return super().request_of({**spec, "aggregate": aggregate})

    @classmethod
    @override
    def drawn_target(cls, target: Target, prepared: PreparedQuery) -> Target:
        """Return a target for the noise of the number with the least weight as one for the drawn
        one.
        """
        return _on_drawn(target, () if prepared.moments is None else weights_of(prepared.moments))

    @override
    def target_on_draws(self, target: Target) -> Target:
        """Return a target for the noise of the number with the least weight as one for the drawn
        one.
        """
        return _on_drawn(target, self.columns_read.weights)

    @override
    def rung(self, target: Target, delta: float) -> int:
        """Return the least noisy rung whose numbers meet ``target``.  Raises ``InvalidInput``."""
        return super().rung(self.target_on_draws(target), delta)

    @override
    def error(self, rung: int) -> ErrorView:
        """Return the margin of error of the number with the least weight, the noisiest."""
        drawn, weight = super().error(rung), min(self.columns_read.each)
        return ErrorView(
            drawn.standard_deviation / weight, drawn.confidence, drawn.half_width / weight
        )

    @override
    def values(self, rung: int, steps: IntVector) -> NDArray[np.float64]:
        """Return the sums of products, without their weights."""
        weighted, own = super().values(rung, steps), self.columns_read.weights
        if not own:
            return weighted
        read: NDArray[np.float64] = (weighted.reshape(-1, len(own)) / np.array(own)).ravel()
        return read

    @override
    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the sums of products, and what is estimated from them."""
        read = super().reading(query, rung, steps)
        view = self.columns_read.view()
        estimates = estimates_of(read.keys, read.values, read.error, view, NOISE)
        return Reading(
            read.keys,
            read.values,
            read.error,
            errors=self._by_value(read.error, len(read.keys)),
            moments=view,
            estimates=estimates,
        )

    def _by_value(self, error: ErrorView, values: int) -> ErrorsView | None:
        """Return the errors value by value; None if they are all equal."""
        own = self.columns_read.weights
        if not own:
            return None
        parts = np.tile(min(own) / np.array(own), values // len(own))
        return ErrorsView(parts * error.standard_deviation, parts * error.half_width)

    @override
    def expected(self, rung: int) -> ExpectedEstimatesView:
        """Return how noisy its estimates are where columns are spread evenly."""
        return expected_of(self.columns_read.view(), self.error(rung))


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
    kind = Moments if outcome is None else Regression
    own = weights_of(kind.model_validate(aggregate))
    return Columns(tuple(scales), outcome, rows, aggregate.get("order", 2), own)


def _weights_in(terms: Terms) -> bool:
    """Return True if a request has weights that are not all equal."""
    aggregate = getattr(terms, "aggregate", None)
    return isinstance(aggregate, Moments | Regression) and bool(weights_of(aggregate))


def _on_drawn(target: Target, weights: tuple[int, ...]) -> Target:
    if target.kind not in (TargetKind.STANDARD_DEVIATION, TargetKind.HALF_WIDTH):
        return target
    return replace(target, value=target.value * min(weights, default=1))
