"""Define the interface of a kind of query: how it is drawn, opened, shown and charged.

A kind is a query's noise process with the rules of that kind.  A new kind is one more file with one
class, and a line in ``choice``.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from penstock.connectors.planning.domain import Domain, MarginalKeys, WorkloadKeys
from penstock.connectors.planning.domain import keys_of as keys_of_parts
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.errors import IntegrityViolation, InvalidInput
from penstock.mechanisms import family_of
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.laplace.process import DiscreteLaplace
from penstock.mechanisms.lattice import finest_common_power
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.privacy.target import Target
from penstock.services.context import Server
from penstock.services.noise.independent_levels import IndependentLevels
from penstock.services.noise.level_rule import LevelRule
from penstock.services.noise.long_vectors.lazy_values import LazyPositions
from penstock.services.noise.long_vectors.long_vector import Steps, at_hand
from penstock.services.noise.long_vectors.sizes import exceeds
from penstock.services.noise.lossless_levels import LosslessLevels
from penstock.services.noise.process import Process
from penstock.services.noise.sealing import SealedRelease, StoredRelease
from penstock.services.schemas.estimates.covariance import (
    AnswersCovarianceView,
    CovarianceView,
)
from penstock.services.schemas.estimates.marginals import MarginalView
from penstock.services.schemas.estimates.quantiles import BinnedCountsView, DistributionView
from penstock.services.schemas.histograms import HistogramView
from penstock.services.schemas.previews import ExpectedEstimatesView, RankErrorView
from penstock.services.schemas.queries import ComputedQueryRequest, Terms
from penstock.services.schemas.views import (
    ErrorsView,
    ErrorView,
    EstimateView,
    Keys,
    MeanPartsView,
    ProductsView,
    TierLevelView,
    Values,
)


@dataclass(frozen=True)
class Draw:
    """Hold vectors that were drawn, by rung, and what is stored with them.

    ``keep`` is called in the transaction that stores the vectors, with the query's row as it is
    after them.
    """

    vectors: Sequence[tuple[int, Steps]]
    keep: Callable[[Session, Dataset, Query], None] | None = None


@dataclass(frozen=True)
class Reading:
    """Hold the values of a release as its reader sees them."""

    keys: Keys
    values: Values
    error: ErrorView
    mean: MeanPartsView | None = None
    errors: ErrorsView | None = None
    histogram: HistogramView | None = None
    moments: ProductsView | None = None
    estimates: list[EstimateView] | None = None
    quantiles: BinnedCountsView | None = None
    distributions: list[DistributionView] | None = None
    marginals: list[MarginalView] | None = None
    covariance: CovarianceView | None = None
    answers_covariance: AnswersCovarianceView | None = None


@dataclass(frozen=True)
class QueryKind(Process, ABC):
    """Represent a query by its noise process and everything that depends on its kind."""

    request_model: ClassVar[type[ComputedQueryRequest]] = ComputedQueryRequest
    """The model of the spec of a query that the server computes."""

    is_stream: ClassVar[bool] = False
    """True if queries of this kind are listed among the streams (``repository.is_stream``)."""

    prepares_draws: ClassVar[bool] = False
    """True if ``prepare_draw`` does anything."""

    sent_classes: ClassVar[tuple[type, ...]] = ()
    """The classes of its own fields; computations in other processes receive them."""

    has_remedies: ClassVar[bool] = False
    """True if a refusal for lack of budget says what would fit (``histogram_remedies``)."""

    # How a kind is recognized, from the stored row or from a request.

    @classmethod
    @abstractmethod
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the fields of this kind from a stored row; ``None`` for a row of another kind."""

    @classmethod
    @abstractmethod
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return the fields of this kind from a request; ``None`` for a request of another kind."""

    @classmethod
    def request_of(cls, spec: Mapping[str, Any]) -> ComputedQueryRequest:
        """Return the request that a stored spec is of, for what the server computes."""
        return cls.request_model.model_validate(spec)

    @classmethod
    def stored_family(cls, query: Query, own: Mapping[str, Any]) -> type[Mechanism]:
        """Return the mechanism of a stored row, still without its lattice."""
        return family_of(query.mechanism, None if query.power is None else Fraction(query.power))

    @classmethod
    def family(cls, terms: Terms, step: Fraction) -> type[Mechanism]:
        """Return the mechanism that is requested.  Raises ``InvalidInput``."""
        if terms.granularity is None:
            return family_of(terms.mechanism, terms.power)
        lattice = finest_common_power(step)
        if Fraction(terms.granularity) != lattice:
            raise InvalidInput(
                f"The values are multiples of {lattice}, so noise on their lattice has the"
                f" granularity {lattice} and not {terms.granularity:g}. Request {lattice}, or leave"
                " the granularity out for a lattice so fine that it does not show.",
                pointer="/granularity",
            )
        return DiscreteLaplace

    @classmethod
    def require_terms(cls, terms: Terms, delta: float) -> None:
        """Raise ``InvalidInput`` for a mechanism or a delta that the kind cannot have."""

    @classmethod
    def explained(cls, problem: InvalidInput, terms: Terms) -> InvalidInput:
        """Return the error for refused levels, with an explanation that depends on the kind."""
        return problem

    @classmethod
    def stored_spec(cls, terms: Terms, prepared: PreparedQuery) -> dict[str, Any]:
        """Return a request's spec as it is stored: without keys and values, which have columns."""
        return terms.model_dump(mode="json", exclude={"keys", "values"}, exclude_none=True)

    @classmethod
    def drawn_target(cls, target: Target, prepared: PreparedQuery) -> Target:
        """Convert a target for released values into one for the drawn values."""
        return target

    def settled(
        self,
        terms: Terms,
        rungs: Mapping[str, int],
        tiers: Sequence[Tier],
        limit: Tier | None,
    ) -> "QueryKind":
        """Return the kind with the settings that depend on its tiers' rungs.

        Raises ``InvalidInput``.
        """
        return self

    def columns(self) -> dict[str, Any]:
        """Return the columns of the query's row that belong to its kind."""
        return {}

    def leaf(self) -> dict[str, Any]:
        """Return the fields of a registration's leaf that belong to its kind."""
        return {}

    # How it is charged.

    @property
    def levels(self) -> LevelRule:
        """Return the rule by which its levels are drawn, charged and composed."""
        independent = isinstance(self.mechanism, GeneralizedGaussian)
        return IndependentLevels(self) if independent else LosslessLevels(self)

    @property
    def lossless(self) -> bool:
        """Return True if several releases reveal no more than the most accurate of them."""
        return self.levels.lossless

    def target_on_draws(self, target: Target) -> Target:
        """Convert a target for released values into one for the drawn values."""
        return target

    def require_rung(self, rung: int) -> None:
        """Raise ``InvalidInput`` for a rung that no tier can be moved to."""

    def require_readable(self, query: Query, finest: int) -> None:
        """Raise ``InvalidInput`` if ``finest`` needs the data and they cannot be read again."""

    def charged_numbers(self, query: Query) -> int:
        """Return how many draws of one level the charge for the sampler counts."""
        return query.dimension

    # How it is drawn.

    def exact(self, step: Fraction, answer: NDArray[np.int64]) -> IntVector:
        """Return the exact answer in steps of the query's lattice, given it in steps of ``step``.

        For a sparse histogram it has ranks, and then counts.
        """
        scale = step / self.mechanism.granularity
        if scale.denominator != 1:
            raise InvalidInput(f"The step {step} is not a multiple of the lattice's.")
        return answer * np.int64(scale.numerator)

    def missing(self, session: Session, query: Query, rungs: Sequence[int]) -> list[int]:
        """Return those of ``rungs`` that need the exact values, the most accurate first."""
        return self.levels.undrawn(session, query, rungs)

    @abstractmethod
    def first_draw(
        self,
        server: Server,
        dataset: Dataset,
        query: Query,
        rungs: Sequence[int],
        exact: IntVector,
    ) -> Draw:
        """Draw the first releases around the exact answer."""

    def prepare_draw(
        self, session: Session, query: Query, rung: int, require_allowed: Callable[[], None]
    ) -> None:
        """Do long computations for a draw at ``rung`` before the lock is taken.

        ``require_allowed`` is called before them, and raises if the draw is refused.
        """

    @abstractmethod
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
        """Draw a new level between its nearest releases, or beyond the noisiest one.

        Raises ``IntegrityViolation`` as ``anchored`` does.
        """

    def anchored(self, query: Query, accurate: StoredRelease | None) -> StoredRelease:
        """Return the release that a level may be drawn from.

        Raises ``IntegrityViolation`` if nothing may be drawn, and if there is no such release.
        """
        self.levels.require_drawable(query)
        if accurate is None:
            raise IntegrityViolation(
                f"Query {query.readable!r} has no release as accurate as its anchor;"
                " nothing is drawn. Restore the database from a backup."
            )
        return accurate

    # How it is sealed and opened.

    @abstractmethod
    def sealed(
        self, server: Server, dataset: Dataset, query: Query, rung: int, seq: int, steps: Steps
    ) -> bytes:
        """Encrypt a release's lattice integers for its row."""

    @abstractmethod
    def opened(
        self, server: Server, dataset: Dataset, query: Query, release: SealedRelease
    ) -> IntVector:
        """Return a stored release's lattice integers.  Raises ``IntegrityViolation``."""

    def stored(
        self, server: Server, dataset: Dataset, query: Query, release: SealedRelease
    ) -> Steps:
        """Return the same, in chunks if they are stored so.  Raises ``IntegrityViolation``."""
        return self.opened(server, dataset, query, release)

    # How it is shown.

    def errors(self, rung: int) -> ErrorsView | None:
        """Return margins of error value by value; ``None`` if they are all equal."""
        return None

    def ranks(self, rung: int) -> list[RankErrorView] | None:
        """Return the errors of ranks of quantiles; ``None`` for other kinds."""
        return None

    def expected(self, rung: int) -> ExpectedEstimatesView | None:
        """Return how noisy estimates of moments would be; ``None`` for other kinds."""
        return None

    def covariance(self, rung: int) -> CovarianceView | None:
        """Return the covariance of its values; ``None`` if their noise is independent."""
        return None

    def current_error(self, session: Session, query: Query, rung: int) -> ErrorView:
        """Return the margin of error of a present release at ``rung``."""
        return self.error(rung)

    def at_rung(self, rung: int) -> HistogramView | None:
        """Return a sparse histogram's settings at ``rung``; ``None`` for other kinds."""
        return None

    def at_tier(self, tier: str, rung: int, delta: float) -> TierLevelView:
        """Return the level of one tier, with its guarantee and its margin of error."""
        return TierLevelView(
            tier,
            self.level(rung),
            self.guarantee(rung, delta),
            self.error(rung),
            histogram=self.at_rung(rung),
        )

    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the keys, values and margins of error of a stored release."""
        return Reading(
            keys_of(query),
            self.values(rung, at_hand(steps)),
            self.error(rung),
            errors=self.errors(rung),
            histogram=self.at_rung(rung),
            covariance=self.covariance(rung),
        )

    def size(self, query: Query) -> int:
        """Return the size of a drawn vector in bytes, which depends on public numbers alone."""
        return 8 * query.dimension * self.mechanism.parts

    def work(self, values: int) -> int:
        """Return the number of values that a release counts as when work is limited."""
        return values


def keys_of(query: Query) -> Keys:
    """Return a query's keys; positions if it has none."""
    keys: Any = keys_of_labels(query)
    if keys is None and query.keys is None:
        keys = LazyPositions(0, query.dimension) if exceeds(query) else np.arange(query.dimension)
    elif keys is None:
        keys = json.loads(str(query.keys))
    return cast("Keys", keys)


_LONGEST_KEPT = 1 << 17
"""The longest text of labels that is kept as keys, in characters: there are a few such texts."""


def keys_of_labels(query: Query) -> Domain | MarginalKeys | WorkloadKeys | None:
    """Return the keys of which only the labels are stored that they are the products of.

    All other keys are a list, or positions: of them it returns None.
    """
    stored = query.keys
    if stored is None or not stored.startswith("{"):
        return None
    return _kept(stored) if len(stored) <= _LONGEST_KEPT else keys_of_parts(json.loads(stored))


# Every release of a query reads its keys, which never change.
@lru_cache(maxsize=64)
def _kept(stored: str) -> Domain | MarginalKeys | WorkloadKeys:
    return keys_of_parts(json.loads(stored))
