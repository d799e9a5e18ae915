"""Hold the numbers of a query's noise process: mechanism, ladder of levels and sensitivity."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from penstock.accounting.calibration.levels import LAST_PURE, VERSION, stored_rung_for
from penstock.accounting.charging.budget import Account
from penstock.accounting.charging.charges import charge
from penstock.accounting.charging.ledger import Entry, entry
from penstock.accounting.guarantees import guarantee_at
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.multiple_release import released
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.persistence.tables.queries import Query
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.privacy.target import Target
from penstock.services.schemas.views import ErrorView, GuaranteeView, LevelView, SensitivityView

FIGURES = 256
"""The most figures that one process keeps."""

_WHOLE = Fraction(1)

Figure = TypeVar("Figure")

CONFIDENCE = 0.95
"""The confidence of every margin of error."""


@dataclass(frozen=True)
class Process:
    """Hold the mechanism, ladder and sensitivity of one query; hashable, for caches.

    ``calibration`` is the version of calibration that the query was registered under.
    """

    mechanism: Mechanism
    ladder: Ladder
    sensitivity: Sensitivity
    calibration: int = field(default=VERSION, kw_only=True)

    @property
    def power(self) -> Fraction | None:
        """Return the power of generalized Gaussian noise; ``None`` for any other."""
        own = self.mechanism
        return own.power if isinstance(own, GeneralizedGaussian) else None

    @property
    def p(self) -> float | None:
        """Return ``power`` as callers see it."""
        return None if self.power is None else float(self.power)

    def rung(self, target: Target, delta: float) -> int:
        """Return the least noisy rung that meets ``target``.  Raises ``InvalidInput``."""
        return self._once(_rung, target, self.delta_of_epsilons(delta))

    def delta_of_epsilons(self, delta: float) -> float:
        """Return the delta at which an epsilon names a level of this query, in its dataset.

        In queries from before version 7 of calibration an epsilon of Laplace noise is the pure
        loss, as it was when they were registered.
        """
        pure = self.mechanism.name == Laplace.name and self.calibration <= LAST_PURE
        return 0.0 if pure else delta

    @cached_property
    def _figures(self) -> dict[tuple[Hashable, ...], Any]:
        """Return what was shown of each rung so far: hashing a process takes longer than that."""
        return {}

    def _once(self, figure: Callable[..., Figure], *of: Hashable) -> Figure:
        """Return ``figure(self, *of)``, computed once."""
        figures = self._figures
        name = (figure, *of)
        known: Figure | None = figures.get(name)
        if known is None:
            if len(figures) >= FIGURES:
                figures.clear()
            known = figures[name] = figure(self, *of)
        return known

    def level(self, rung: int) -> LevelView:
        """Return the level at ``rung``."""
        return self._once(_level, rung)

    def guarantee(self, rung: int, delta: float) -> GuaranteeView:
        """Return the guarantee of a release at ``rung``, read at ``delta``."""
        return self._once(_guarantee, rung, self.delta_of_epsilons(delta))

    def error(self, rung: int) -> ErrorView:
        """Return the margin of error of a value released at ``rung``."""
        return self._once(_error, rung, _WHOLE)

    def error_of_part(self, rung: int, part: Fraction) -> ErrorView:
        """Return the margin of error of a value with ``part`` of the variance of one draw."""
        return _error(self, rung, part)

    def is_long(self, query: Query) -> bool:  # noqa: ARG002 - kinds with chunks ask it
        """Return True if the query's releases are drawn and stored in chunks (``long_vectors``)."""
        return False

    def price(self, rung: int, account: Account, dimension: int, level_count: int) -> Entry:
        """Return the charge for ``rung``: ``dimension`` values, at most ``level_count`` levels."""
        level = self.ladder.value(rung)
        cost = charge(
            self.mechanism, self.ladder, level, self.sensitivity, account, dimension, level_count
        )
        return entry(cost)

    def values(self, rung: int, steps: IntVector) -> NDArray[np.float64]:
        """Return a stored release as unbiased values: exact if they are below 2^53."""
        seen = released(self.mechanism, steps)
        granularity, bias = self._once(_scale, rung)
        scaled = np.multiply(seen, granularity, dtype=np.float64)
        if bias:
            scaled -= bias
        return scaled

    def sensitivity_view(self) -> SensitivityView:
        """Return the sensitivity as callers see it."""
        return SensitivityView(
            float(self.sensitivity.l1), self.sensitivity.l2, float(self.sensitivity.linf)
        )


def _rung(process: Process, target: Target, delta: float) -> int:
    return stored_rung_for(process.mechanism, process.ladder, target, process.sensitivity, delta)


def _level(process: Process, rung: int) -> LevelView:
    return LevelView(process.mechanism.parameter, float(process.ladder.value(rung)))


def _scale(process: Process, rung: int) -> tuple[float, float]:
    """Return the step of the values at ``rung``, and their bias."""
    mechanism = process.mechanism
    return float(mechanism.granularity), float(mechanism.bias(process.ladder.value(rung)))


# An exact Poisson guarantee takes milliseconds and is asked for with every answer.
@lru_cache(maxsize=4096)
def _guarantee(process: Process, rung: int, delta: float) -> GuaranteeView:
    mechanism, level, moved = process.mechanism, process.ladder.value(rung), process.sensitivity
    guarantee = guarantee_at(mechanism, level, moved, delta)
    laplace = mechanism.name == Laplace.name
    return GuaranteeView(
        definition=str(guarantee.definition),
        epsilon=guarantee.epsilon,
        delta=guarantee.delta,
        rho=guarantee.rho,
        mu=guarantee.mu,
        pure_epsilon=mechanism.guarantee(level, moved, 0.0).epsilon if laplace else None,
    )


@lru_cache(maxsize=4096)
def _error(process: Process, rung: int, part: Fraction) -> ErrorView:
    """Return the margin of error of a value with ``part`` of the variance of one draw."""
    bars = process.mechanism.error(process.ladder.value(rung) * part, CONFIDENCE)
    return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
