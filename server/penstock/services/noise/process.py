"""Hold the numbers of a query's noise process: mechanism, ladder of levels and sensitivity."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.accounting.calibration.levels import stored_rung_for
from penstock.accounting.charging.budget import Account
from penstock.accounting.charging.charges import charge
from penstock.accounting.charging.ledger import Entry, entry
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.multiple_release import released
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.privacy.target import Target
from penstock.services.schemas.views import ErrorView, GuaranteeView, LevelView, SensitivityView

CONFIDENCE = 0.95
"""The confidence of every margin of error."""


@dataclass(frozen=True)
class Process:
    """Hold the mechanism, ladder and sensitivity of one query; hashable, for caches."""

    mechanism: Mechanism
    ladder: Ladder
    sensitivity: Sensitivity

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
        return stored_rung_for(self.mechanism, self.ladder, target, self.sensitivity, delta)

    def level(self, rung: int) -> LevelView:
        """Return the level at ``rung``."""
        return LevelView(self.mechanism.parameter, float(self.ladder.value(rung)))

    def guarantee(self, rung: int, delta: float) -> GuaranteeView:
        """Return the guarantee of a release at ``rung``, read at ``delta``."""
        return _guarantee(self, rung, delta)

    def error(self, rung: int) -> ErrorView:
        """Return the margin of error of a value released at ``rung``."""
        return self.error_of_part(rung, Fraction(1))

    def error_of_part(self, rung: int, part: Fraction) -> ErrorView:
        """Return the margin of error of a value with ``part`` of the variance of one draw."""
        return _error(self, rung, part)

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
        scaled = np.multiply(seen, float(self.mechanism.granularity), dtype=np.float64)
        bias = float(self.mechanism.bias(self.ladder.value(rung)))
        if bias:
            scaled -= bias
        return scaled

    def sensitivity_view(self) -> SensitivityView:
        """Return the sensitivity as callers see it."""
        return SensitivityView(
            float(self.sensitivity.l1), self.sensitivity.l2, float(self.sensitivity.linf)
        )


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
def _error(process: Process, rung: int, part: Fraction) -> ErrorView:
    """Return the margin of error of a value with ``part`` of the variance of one draw."""
    bars = process.mechanism.error(process.ladder.value(rung) * part, CONFIDENCE)
    return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
