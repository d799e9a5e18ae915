"""Recommend a power p for generalized Gaussian noise.

The largest of many errors is smallest at a power that rises slowly with their number
(Ganesh, Zhao 2021).  The gain is a few percent for tens of values, and it is lost again if
several levels are visible, which add up at every power except 1 and 2.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from penstock.accounting.calibration.levels import RANGES
from penstock.accounting.calibration.powers import POWERS, best_power, power_choice
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.laplace.process import Laplace
from penstock.privacy.sensitivity import Sensitivity
from penstock.privacy.target import TargetKind
from penstock.services.noise.process import Process
from penstock.services.schemas.previews import PowersView, PowerView

LOSSLESS: Final = (Fraction(1), Fraction(2))
"""The powers of Laplace and of Gaussian noise."""


def expected_maximum(process: Process, rung: int, dimension: int) -> float:
    """Return the expected largest error of ``dimension`` values, in their unit.

    The noise is generalized Gaussian, or Laplace or Gaussian for the powers 1 and 2.
    """
    mechanism, level = process.mechanism, process.ladder.value(rung)
    if not isinstance(mechanism, GeneralizedGaussian):
        power, scale = (1, level) if isinstance(mechanism, Laplace) else (2, _root(2 * level))
        return GeneralizedGaussian.of(power)(Fraction(1)).expected_maximum(scale, dimension)
    return mechanism.expected_maximum(level, dimension)


def advice(
    process: Process, rungs: Sequence[tuple[str, int]], dimension: int, delta: float
) -> PowersView:
    """Compare powers at the guarantee of the most trusted tier; ``rungs`` end with its own."""
    tier, rung = rungs[-1]
    # A level may slightly exceed what may be requested, since it is the next rung of its ladder.
    least, most = RANGES[TargetKind.EPSILON]
    epsilon = min(max(process.guarantee(rung, delta).epsilon, least), most)
    admitted = LOSSLESS if delta else LOSSLESS[:1]
    tried = [_at(power, process.sensitivity, dimension, epsilon, delta) for power in admitted]
    levels = len({each for _, each in rungs})
    best = min(tried, key=lambda choice: choice.expected_maximum)
    if process.power is not None:
        tried.append(PowerView(float(process.power), expected_maximum(process, rung, dimension)))
    if delta == 0:
        reason = "A dataset with delta 0 admits pure noise only, which is that of p = 1."
    elif levels > 1:
        other = max(choice.expected_maximum for choice in tried[: len(LOSSLESS)])
        reason = (
            f"The tiers have {levels} levels, which are lossless only with p = 1 and p = 2: with"
            f" any other p they add up. Of the two, p = {best.p:g} leaves the smaller expected"
            f" largest error, {best.expected_maximum:.4g} and not {other:.4g}."
        )
    else:
        best = _best(process.sensitivity, dimension, epsilon, delta)
        tried.append(best)
        reason = (
            "All tiers have the same level, which is one release, so nothing adds up; of p from"
            f" {float(POWERS[0]):g} to {float(POWERS[-1]):g} in quarters {best.p:g} leaves the"
            f" smallest expected largest error, {best.expected_maximum:.4g}. A later level is"
            f" lossless only with p = 1 and p = 2."
        )
    known = {choice.p: choice for choice in reversed(tried)}
    return PowersView(tier, epsilon, best.p, reason, [known[p] for p in sorted(known)])


@lru_cache(maxsize=1024)
def _at(
    power: Fraction, sensitivity: Sensitivity, dimension: int, epsilon: float, delta: float
) -> PowerView:
    if power == 1:
        law = GeneralizedGaussian.of(power)(Fraction(1))
        scale = sensitivity.l1 / Fraction(epsilon)
        return PowerView(1.0, law.expected_maximum(scale, dimension))
    choice = power_choice(power, sensitivity, dimension, epsilon, delta)
    return PowerView(float(power), choice.expected_maximum)


@lru_cache(maxsize=1024)
def _best(sensitivity: Sensitivity, dimension: int, epsilon: float, delta: float) -> PowerView:
    choice = best_power(sensitivity, dimension, epsilon, delta)
    return PowerView(float(choice.power), choice.expected_maximum)


def _root(square: Fraction) -> Fraction:
    return Fraction(math.sqrt(square))
