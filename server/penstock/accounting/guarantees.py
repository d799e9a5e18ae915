"""Read one release as the (epsilon, delta) that the server prints and that names a level.

It is the mechanism's own guarantee, except for long vectors with Laplace noise at a delta above 0.
Their pure loss is ``l1/b``, while at a delta they lose no more than their l2 norm allows.
"""

from fractions import Fraction
from typing import Final

from penstock.accounting.charging.budget import ORDERS, converted_epsilon
from penstock.mechanisms.laplace.laplace_readings import theorem_epsilon
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.laplace.pure import PureLaplace
from penstock.mechanisms.lattice import rounded_up
from penstock.mechanisms.process import Mechanism
from penstock.privacy.guarantee import Definition, Guarantee
from penstock.privacy.sensitivity import Sensitivity

_STRIDE: Final = 32
"""How many orders apart those are that are tried first."""

_LEAST_GAIN: Final = 2.0**-20
"""The least part by which another reading must be below the pure one to take its place."""


def guarantee_at(
    mechanism: Mechanism, level: Fraction, sensitivity: Sensitivity, delta: float
) -> Guarantee:
    """Return the guarantee of one release at ``level`` that is printed at ``delta``.

    For Laplace noise it is the least of ``l1/b``, which is pure; Theorem 1.3 of Andersson, Pagh,
    Steiner, Torkamani 2024; and the conversion of the Rényi divergence that the ledger charges
    (Canonne, Kamath, Steinke 2020, Proposition 12), which holds for elements that are chosen by
    reading earlier ones too.  For all other noise, and Laplace noise of which only the pure epsilon
    holds, it is the mechanism's own.  Raises ``InvalidInput`` for a delta at which the mechanism
    guarantees nothing.
    """
    own = mechanism.guarantee(level, sensitivity, delta)
    if mechanism.name != Laplace.name or isinstance(mechanism, PureLaplace) or not delta:
        return own
    epsilon = min(
        theorem_epsilon(rounded_up(sensitivity.l1), sensitivity.l2, float(level), delta),
        renyi_epsilon(mechanism, level, sensitivity, delta),
    )
    if epsilon > own.epsilon * (1 - _LEAST_GAIN):
        return own
    return Guarantee(Definition.APPROXIMATE, epsilon, delta)


def renyi_epsilon(
    mechanism: Mechanism, level: Fraction, sensitivity: Sensitivity, delta: float
) -> float:
    """Return the least epsilon that the divergences charged at the ledger's orders imply.

    Every order gives an upper bound.  Few are tried, and then all beside the best of these: a test
    compares the result with that of all orders.
    """

    def converted(place: int) -> float:
        order = ORDERS[place]
        return converted_epsilon(order, mechanism.cost(level, sensitivity, order).loss, delta)

    best = min(range(0, len(ORDERS), _STRIDE), key=converted)
    around = range(max(best - _STRIDE, 0), min(best + _STRIDE + 1, len(ORDERS)))
    return min(converted(place) for place in around)
