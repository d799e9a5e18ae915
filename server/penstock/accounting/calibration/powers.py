"""Choose the power of generalized Gaussian noise with the smallest expected largest error.

More noise near 0 and thinner tails trade against each other: the best power rises with
the number of values, slowly, and hardly moves with epsilon and delta (Ganesh, Zhao 2021).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from penstock.accounting.calibration.levels import level_for, require_meaning
from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import mu_at
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

_ROUGH_POINTS: Final = 3
_TIE: Final = 2.0**-8
"""The part by which an error must exceed another one to be larger for certain.

What rough curves are off by is a quarter of that at the most, and hardly changes from one power to
the next.
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

    The error is the largest of ``dimension`` values.  The search goes downhill from a guess by
    rough curves, and exact ones choose between powers that are nearly tied.  Powers 1 and 2 are
    treated like the others: at ``delta``, and by their scale.  Raises ``InvalidInput`` as
    ``level_for`` does, and for a dimension below 1.
    """
    if dimension < 1:
        raise InvalidInput(f"A dimension is at least 1, not {dimension}.", pointer="/dimension")
    if dimension >= MANY:
        power = min(powers, key=lambda power: _at_unit_loss(power, dimension))
        return power_choice(power, sensitivity, dimension, epsilon, delta)
    target = Target(TargetKind.EPSILON, epsilon)
    require_meaning(GeneralizedGaussian(Fraction(1)), target, delta)
    start = 1 + math.log(dimension) / 3
    at = min(range(len(powers)), key=lambda i: abs(powers[i] - start))
    errors = _downhill(
        lambda place: _about(powers[place], sensitivity, dimension, epsilon, delta),
        at,
        len(powers),
    )
    most = min(errors.values()) * (1 + _TIE)
    tied = [powers[place] for place in sorted(errors) if errors[place] <= most]
    choices = [power_choice(power, sensitivity, dimension, epsilon, delta) for power in tied]
    return min(choices, key=lambda choice: choice.expected_maximum)


def power_choice(
    power: Fraction, sensitivity: Sensitivity, dimension: int, epsilon: float, delta: float
) -> PowerChoice:
    """Return the scale and the error of one power.

    Raises ``InvalidInput`` as ``level_for`` does.
    """
    if power == 2 and 0 < delta < 1:
        return _normal(sensitivity, dimension, epsilon, delta)
    # Any lattice will do: the law is continuous, and the noise is many steps wide.
    step = Fraction(2) ** floor_log2(sensitivity.linf)
    mechanism = GeneralizedGaussian.of(power)(step)
    level = level_for(mechanism, Target(TargetKind.EPSILON, epsilon), sensitivity, delta)
    return PowerChoice(power, level, mechanism.expected_maximum(level, dimension))


def _normal(sensitivity: Sensitivity, dimension: int, epsilon: float, delta: float) -> PowerChoice:
    """Return the choice of power 2, which is normal noise, from its curve in closed form."""
    law = GeneralizedGaussian(Fraction(1))
    require_meaning(law, Target(TargetKind.EPSILON, epsilon), delta)
    shift = law.worst_shift(Fraction(1), sensitivity)
    moved = math.sqrt(math.fsum(kind.times * kind.shift**2 for kind in shift))
    level = Fraction(math.sqrt(2) * moved / mu_at(epsilon, delta))
    return PowerChoice(law.power, level, law.expected_maximum(level, dimension))


def _downhill(error: Callable[[int], float], start: int, size: int) -> dict[int, float]:
    """Return the errors of places from ``start`` on, both ways, until they are clearly larger."""
    errors = {start: error(start)}
    for way in (1, -1):
        at = start + way
        while 0 <= at < size:
            errors[at] = error(at)
            if errors[at] > min(errors.values()) * (1 + _TIE):
                break
            at += way
    return errors


def _about(
    power: Fraction, sensitivity: Sensitivity, dimension: int, epsilon: float, delta: float
) -> float:
    """Return about the error of ``power_choice``: by a chord of the rough curve.

    At power 1 losses have atoms, and the rough curve is far off; power 2 has a closed form.
    """
    if power in (1, 2):
        return power_choice(power, sensitivity, dimension, epsilon, delta).expected_maximum
    law = GeneralizedGaussian.of(power)(Fraction(1))
    level = law.level_of_variance(float(sensitivity.l2_squared) / mu_at(epsilon, delta) ** 2)
    points: list[tuple[float, float]] = []
    for _ in range(_ROUGH_POINTS):
        rough = law.rough_epsilon(Fraction(level), sensitivity, delta)
        if not 0 < rough < math.inf:
            choice = power_choice(power, sensitivity, dimension, epsilon, delta)
            return choice.expected_maximum
        points.append((math.log(level), math.log(rough / epsilon)))
        level = math.exp(_root(points))
    return law.expected_maximum(Fraction(level), dimension)


def _root(points: Sequence[tuple[float, float]]) -> float:
    """Return where the last chord is 0; from one point, where a fall of slope -1 is."""
    (at, value), slope = points[-1], -1.0
    if len(points) > 1 and points[-2][1] != value:
        slope = (value - points[-2][1]) / (at - points[-2][0])
    return at - value / slope


def _at_unit_loss(power: Fraction, dimension: int) -> float:
    family = GeneralizedGaussian.of(power)
    scale = Fraction(family.level_of_variance(1.0))
    return family(Fraction(1)).expected_maximum(scale, dimension)
