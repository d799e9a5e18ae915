"""A registered query's noise process, read back from its row."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.accounting import Account, Entry, charge, entry, rung_for
from penstock.mechanisms import (
    GeneralizedGaussian,
    IntVector,
    Mechanism,
    family_of,
    released,
)
from penstock.persistence.tables import Query
from penstock.privacy import Ladder, Sensitivity, Target, TargetKind
from penstock.services.views import (
    ErrorView,
    GuaranteeView,
    Key,
    LevelView,
    SensitivityView,
    TierLevelView,
)

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Process:
    """The mechanism, ladder and sensitivity of one query; hashable, so that readings keep."""

    mechanism: Mechanism
    ladder: Ladder
    sensitivity: Sensitivity

    @classmethod
    def of(cls, query: Query) -> "Process":
        """The process that ``query`` was registered with."""
        return cls(
            mechanism=family(query)(granularity=Fraction(query.granularity)),
            ladder=Ladder(
                finest=int(query.ladder_finest),
                unit=Fraction(query.ladder_unit),
                last=query.ladder_last,
                doubling=query.ladder_doubling,
            ),
            sensitivity=Sensitivity(
                l1=Fraction(query.sensitivity_l1),
                l2_squared=Fraction(query.sensitivity_l2_squared),
                linf=Fraction(query.sensitivity_linf),
            ),
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
        return _rung(self, target, delta)

    def level(self, rung: int) -> LevelView:
        """The level at ``rung``."""
        return LevelView(self.mechanism.parameter, float(self.ladder.value(rung)))

    def guarantee(self, rung: int, delta: float) -> GuaranteeView:
        """What a release at ``rung`` promises, read at ``delta``."""
        return _guarantee(self, rung, delta)

    def error(self, rung: int) -> ErrorView:
        """How far off a value released at ``rung`` may be."""
        return _error(self, rung)

    @property
    def p(self) -> float | None:
        """``power`` as callers see it."""
        return None if self.power is None else float(self.power)

    def at_tier(self, tier: str, rung: int, delta: float) -> TierLevelView:
        """The level of one tier, with what it means."""
        return TierLevelView(tier, self.level(rung), self.guarantee(rung, delta), self.error(rung))

    def price(self, rung: int, account: Account, dimension: int, levels: int) -> Entry:
        """What an account is charged for ``rung``: of so many values, at so many levels at most."""
        level = self.ladder.value(rung)
        cost = charge(
            self.mechanism, self.ladder, level, self.sensitivity, account, dimension, levels
        )
        return entry(cost)

    def values(self, rung: int, steps: IntVector) -> NDArray[np.float64]:
        """A stored release as unbiased values: exact where they are below 2^53."""
        seen = released(self.mechanism, steps)
        scaled = np.multiply(seen, float(self.mechanism.granularity), dtype=np.float64)
        bias = float(self.mechanism.bias(self.ladder.value(rung)))
        return scaled - bias if bias else scaled

    def sensitivity_view(self) -> SensitivityView:
        """The sensitivity as callers see it."""
        return SensitivityView(
            float(self.sensitivity.l1), self.sensitivity.l2, float(self.sensitivity.linf)
        )


def family(query: Query) -> type[Mechanism]:
    """The mechanism of a query, which its lattice is still to be given to."""
    return family_of(query.mechanism, None if query.power is None else Fraction(query.power))


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
def _error(process: Process, rung: int) -> ErrorView:
    bars = process.mechanism.error(process.ladder.value(rung), CONFIDENCE)
    return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
