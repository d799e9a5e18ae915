"""Represent marginals: computed from released tables that are protected together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from penstock.connectors.planning.domain import MarginalKeys
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.queries import Query
from penstock.privacy.target import Target, TargetKind
from penstock.services.noise.estimates.marginals import marginals_of
from penstock.services.noise.kinds.kind import Reading, keys_of_labels
from penstock.services.noise.kinds.tables.noise import require_gaussian
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors.long_vector import Steps, at_hand
from penstock.services.schemas.estimates.covariance import (
    CovarianceView,
    ResidualsView,
    ResidualView,
)
from penstock.services.schemas.queries import ComputedQueryRequest, Terms
from penstock.services.schemas.views import ErrorsView, ErrorView
from penstock.structures.marginals.lattice import Marginals
from penstock.structures.marginals.tables import reconstructed


@dataclass(frozen=True)
class MarginalsKind(VectorKind):
    """Represent marginals, drawn and charged as the vector of the tables that are protected."""

    sent_classes: ClassVar[tuple[type, ...]] = (Marginals,)

    tables: Marginals

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the tables from the stored keys."""
        keys = keys_of_labels(query)
        return {"tables": _tables(keys)} if isinstance(keys, MarginalKeys) else None

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return the tables of the prepared query."""
        return None if prepared.marginals is None else {"tables": prepared.marginals}

    @classmethod
    @override
    def request_of(cls, spec: Mapping[str, Any]) -> ComputedQueryRequest:
        """Return the request of a stored spec; earlier versions took a set named twice as once."""
        aggregate = spec["aggregate"]
        if aggregate.get("sets"):
            once = {frozenset(named): named for named in aggregate["sets"]}
            aggregate = {**aggregate, "sets": list(once.values())}
        return super().request_of({**spec, "aggregate": aggregate})

    @classmethod
    @override
    def require_terms(cls, terms: Terms, delta: float) -> None:
        """Raise ``InvalidInput`` for noise whose sums have no margins of error here."""
        require_gaussian(terms, delta, "Marginals take", "each cell is a sum of many noises")

    @classmethod
    @override
    def drawn_target(cls, target: Target, prepared: PreparedQuery) -> Target:
        """Return a target for the least accurate cell as one for noise of the tables."""
        return target if prepared.marginals is None else _on_tables(target, prepared.marginals)

    @override
    def target_on_draws(self, target: Target) -> Target:
        """Return a target for the least accurate cell as one for noise of the tables."""
        return _on_tables(target, self.tables)

    @override
    def rung(self, target: Target, delta: float) -> int:
        """Return the least noisy rung whose cells meet ``target``.  Raises ``InvalidInput``."""
        return super().rung(self.target_on_draws(target), delta)

    @override
    def error(self, rung: int) -> ErrorView:
        """Return the margin of error of a cell of the least accurate marginal."""
        return self.error_of_part(rung, self.tables.largest_variance)

    @override
    def errors(self, rung: int) -> ErrorsView | None:
        """Return margins of error cell by cell if they differ."""
        tables = self.tables
        parts = [self.error_of_part(rung, tables.variance(each)) for each in tables.sets]
        if len({part.standard_deviation for part in parts}) == 1:
            return None
        cells = list(map(tables.cells, tables.sets))
        return ErrorsView(
            np.repeat([part.standard_deviation for part in parts], cells),
            np.repeat([part.half_width for part in parts], cells),
        )

    @override
    def values(self, rung: int, steps: IntVector) -> NDArray[np.float64]:
        """Compute the cells of all marginals from stored tables, with the same bits every time."""
        cells = reconstructed(self.tables, super().values(rung, steps))
        return np.concatenate([cells[each].ravel() for each in self.tables.sets])

    @override
    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the cells of all marginals, as one vector and by marginal."""
        keys = keys_of_labels(query)
        if not isinstance(keys, MarginalKeys):
            raise TypeError("a query for marginals has their keys")
        values = self.values(rung, at_hand(steps))
        listed: Any = keys[:]
        parts = [self.error_of_part(rung, self.tables.variance(each)) for each in keys.sets]
        deviations = [part.standard_deviation for part in parts]
        return Reading(
            listed,
            values,
            self.error(rung),
            errors=self.errors(rung),
            marginals=marginals_of(keys, values, deviations),
            covariance=self._covariance(rung, keys.names),
        )

    def _covariance(self, rung: int, columns: Sequence[str]) -> CovarianceView:
        """Return the variances of the residuals that all cells are sums of."""
        node = self.error_of_part(rung, Fraction(1)).standard_deviation ** 2
        tables = self.tables
        return CovarianceView(
            marginals=ResidualsView(
                labels=dict(zip(columns, tables.sizes, strict=True)),
                residuals=[
                    ResidualView([columns[at] for at in each], node / weight**2)
                    for each, weight in zip(tables.protected, tables.weights, strict=True)
                ],
            )
        )


@lru_cache(maxsize=256)
def _tables(keys: MarginalKeys) -> Marginals:
    return Marginals(tuple(map(len, keys.labels)), keys.sets)


def _on_tables(target: Target, tables: Marginals) -> Target:
    if target.kind not in (TargetKind.STANDARD_DEVIATION, TargetKind.HALF_WIDTH):
        return target
    return replace(target, value=target.value / math.sqrt(tables.largest_variance))
