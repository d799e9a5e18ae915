"""Choose the power of generalized Gaussian noise with the smallest expected largest error.

More noise near 0 and thinner tails trade against each other: the best power rises with
the number of values, slowly, and hardly moves with epsilon and delta (Ganesh, Zhao 2021).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from penstock.accounting.calibration.levels import level_for
from penstock.errors import InvalidInput
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.lattice import floor_log2
from penstock.privacy.sensitivity import Sensitivity
from penstock.privacy.target import Target, TargetKind

POWERS: Final[Sequence[Fraction]] = tuple(Fraction(quarter, 4) for quarter in range(4, 65))
"""The powers tried: 1, 1.25, and so on up to 16."""

MANY: Final = 1 << 14
"""The number of values from which a sum of losses is as good as normal.

From this number on, powers are compared by that normal law.
"""


@dataclass(frozen=True)
class PowerChoice:
    """Hold a power, the scale that keeps the epsilon, and the expected largest error."""

    power: Fraction
    level: Fraction
    expected_maximum: float


def best_power(
    sensitivity: Sensitivity,
    dimension: int,
    epsilon: float,
    delta: float,
    powers: Sequence[Fraction] = POWERS,
) -> PowerChoice:
    """Return the one of ``powers``, in rising order, with the least expected largest error.

    The error is the largest of ``dimension`` values. The search goes downhill from a guess. Powers
    1 and 2 are treated like the others: at ``delta``, and by their scale. Raises ``InvalidInput``
    as ``level_for`` does, and for a dimension below 1.
    """
    if dimension < 1:
        raise InvalidInput(f"A dimension is at least 1, not {dimension}.", pointer="/dimension")
    if dimension >= MANY:
        power = min(powers, key=lambda power: _at_unit_loss(power, dimension))
        return power_choice(power, sensitivity, dimension, epsilon, delta)
    start = 1 + math.log(dimension) / 3
    at = min(range(len(powers)), key=lambda i: abs(powers[i] - start))
    best = power_choice(powers[at], sensitivity, dimension, epsilon, delta)
    for way in (1, -1):
        while 0 <= at + way < len(powers):
            tried = power_choice(powers[at + way], sensitivity, dimension, epsilon, delta)
            if tried.expected_maximum >= best.expected_maximum:
                break
            at, best = at + way, tried
    return best


def power_choice(
    power: Fraction, sensitivity: Sensitivity, dimension: int, epsilon: float, delta: float
) -> PowerChoice:
    """Return the scale and the error of one power.

    Raises ``InvalidInput`` as ``level_for`` does.
    """
    # Any lattice will do: the law is continuous, and the noise is many steps wide.
    step = Fraction(2) ** floor_log2(sensitivity.linf)
    mechanism = GeneralizedGaussian.of(power)(step)
    level = level_for(mechanism, Target(TargetKind.EPSILON, epsilon), sensitivity, delta)
    return PowerChoice(power, level, mechanism.expected_maximum(level, dimension))


def _at_unit_loss(power: Fraction, dimension: int) -> float:
    family = GeneralizedGaussian.of(power)
    scale = Fraction(family.level_of_variance(1.0))
    return family(Fraction(1)).expected_maximum(scale, dimension)
