"""A registered query's noise process, read back from its row."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.accounting import Account, Entry, charge, entry, rung_for
from penstock.connectors.planning.correlated_counts import Nodes, nodes_of
from penstock.mechanisms import GeneralizedGaussian, IntVector, Mechanism, family_of, released
from penstock.persistence.tables import Query
from penstock.privacy import Ladder, Sensitivity, Target, TargetKind
from penstock.services.noise.histogram_settings import HistogramShape
from penstock.services.schemas.histograms import HistogramView
from penstock.services.schemas.queries import CorrelatedQueryRequest
from penstock.services.schemas.views import (
    ErrorsView,
    ErrorView,
    GuaranteeView,
    Key,
    LevelView,
    SensitivityView,
    TierLevelView,
)
from penstock.structures.sparse_histogram import Thresholds

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Process:
    """The mechanism, ladder and sensitivity of one query; hashable, so that readings keep.

    ``nodes`` are what is drawn and stored in place of counts that are protected together.
    """

    mechanism: Mechanism
    ladder: Ladder
    sensitivity: Sensitivity
    nodes: Nodes | None = None
    histogram: HistogramShape | None = None

    @classmethod
    def of(cls, query: Query) -> "Process":
        """The process that ``query`` was registered with."""
        return cls(
            mechanism=family(query)(granularity=_fraction(query.granularity)),
            ladder=Ladder(
                finest=int(query.ladder_finest),
                unit=_fraction(query.ladder_unit),
                last=query.ladder_last,
                doubling=query.ladder_doubling,
            ),
            sensitivity=Sensitivity(
                l1=_fraction(query.sensitivity_l1),
                l2_squared=_fraction(query.sensitivity_l2_squared),
                linf=_fraction(query.sensitivity_linf),
            ),
            nodes=_nodes(query.spec, query.dimension),
            histogram=_histogram(query),
        )

    @property
    def lossless(self) -> bool:
        """Whether releases at several levels tell no more than the most accurate of them."""
        return self.power is None

    @property
    def power(self) -> Fraction | None:
        """The power of noise whose levels are independent draws; ``None`` for any other."""
        own = self.mechanism
        return own.power if isinstance(own, GeneralizedGaussian) else None

    def telling(self, rungs: Iterable[int]) -> list[int]:
        """What of ``rungs`` is charged and composed, the most accurate first.

        All of them where each is a draw of its own, and else the most accurate alone.
        """
        distinct = sorted(set(rungs))
        return distinct[:1] if self.lossless else distinct

    def rung(self, target: Target, delta: float) -> int:
        """The least noisy rung that meets ``target``.  Raises ``InvalidInput``."""
        return _rung(self, on_node(target, self.nodes), delta)

    def level(self, rung: int) -> LevelView:
        """The level at ``rung``."""
        return LevelView(self.mechanism.parameter, float(self.ladder.value(rung)))

    def guarantee(self, rung: int, delta: float) -> GuaranteeView:
        """What a release at ``rung`` promises, read at ``delta``."""
        return _guarantee(self, rung, delta)

    def error(self, rung: int) -> ErrorView:
        """How far off a value released at ``rung`` may be.

        Of counts that are protected together it is a count, and not the size beside them.
        """
        return _error(self, rung, Fraction(1) if self.nodes is None else self.nodes.variance)

    def errors(self, rung: int) -> ErrorsView | None:
        """The same value by value, where they are not all off by as much."""
        nodes = self.nodes
        if nodes is None or nodes.size_variance is None:
            return None
        bars = [_error(self, rung, part) for part in (nodes.variance, nodes.size_variance)]
        return ErrorsView(
            np.where(nodes.sizes(), *(one.standard_deviation for one in reversed(bars))),
            np.where(nodes.sizes(), *(one.half_width for one in reversed(bars))),
        )

    @property
    def p(self) -> float | None:
        """``power`` as callers see it."""
        return None if self.power is None else float(self.power)

    def at_tier(self, tier: str, rung: int, delta: float) -> TierLevelView:
        """The level of one tier, with what it means."""
        return TierLevelView(
            tier,
            self.level(rung),
            self.guarantee(rung, delta),
            self.error(rung),
            histogram=self.at_rung(rung),
        )

    def at_rung(self, rung: int) -> HistogramView | None:
        """What a reader at ``rung`` of a sparse histogram is told of it; else ``None``."""
        if self.histogram is None:
            return None
        return self.histogram.view(self.ladder, self.mechanism.granularity, rung)

    def thresholds(self, shape: HistogramShape) -> Thresholds:
        """Above which value a key is reported, at every rung."""
        return shape.thresholds(self.ladder, self.mechanism.granularity)

    def price(self, rung: int, account: Account, dimension: int, levels: int) -> Entry:
        """What an account is charged for ``rung``: of so many values, at so many levels at most."""
        level = self.ladder.value(rung)
        cost = charge(
            self.mechanism, self.ladder, level, self.sensitivity, account, dimension, levels
        )
        return entry(cost)

    def values(self, rung: int, steps: IntVector) -> NDArray[np.float64]:
        """A stored release as unbiased values: exact where they are below 2^53.

        What is read from nodes is the same to the bit whenever and wherever it is read.
        """
        seen = released(self.mechanism, steps)
        if self.nodes is not None:
            return self.nodes.values(seen, self.mechanism.granularity)
        scaled = np.multiply(seen, float(self.mechanism.granularity), dtype=np.float64)
        bias = float(self.mechanism.bias(self.ladder.value(rung)))
        return scaled - bias if bias else scaled

    def sensitivity_view(self) -> SensitivityView:
        """The sensitivity as callers see it."""
        return SensitivityView(
            float(self.sensitivity.l1), self.sensitivity.l2, float(self.sensitivity.linf)
        )


def _histogram(query: Query) -> HistogramShape | None:
    return None if query.histogram is None else HistogramShape.decoded(query.histogram)


def family(query: Query) -> type[Mechanism]:
    """The mechanism of a query, which its lattice is still to be given to."""
    shape = _histogram(query)
    if shape is not None:
        return shape.noise
    return family_of(query.mechanism, None if query.power is None else Fraction(query.power))


def on_node(target: Target, nodes: Nodes | None) -> Target:
    """A wish for noise of counts as one for noise of the nodes that they are read from."""
    if nodes is None or target.kind not in (TargetKind.STANDARD_DEVIATION, TargetKind.HALF_WIDTH):
        return target
    return replace(target, value=target.value / math.sqrt(nodes.variance))


@lru_cache(maxsize=4096)
def _fraction(text: str) -> Fraction:
    """Queries share theirs, and reading one takes longer than loading its row."""
    return Fraction(text)


@lru_cache(maxsize=1024)
def _nodes(spec: str, dimension: int) -> Nodes | None:
    """What is drawn in place of counts, from a spec as it was settled."""
    stored = json.loads(spec)
    if stored.get("structure") != "correlated":
        return None
    return nodes_of(CorrelatedQueryRequest.model_validate(stored), dimension)


def keys_of(query: Query) -> list[Key] | NDArray[np.int64]:
    """A query's keys; positions where none were given."""
    if query.keys is None:
        return np.arange(query.dimension)
    keys: list[Key] = json.loads(query.keys)
    return keys


# An exact Poisson guarantee takes milliseconds and is asked for with every answer.
@lru_cache(maxsize=4096)
def _guarantee(process: Process, rung: int, delta: float) -> GuaranteeView:
    guarantee = process.mechanism.guarantee(process.ladder.value(rung), process.sensitivity, delta)
    return GuaranteeView(
        definition=str(guarantee.definition),
        epsilon=guarantee.epsilon,
        delta=guarantee.delta,
        rho=guarantee.rho,
        mu=guarantee.mu,
    )


@lru_cache(maxsize=4096)
def _rung(process: Process, target: Target, delta: float) -> int:
    rung = rung_for(process.mechanism, process.ladder, target, process.sensitivity, delta)
    # A level is shown as the nearest float, which may lie above the rung that it names.
    exact = target.kind is TargetKind.LEVEL and rung > 0
    if exact and float(process.ladder.value(rung - 1)) == target.value:
        return rung - 1
    return rung


@lru_cache(maxsize=4096)
def _error(process: Process, rung: int, part: Fraction) -> ErrorView:
    """Of a value whose variance is ``part`` of a node's."""
    bars = process.mechanism.error(process.ladder.value(rung) * part, CONFIDENCE)
    return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
