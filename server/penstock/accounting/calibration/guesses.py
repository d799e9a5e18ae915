"""Guess where a search for a level begins: closed forms, and curves that are quick to read.

A guess decides no level: it only spares a search most of its exact curves.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from penstock.accounting.calibration.search import NoneIsGood, least
from penstock.accounting.charging.budget import Account
from penstock.mechanisms.gaussian.curve import mu_at
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.lattice import finest_common_power
from penstock.mechanisms.poisson.process import SMALLEST_MEAN, Poisson
from penstock.mechanisms.process import Mechanism
from penstock.mechanisms.skellam.process import SMALLEST_VARIANCE, Skellam
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.privacy.target import Target, TargetKind

CLOSED_FORMS: Final[
    Mapping[tuple[str, TargetKind], Callable[[Sensitivity, Fraction], Fraction]]
] = {
    ("gaussian", TargetKind.RHO): lambda sensitivity, rho: sensitivity.l2_squared / (2 * rho),
    ("gaussian", TargetKind.MU): lambda sensitivity, mu: sensitivity.l2_squared / (mu * mu),
    ("gaussian", TargetKind.STANDARD_DEVIATION): lambda _, deviation: deviation * deviation,
    ("laplace", TargetKind.EPSILON): lambda sensitivity, epsilon: sensitivity.l1 / epsilon,
    ("skellam", TargetKind.STANDARD_DEVIATION): lambda _, deviation: deviation * deviation,
}
"""The levels that are fractions in closed form, and so are not searched."""

_SLOW: Final = (GeneralizedGaussian, Poisson, Skellam)
"""The mechanisms whose exact curves are so slow that rough ones pay."""

_ROUGH_PRECISION: Final = 2.0**-13

_LARGEST_GUESS: Final = 1e60
"""The largest guess: far beyond every lattice, and far from overflowing."""


def log_ratio(has: float, most: float) -> float:
    """Return ``log(has / most)``, exactly 0 or below if ``has <= most``."""
    if has <= most:
        return 0.0 if has == most else -math.inf if has <= 0 else math.log(has / most)
    return math.inf if most <= 0 else max(math.log(has) - math.log(most), 5e-324)


def guessed_level(
    mechanism: Mechanism, target: Target, sensitivity: Sensitivity, delta: float
) -> float:
    """Return a first guess: the level that Gaussian noise would need, in the family's unit."""
    squared = float(sensitivity.l2_squared)
    exact = CLOSED_FORMS.get((mechanism.name, target.kind))
    if delta == 0 and exact is not None:
        return float(exact(sensitivity, Fraction(target.value)))
    if target.kind is not TargetKind.EPSILON:
        return _level_of_variance(type(mechanism), target.value**2, mechanism.granularity)
    variance = squared / mu_at(target.value, delta) ** 2
    return _level_of_variance(type(mechanism), variance, mechanism.granularity)


def close_level(
    mechanism: Mechanism, ladder: Ladder, target: Target, sensitivity: Sensitivity, delta: float
) -> float:
    """Return a guess that is close where exact curves are slow: by rough ones."""
    guess = guessed_level(mechanism, target, sensitivity, delta)
    if target.kind is not TargetKind.EPSILON or not isinstance(mechanism, _SLOW):
        return guess
    rough = mechanism.rough_epsilon
    most = max(guess, float(ladder.value(ladder.last)))
    fewest = most_accurate(mechanism.name, mechanism.granularity)
    try:
        level = least(
            lambda level: log_ratio(rough(level, sensitivity, delta), target.value),
            guess,
            fewest,
            most,
            _ROUGH_PRECISION,
        )
    except NoneIsGood:
        return guess
    return float(level)


def guess_of_share(
    family: type[Mechanism],
    share: float | Fraction,
    sensitivity: Sensitivity,
    account: Account,
    step: Fraction,
) -> float:
    """Return the level at which Gaussian noise, or pure noise at delta 0, takes ``share``."""
    part = account.limit * float(share)
    if math.isinf(account.order):
        return float(sensitivity.l1) / part
    variance = float(sensitivity.l2_squared) * account.order / (2 * part)
    return _level_of_variance(family, variance, step)


def near_rung(ladder: Ladder, guess: float) -> int:
    """Return the rung at a guess, or the last one."""
    level = Fraction(min(guess, _LARGEST_GUESS))
    return ladder.last if level > ladder.value(ladder.last) else ladder.rung_at_or_above(level)


def _level_of_variance(family: type[Mechanism], variance: float, step: Fraction) -> float:
    variance = min(variance, _LARGEST_GUESS)
    if issubclass(family, GeneralizedGaussian):
        return family.level_of_variance(variance)
    if family.name == "laplace":
        return math.sqrt(variance / 2)
    if family.name == "poisson":
        variance /= float(step) ** 2
    return max(variance, most_accurate(family.name, step))


def most_accurate(name: str, step: Fraction) -> float:
    """Return the most accurate level of a family; 0 if any level above 0 is allowed."""
    if name == "skellam":
        return float(SMALLEST_VARIANCE * finest_common_power(step) ** 2)
    return float(SMALLEST_MEAN) if name == "poisson" else 0.0
