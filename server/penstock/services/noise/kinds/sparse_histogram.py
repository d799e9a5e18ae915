"""Represent counts over keys that cannot be listed; a tier sees those above a threshold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session
from typing_extensions import override

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.specs.histograms import domain_of
from penstock.errors import InvalidInput
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.noise import sealed_histogram
from penstock.services.noise.histogram_settings import (
    HistogramShape,
    most,
    noise_of,
    require_fitting,
    settled,
    too_large,
)
from penstock.services.noise.kinds.kind import Draw, QueryKind, Reading
from penstock.services.noise.long_vectors.long_vector import Steps, at_hand
from penstock.services.noise.sealing import SealedRelease, StoredRelease
from penstock.services.schemas.histograms import HistogramView
from penstock.services.schemas.queries import ComputedQueryRequest, HistogramRequest, Terms
from penstock.structures.sparse_histogram.contents import parted
from penstock.structures.sparse_histogram.histogram import SparseHistogram
from penstock.structures.sparse_histogram.noise import HistogramNoise

HISTOGRAM_WORK = 500_000
"""Drawing a level of a sparse histogram of 10^5 keys takes no longer than this many values."""


@dataclass(frozen=True)
class HistogramKind(QueryKind):
    """Represent a sparse histogram: reports drawn from a sealed state.

    ``shape`` is ``None`` only before levels are settled.
    """

    request_model: ClassVar[type[ComputedQueryRequest]] = HistogramRequest

    sent_classes: ClassVar[tuple[type, ...]] = (HistogramShape,)
    has_remedies: ClassVar[bool] = True
    prepares_draws: ClassVar[bool] = True

    shape: HistogramShape | None = None

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the domain and the false keys from the stored row."""
        return (
            None if query.histogram is None else {"shape": HistogramShape.decoded(query.histogram)}
        )

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return no shape yet: it depends on the levels."""
        return {} if isinstance(terms, HistogramRequest) else None

    @classmethod
    @override
    def stored_family(cls, query: Query, own: Mapping[str, Any]) -> type[Mechanism]:
        """Return the mechanism for which thresholds are known."""
        shape: HistogramShape = own["shape"]
        return shape.noise(query.mechanism)

    @classmethod
    @override
    def family(cls, terms: Terms, step: Fraction) -> type[Mechanism]:
        """Return the mechanism for the size of the domain and the most false keys."""
        request = _histogram(terms)
        size, most_false = domain_of(request.domain).size, most(request.expected_false_keys)
        return noise_of(terms.mechanism, size, most_false)

    @classmethod
    @override
    def require_terms(cls, terms: Terms, delta: float) -> None:
        """Raise ``InvalidInput`` for other noise, and for gaussian noise at a delta of 0."""
        require_fitting(terms.mechanism, delta, terms.granularity)

    @classmethod
    @override
    def explained(cls, problem: InvalidInput, terms: Terms) -> InvalidInput:
        """Return the error for counts that are too large, with a ``max_units`` that fits."""
        return too_large(problem, _histogram(terms)) if "largest_bound" in problem.data else problem

    @override
    def settled(
        self,
        terms: Terms,
        rungs: Mapping[str, int],
        tiers: Sequence[Tier],
        limit: Tier | None,
    ) -> QueryKind:
        """Return the histogram with its false keys by rung.  Raises ``InvalidInput``."""
        request = _histogram(terms)
        declared = request.domain.model_dump(exclude_none=True)
        shape = settled(declared, request.expected_false_keys, rungs, tiers, limit)
        # Raises errors of the numbers themselves.
        shape.thresholds(self.ladder, self.mechanism)
        return HistogramKind(self.mechanism, self.ladder, self.sensitivity, shape)

    @override
    def columns(self) -> dict[str, Any]:
        """Return the column that stores the shape."""
        return {"histogram": self._shape.encoded()}

    @override
    def require_readable(self, query: Query, finest: int) -> None:
        """Raise ``InvalidInput`` for a level that would need the data to be read again."""
        if finest < query.ceiling:
            raise InvalidInput(
                f"The most accurate level of the sparse histogram {query.readable!r} is"
                f" {self.level(query.ceiling).value:g} ({self.mechanism.parameter}), and stays"
                f" that: {self.level(finest).value:g} would need the data to be read again."
                f" Request that level or more noise, or register another histogram.",
                pointer="/levels",
            )

    @override
    def exact(self, step: Fraction, answer: NDArray[np.int64]) -> IntVector:
        """Return the ranks of the keys, and then their counts."""
        return answer

    @override
    def first_draw(
        self,
        server: Server,
        dataset: Dataset,
        query: Query,
        rungs: Sequence[int],
        exact: IntVector,
    ) -> Draw:
        """Draw noise for the keys in the data, and the report at the ceiling.

        The state keeps these keys; their counts are not stored.
        """
        histogram = sealed_histogram.begin(server, query, self.public, exact)
        return _reported(server, histogram, query.ceiling)

    @override
    def prepare_draw(
        self, session: Session, query: Query, rung: int, require_allowed: Callable[[], None]
    ) -> None:
        """Compute the probabilities that a new threshold needs."""
        require_allowed()
        sealed_histogram.prepare_draw(session, query, self.public, rung)

    @override
    def draw(
        self,
        session: Session,
        server: Server,
        dataset: Dataset,
        query: Query,
        rung: int,
        accurate: StoredRelease | None,
        noisy: StoredRelease | None,
    ) -> Draw:
        """Draw the report at a new level from the state, and update the state."""
        self.anchored(query, accurate)
        histogram = sealed_histogram.load(session, server, dataset, query, self.public)
        return _reported(server, histogram, rung)

    @override
    def sealed(
        self, server: Server, dataset: Dataset, query: Query, rung: int, seq: int, steps: Steps
    ) -> bytes:
        """Encrypt a report for its row, padded."""
        report = at_hand(steps)
        return sealed_histogram.seal_report(server, dataset, query, rung, seq, report)

    @override
    def opened(
        self, server: Server, dataset: Dataset, query: Query, release: SealedRelease
    ) -> IntVector:
        """Return a stored report."""
        return sealed_histogram.open_report(server, dataset, query, release)

    @override
    def at_rung(self, rung: int) -> HistogramView | None:
        """Return the domain, the threshold and the false keys for a reader at ``rung``."""
        return self._shape.view(self.ladder, self.mechanism, rung)

    @override
    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the keys that are reported, and their counts."""
        ranks, counts = parted(at_hand(steps))
        return Reading(
            self._shape.keys(ranks),
            self.values(rung, counts),
            self.error(rung),
            histogram=self.at_rung(rung),
        )

    @override
    def work(self, values: int) -> int:
        """Return the number of values whose draw takes as long."""
        return HISTOGRAM_WORK + values

    @property
    def public(self) -> sealed_histogram.Settings:
        """Return the noise, the thresholds and the domain of keys."""
        noise, shape = self.mechanism, self._shape
        if not isinstance(noise, HistogramNoise | Laplace):
            raise TypeError("a query of another kind was used as a sparse histogram")
        thresholds = shape.thresholds(self.ladder, noise)
        return sealed_histogram.Settings(noise, thresholds, shape.domain)

    @property
    def _shape(self) -> HistogramShape:
        if self.shape is None:
            raise TypeError("the levels of a sparse histogram are not fixed yet")
        return self.shape


def _histogram(terms: Terms) -> HistogramRequest:
    if not isinstance(terms, HistogramRequest):
        raise TypeError("a request of another kind was used as a sparse histogram")
    return terms


def _reported(server: Server, histogram: SparseHistogram, rung: int) -> Draw:
    """Draw a report; the new state is stored with it."""
    steps = sealed_histogram.drawn(histogram, rung)

    def keep(session: Session, dataset: Dataset, row: Query) -> None:
        sealed_histogram.save(session, server, dataset, row, histogram)

    return Draw([(rung, steps)], keep)
